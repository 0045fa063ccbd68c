"""What the rules of ops read, from their source: src/retrograd/_engine/reads.py, and docs/derivatives.md, its page."""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
SOURCE = CHECKOUT / "src" / "retrograd"
ROOT = {"Unary": "Unary", "View": "Unary", "Binary": "Binary", "Product": "Binary", "Written": "Binary", "Nary": "Nary",
        "Many": "Many"}
RULES = {"Unary": ["grad"], "Binary": ["grad_a", "grad_b"], "Nary": ["grads"], "Many": ["grad"]}
OUT = 1 << 30                                               # as in _engine/op.py


@dataclass
class OpClass:
    """One class of op: its own body and those of its bases among the op modules, nearest first."""

    name: str
    module: str
    family: str
    bodies: list[ast.ClassDef]
    functions: dict[str, ast.FunctionDef]       # of the module
    leaf: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    @property
    def file(self) -> str:
        return self.module.rpartition(".")[2]

    def method(self, name: str) -> ast.FunctionDef | None:
        for body in self.bodies:
            for item in body.body:
                if isinstance(item, ast.FunctionDef) and item.name == name:
                    return item
        return None

    def rules(self) -> list[ast.FunctionDef]:
        found = [self.method(name) for name in RULES[self.family]]
        return [m for m in found if m is not None]

    def by_hand(self, above: bool = False) -> set[str]:
        """The fields that the class's own body sets; above: or one of its bases'."""
        return {t.id for body in (self.bodies if above else self.bodies[:1]) for item in body.body if isinstance(
            item, (ast.Assign, ast.AnnAssign)) for t in (item.targets if isinstance(
                item, ast.Assign) else [item.target]) if isinstance(t, ast.Name)}

    def reads(self) -> dict[str, int]:
        """What the rules read: the fields that say so, with their values."""
        rules = self.rules()
        if self.family == "Binary":
            return {"reads_" + rule.name[-1]: reads(self, rule) for rule in rules}
        return {"reads" if self.family == "Nary" else "keep": reads(self, rules[0])} if rules else {}


def sources() -> list[Path]:
    return [*sorted((SOURCE / "_rules").glob("*.py")), SOURCE / "_engine" / "views.py"]


@cache
def op_classes() -> list[OpClass]:
    """Those of a file in their order."""
    trees = {path: ast.parse(path.read_text(encoding="utf-8")).body for path in sources()}
    bodies = {path: [item for item in body if isinstance(item, ast.ClassDef)] for path, body in trees.items()}
    names = {path: {item.name: item for item in found} for path, found in bodies.items()}
    everywhere = {item.name: item for found in bodies.values() for item in found}
    found = []
    for path, classes in bodies.items():
        for item in classes:
            line = [item]
            while line[-1].bases:
                base = ast.unparse(line[-1].bases[0]).rpartition(".")[2]
                if base in ROOT:
                    module = ".".join(("retrograd", *path.relative_to(SOURCE).with_suffix("").parts))
                    functions = {item.name: item for item in trees[path] if isinstance(item, ast.FunctionDef)}
                    found.append(OpClass(item.name, module, ROOT[base], line, functions))
                    break
                above = names[path].get(base) or everywhere.get(base)
                if above is None:
                    break
                line.append(above)
    parents = {id(body) for op in found for body in op.bodies[1:]}
    for op in found:
        op.leaf = id(op.bodies[0]) not in parents
    return found


# ---- what a rule reads ----


def loads(function: ast.FunctionDef) -> list[str]:
    """The names a rule reads; what it only hands to another rule of its op does not count."""
    handed = {id(a) for n in ast.walk(function) if passes_on(n) for a in n.args}  # type: ignore[attr-defined]
    return [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx,
        ast.Load) and id(n) not in handed]


def passes_on(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("self.grad_a", "self.grad_b", "self.grad")


def arguments(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args]


def reads(op: OpClass, rule: ast.FunctionDef) -> int:
    """Which kept values a rule reads, in bits."""
    names = arguments(rule)
    used = set(loads(rule))
    for node in ast.walk(rule):
        if passes_on(node):
            other = op.method(node.func.attr)  # type: ignore[attr-defined]
            assert other is not None
            used |= set(loads(other))
    if op.family == "Nary":
        return (OUT if names[3] in used else 0) | elements(op, rule, names[2])
    bits = (1, 2, 4) if op.family == "Binary" else (1, 4)              # A, B, Y; X, Y
    return sum(bit for bit, name in zip(bits, names[2:], strict=False) if name in used)


def elements(op: OpClass, function: ast.FunctionDef, xs: str) -> int:
    """The elements of the list `xs` that a function reads, in bits."""
    bits, known = 0, 0
    for node in ast.walk(function):
        if isinstance(node, ast.Subscript) and is_name(node.value, xs):
            at = node.slice
            if isinstance(at, ast.Constant) and isinstance(at.value, int):
                bits |= 1 << at.value
                known += 1
            elif isinstance(at, ast.Slice) and at.lower is None and isinstance(at.upper, ast.Constant):
                bits |= (1 << int(str(at.upper.value))) - 1
                known += 1
        elif isinstance(node, ast.Assign) and is_name(node.value, xs) and isinstance(node.targets[0], ast.Tuple):
            bits |= (1 << len(node.targets[0].elts)) - 1
            known += 1
        elif isinstance(node, ast.Call) and (other := called(op, node.func)) is not None:
            names = [name for name in arguments(other) if name != "self"]
            for place, value in enumerate(node.args):
                if is_name(value, xs):
                    bits |= elements(op, other, names[place])
                    known += 1
    assert known == loads(function).count(xs), f"{op}: which elements of {xs} {function.name}() reads cannot be told"
    return bits


def called(op: OpClass, function: ast.expr) -> ast.FunctionDef | None:
    """A method of the op, or a function of its module."""
    if isinstance(function, ast.Attribute) and is_name(function.value, "self"):
        return op.method(function.attr)
    return op.functions.get(function.id) if isinstance(function, ast.Name) else None


def is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


# ---- the engine's table ----

READS = SOURCE / "_engine" / "reads.py"
HEAD = '''"""What the rules of each op read, in the bits of `op`.  Written by `make generate` from the rules.

A class that sets a field itself is not here: it keeps what PyTorch's node keeps, though no rule reads it.
"""
from __future__ import annotations

from typing import Any, Final

READS: Final[dict[str, dict[str, dict[str, int]]]] = {
'''
FOOT = '''}


INTERPRETED: Final[bool] = __file__.endswith(".py")


def derive(op: Any) -> None:
    """Set what the rules of a new class read.  In the compiled build its fields have it: tools/reads_plugin.py."""
    if not INTERPRETED:
        return
    for name, value in READS.get(op.__module__, {}).get(op.__name__, {}).items():
        setattr(op, name, value)
'''


def table() -> str:
    lines = []
    known: dict[int, dict[str, int]] = {}
    module = ""
    for op in sorted(op_classes(), key=lambda op: (op.module, len(op.bodies))):
        above = next((known[id(body)] for body in op.bodies[1:] if id(body) in known), {})
        found = {name: value for name, value in op.reads().items() if name not in op.by_hand()}
        known[id(op.bodies[0])] = above | found
        changed = {name: value for name, value in found.items() if value != above.get(name, 0)}
        if changed:
            if op.module != module:
                lines += ["    },"] if module else []
                lines.append(f'    "{op.module}": {{')
                module = op.module
            lines.append(f'        "{op.name}": {{{", ".join(f"{chr(34)}{n}{chr(34)}: {v}" for n, v in changed.items())}}},')
    return HEAD + "\n".join([*lines, "    },\n"]) + FOOT


# ---- the page of derivatives ----

PAGE = CHECKOUT / "docs" / "derivatives.md"


def mentions_kernel(s: ast.stmt) -> bool:
    """`quick = kernel(...)`, and `if quick is not None: return quick`"""
    if isinstance(s, ast.Assign):
        return ast.unparse(s.targets[0]) == "quick"
    return isinstance(s, ast.If) and ast.unparse(s.test) == "quick is not None"


SIGNS = {"promote.times": ast.Mult(), "promote.over": ast.Div(),          # as in microscope/answers/explain.py
         "by_parts.times": ast.Mult(), "by_parts.over": ast.Div()}


class Reference(ast.NodeTransformer):
    """`rule if quick is None else quick` as `rule`, `by_parts.times(g, b)` as `g * b`: what the kernel computes."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        sign = SIGNS.get(ast.unparse(node.func))
        return node if sign is None else ast.BinOp(node.args[0], sign, node.args[1])

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self.visit(node.body) if ast.unparse(node.test) == "quick is None" else self.generic_visit(node)


def rule_text(rule: ast.FunctionDef) -> str:
    """The rule's source as one table cell, a line of it per line."""
    body = [s for s in rule.body if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
    body = [Reference().visit(s) for s in body if not mentions_kernel(s)]
    if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
        lines = ast.unparse(body[0].value).split("\n")
    else:
        lines = [line for s in body for line in ast.unparse(s).split("\n")]
    shown = []
    for line in lines:
        text = line.lstrip()
        depth = (len(line) - len(text)) // 4
        text = re.sub(r"^(raise \w+)\(.*", r"\1", text)
        shown.append("&emsp;" * depth + "`" + text.replace("|", "\\|") + "`")
    return "<br>".join(shown)


def wanted_by(rule: ast.FunctionDef) -> str:
    return {"grad": "x", "grad_a": "a", "grad_b": "b", "grads": "xs"}[rule.name]


def derivatives() -> str:
    """The page as Markdown."""
    lines = [
        "# Derivatives",
        "",
        "The derivative rules of every op, as they stand in the source. `g` is the gradient of the output `y`; `x`, or",
        "`a` and `b`, are the inputs. Rules call operators and ops only, so they can be differentiated themselves. The",
        "names are those of PyTorch's nodes. Until the backward pass is over, a node keeps what the last column names.",
        "",
        "Written by `make generate` (tools/rules.py).",
    ]
    for path in sources():
        ops = [op for op in op_classes() if op.leaf and op.file == path.stem and op.rules()]
        if not ops:
            continue
        lines += ["", f"## {path.stem}", "", "| op | of | gradient | keeps |", "|---|---|---|---|"]
        for op in ops:
            for rule in op.rules():
                used = set(loads(rule))
                keeps = " ".join(sorted(name for name in arguments(rule)[2:] if name in used and name != "want")) or "-"
                lines.append(f"| {op.name} | {wanted_by(rule)} | {rule_text(rule)} | {keeps} |")
    return "\n".join(lines) + "\n"


def files() -> dict[Path, str]:
    return {READS: table(), PAGE: derivatives()}
