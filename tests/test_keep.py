"""What an op keeps is what its rules read.  The rules themselves are printed into docs/derivatives.md.

    python tests/test_keep.py        writes docs/derivatives.md
"""

from __future__ import annotations

import ast
import math
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import pytest

CHECKOUT = Path(__file__).resolve().parent.parent
SOURCE = CHECKOUT / "src" / "retrograd"
TABLE = CHECKOUT / "docs" / "derivatives.md"
BASES = ("Unary", "View", "Binary", "Product", "Nary", "Many")
ROOT = {"View": "Unary", "Product": "Binary"}
RULES = {"Unary": ["grad"], "Binary": ["grad_a", "grad_b"], "Nary": ["grads"], "Many": ["grad"]}
# PyTorch's names of nodes; ours that are not of the form have a name() that is.
NODE = re.compile(r"[A-Z]\w*Backward\d+(_copy)?|CopyBackwards|CopySlices|NotImplemented|AccumulateGrad")


@dataclass
class OpClass:
    """One class of op: its own body and those of its bases among the op modules, nearest first."""

    name: str
    file: str
    family: str
    bodies: list[ast.ClassDef]
    leaf: bool = True

    def __str__(self) -> str:
        return f"{self.file}:{self.name}"

    def method(self, name: str) -> ast.FunctionDef | None:
        for body in self.bodies:
            for item in body.body:
                if isinstance(item, ast.FunctionDef) and item.name == name:
                    return item
        return None

    def constant(self, name: str) -> set[str]:
        """The letters of `keep = X | Y`, the numbers of `reads = 2 | 4`."""
        for body in self.bodies:
            for item in body.body:
                target = item.targets[0] if isinstance(item, ast.Assign) else item.target if isinstance(item,
                    ast.AnnAssign) else None
                if isinstance(target,
                    ast.Name) and target.id == name and item.value is not None:  # type: ignore[union-attr]
                    return letters(item.value)  # type: ignore[union-attr, arg-type]
        return set()

    def flag(self, name: str) -> bool:
        return self.constant(name) == {"True"}

    def rules(self) -> list[ast.FunctionDef]:
        found = [self.method(name) for name in RULES[self.family]]
        return [m for m in found if m is not None]

    def fields(self) -> dict[str, str]:
        """Name -> annotation of what __init__ and the class body declare."""
        out: dict[str, str] = {}
        for body in reversed(self.bodies):
            for item in ast.walk(body):
                if isinstance(item, ast.AnnAssign):
                    target = item.target
                    if isinstance(target, ast.Attribute) and getattr(target.value, "id", "") == "self":
                        out[target.attr] = ast.unparse(item.annotation)
        return out

    def doc(self) -> str:
        return next((d for d in (ast.get_docstring(b) for b in self.bodies) if d), "")


def letters(node: ast.expr) -> set[str]:
    if isinstance(node, ast.BinOp):
        return letters(node.left) | letters(node.right)
    if isinstance(node, ast.Name):
        return {node.id}
    if isinstance(node, ast.Constant):
        return {str(node.value)} - {"0"}
    return {ast.unparse(node)}


def files() -> list[Path]:
    return [*sorted((SOURCE / "_rules").glob("*.py")), SOURCE / "_engine" / "views.py"]


@cache
def op_classes() -> list[OpClass]:
    found: list[OpClass] = []
    for path in files():
        known: dict[str, tuple[str, list[ast.ClassDef]]] = {}
        imported = other_bases(path)
        for item in body(path):
            if not isinstance(item, ast.ClassDef) or not item.bases:
                continue
            base = ast.unparse(item.bases[0]).rpartition(".")[2]
            if base in BASES:
                family, above = ROOT.get(base, base), []
            elif base in known or base in imported:
                family, above = known.get(base) or imported[base]
            else:
                continue
            known[item.name] = (family, [item, *above])
            found.append(OpClass(item.name, path.stem, family, [item, *above]))
    parents = {b.name for op in found for b in op.bodies[1:]}
    for op in found:
        op.leaf = op.name not in parents
    return found


@cache
def body(path: Path) -> list[ast.stmt]:
    return ast.parse(path.read_text(encoding="utf-8")).body


def other_bases(path: Path) -> dict[str, tuple[str, list[ast.ClassDef]]]:
    """Op classes that other modules lend as bases."""
    out: dict[str, tuple[str, list[ast.ClassDef]]] = {}
    names = {a.name for n in body(path) if isinstance(n, ast.ImportFrom) for a in n.names}
    for other in files():
        if other != path:
            for item in body(other):
                if isinstance(item, ast.ClassDef) and item.name in names and item.bases:
                    base = ast.unparse(item.bases[0])
                    if base in BASES:
                        out[item.name] = (ROOT.get(base, base), [item])
    return out


LEAVES = [op for op in op_classes() if op.leaf]


# Kept though no rule reads it: PyTorch keeps it, shows it as _saved_X and complains about a second backward.
AS_PYTORCH = {
    "SgnBackward0": {"X", "Y"},
    "AngleBackward0": {"X"},
    "DivBackward2": {"A", "B"},
    "BinaryCrossEntropyBackward0": {"B"},
    "BinaryCrossEntropyWithLogitsBackward0": {"B"},
    "NativeLayerNormBackward0": {"4"},
}


def kept_so(lib: Any, name: str) -> Any:
    """What the node of that name keeps, and what a second backward says."""
    def numbers(*sizes: int) -> Any:
        return (lib.arange(1.0, 1 + math.prod(sizes)) / 8).reshape(sizes).double().requires_grad_()

    x, w, b = numbers(2, 3), numbers(2, 3), numbers(3)
    functional = lib.nn.functional
    y = {
        "SgnBackward0": lambda: x.sgn(),
        "AngleBackward0": lambda: x.angle(),
        "DivBackward2": lambda: lib.div(x, w, rounding_mode="floor"),
        "BinaryCrossEntropyBackward0": lambda: functional.binary_cross_entropy(x, w.detach(), reduction="none"),
        "BinaryCrossEntropyWithLogitsBackward0": lambda: functional.binary_cross_entropy_with_logits(
            x, w.detach(), reduction="none"),
        "NativeLayerNormBackward0": lambda: functional.layer_norm(x, (3,), b.detach(), b),
    }[name]()
    assert y.grad_fn.name() == name
    raw = [k.removeprefix("_raw_saved_") for k in dir(y.grad_fn) if k.startswith("_raw_saved_")]
    kept = {k for k in raw if getattr(y.grad_fn, f"_saved_{k}") is not None} - {"result1", "result2"}
    ones = lib.ones_like(y)
    lib.autograd.grad(y, x, ones)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        lib.autograd.grad(y, x, ones)
    return kept


@pytest.mark.oracle
@pytest.mark.parametrize("name", AS_PYTORCH)
def test_pytorch_keeps_what_no_rule_reads(name: str) -> None:
    torch = pytest.importorskip("torch")
    import retrograd

    assert kept_so(torch, name) == kept_so(retrograd, name)
    assert len(kept_so(torch, name)) >= len(AS_PYTORCH[name])


THREE: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "addcmul": lambda t, a, b, c: t.addcmul(a, b, c), "addcdiv": lambda t, a, b, c: t.addcdiv(a, b, c),
    "lerp": lambda t, a, b, c: t.lerp(a, b, c), "addmm": lambda t, a, b, c: t.addmm(a, b, c),
    "baddbmm": lambda t, a, b, c: t.baddbmm(a[None], b[None], c[None]), "addmv": lambda t, a, b, c: t.addmv(a[0], b, c[0]),
    "addr": lambda t, a, b, c: t.addr(a, b[0], c[0]), "where": lambda t, a, b, c: t.where(a > 1, b, c),
    "linear": lambda t, a, b, c: t.nn.functional.linear(a, b, c[0]),
    "layer_norm": lambda t, a, b, c: t.nn.functional.layer_norm(a, (3,), b[0], c[0]),
    "bilinear": lambda t, a, b, c: t.nn.functional.bilinear(a, b, c[None]),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", THREE)
def test_operands_that_no_wanted_rule_reads_may_be_edited_where_pytorch_lets_them(name: str) -> None:
    """For each of the operands that may want a gradient, and each that is edited before backward."""
    torch = pytest.importorskip("torch")
    import retrograd

    def refused(lib: Any) -> list[bool]:
        found = []
        for wanted in range(1, 8):
            for edited in range(3):
                xs = [lib.arange(1.0, 10.0).reshape(3, 3) / (i + 2) for i in range(3)]
                xs = [x.requires_grad_() * 1 if wanted >> i & 1 else x for i, x in enumerate(xs)]
                y = THREE[name](lib, *xs)
                with lib.no_grad():
                    xs[edited].mul_(2)
                try:
                    y.sum().backward() if y.requires_grad else None
                    found.append(False)
                except RuntimeError as e:
                    assert "modified by an inplace operation" in str(e)
                    found.append(True)
        return found

    assert [ours for ours, theirs in zip(refused(retrograd), refused(torch)) if ours and not theirs] == []


def loads(function: ast.FunctionDef) -> list[str]:
    """The names a rule reads; what it only hands to another rule of its op does not count."""
    handed = {id(a) for n in ast.walk(function) if passes_on(n) for a in n.args}  # type: ignore[attr-defined]
    return [n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx,
        ast.Load) and id(n) not in handed]


def passes_on(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and ast.unparse(node.func) in ("self.grad_a", "self.grad_b", "self.grad")


def arguments(function: ast.FunctionDef) -> list[str]:
    return [a.arg for a in function.args.args]


def reads(op: OpClass, rule: ast.FunctionDef) -> set[str]:
    """Which kept values a rule reads, in the letters of `keep`."""
    names = arguments(rule)
    used = set(loads(rule))
    for node in ast.walk(rule):
        if passes_on(node):
            other = op.method(node.func.attr)  # type: ignore[attr-defined]
            assert other is not None
            used |= set(loads(other))
    if op.family == "Unary":
        return {letter for letter, name in zip("XY", names[2:]) if name in used}
    if op.family == "Binary":
        return {letter for letter, name in zip("ABY", names[2:]) if name in used}
    if op.family == "Many":
        return {letter for letter, name in zip("XY", names[2:]) if name in used}
    xs, y = names[2], names[3]
    out = {"OUT"} if y in used else set()
    for node in ast.walk(rule):
        if isinstance(node, ast.Subscript) and isinstance(node.value, ast.Name) and node.value.id == xs:
            if isinstance(node.slice, ast.Constant) and isinstance(node.slice.value, int):
                out.add(str(1 << node.slice.value))
            else:
                out.add("all")
    indexed = sum(isinstance(n, ast.Subscript) and getattr(n.value, "id", "") == xs for n in ast.walk(rule))
    if loads(rule).count(xs) > indexed:
        out.add("all")
    return out


def kept(op: OpClass, constant: str) -> set[str]:
    found = op.constant(constant)
    for method in filter(None, [op.method("link"), op.method("__init__")]):     # chosen when the op is made or recorded
        for node in ast.walk(method):
            if isinstance(node, ast.AugAssign) and ast.unparse(node.target) == constant:
                found = found | letters(node.value)
            elif isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "self." + constant:
                found = found | {n for n in letters(node.value) if n != constant}
    if op.family in ("Unary", "Many"):                      # X is another name of A
        found = {"X" if letter == "A" else letter for letter in found}
    return found


def test_the_walk_finds_the_ops() -> None:
    assert len(LEAVES) > 150
    assert {"MulBackward0", "CatBackward0", "AddmmBackward0", "AsStridedBackward0"} <= {op.name for op in LEAVES}


@pytest.mark.parametrize("op", LEAVES, ids=str)
def test_it_keeps_what_its_rules_read(op: OpClass) -> None:
    rules = op.rules()
    if op.family == "Binary":
        for rule in rules:
            extra = AS_PYTORCH.get(op.name, set()) - reads(op, rule)
            assert reads(op, rule) <= kept(op, "reads_" + rule.name[-1]) <= reads(op, rule) | extra, rule.name
    elif op.family == "Nary":
        found = set().union(*[reads(op, r) for r in rules])
        if "all" in found:
            assert "-1" in kept(op, "reads") or kept(op, "reads"), "a rule reads any input"
        else:
            assert found | AS_PYTORCH.get(op.name, set()) == kept(op, "reads")
    else:
        assert set().union(*[reads(op, r) for r in rules]) | AS_PYTORCH.get(op.name, set()) == kept(op, "keep")


def own_fields(op: OpClass, function: ast.FunctionDef) -> set[str]:
    return {n.attr for n in ast.walk(function) if isinstance(n, ast.Attribute) and getattr(n.value, "id", "") == "self"}


def dropped(op: OpClass) -> set[str]:
    drop = op.method("drop")
    if drop is None:
        return set()
    return {t.attr for n in ast.walk(drop) if isinstance(n, ast.Assign) for t in n.targets if isinstance(t,
        ast.Attribute)}


@pytest.mark.parametrize("op", LEAVES, ids=str)
def test_arrays_that_a_rule_reads_from_fields_are_dropped(op: OpClass) -> None:
    """By a drop() that lets go of every one, which `holds = True` announces."""
    arrays = {name for name, kind in op.fields().items() if kind in ("Array", "Optional[Array]", "list[Array]")}
    read = set().union(*[own_fields(op, r) for r in op.rules()]) if op.rules() else set()
    assert arrays & read <= dropped(op)
    if dropped(op):
        assert op.flag("holds")
        assert dropped(op) <= set(op.fields())


@pytest.mark.parametrize("op", op_classes(), ids=str)
def test_leaf_classes_are_final(op: OpClass) -> None:
    decorators = {ast.unparse(d).rpartition(".")[2] for d in op.bodies[0].decorator_list}
    assert ("final" in decorators) == op.leaf


@pytest.mark.parametrize("op", LEAVES, ids=str)
def test_it_is_named_as_in_pytorch(op: OpClass) -> None:
    if not NODE.fullmatch(op.name):
        name = op.method("name")
        assert name is not None, "a class not named as PyTorch's node says how PyTorch calls it in name()"
        texts = [n.value for n in ast.walk(name) if isinstance(n, ast.Constant) and isinstance(n.value, str)]
        assert not texts or any(NODE.fullmatch(t.rpartition("::")[2]) for t in texts)


@pytest.mark.parametrize("op", LEAVES, ids=str)
def test_rules_call_no_numpy_on_gradients(op: OpClass) -> None:
    """A rule gets Tensors under create_graph: `np.f(g)` would fail, or leave the graph."""
    for rule in op.rules():
        if "isinstance" in loads(rule):                     # it has a branch for arrays
            continue
        tensors = {"g", "gs"}
        for node in ast.walk(rule):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and getattr(node.func.value, "id",
                "") == "np":
                raw = {id(a) for n in ast.walk(node) if isinstance(n,
                    ast.Call) and ast.unparse(n.func).endswith(("raw", "dtype_of")) for a in n.args}
                touched = {n.id for a in node.args for n in ast.walk(a) if isinstance(n, ast.Name) and id(n) not in raw}
                assert not touched & tensors, ast.unparse(node)


# ---- the table of derivatives ----


def mentions_kernel(s: ast.stmt) -> bool:
    """`quick = kernel(...)`, and `if quick is not None: return quick`"""
    if isinstance(s, ast.Assign):
        return ast.unparse(s.targets[0]) == "quick"
    return isinstance(s, ast.If) and ast.unparse(s.test) == "quick is not None"


class Reference(ast.NodeTransformer):
    """`rule if quick is None else quick` as `rule`: what a kernel computes is what the rule beside it says."""

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return node.body if ast.unparse(node.test) == "quick is None" else node


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
        text = re.sub(r"^(raise \w+)\(.*", r"\1", text)
        shown.append("&emsp;" * ((len(line) - len(text)) // 4) + "`" + text.replace("|", "\\|") + "`")
    return "<br>".join(shown)


def wanted_by(rule: ast.FunctionDef) -> str:
    return {"grad": "x", "grad_a": "a", "grad_b": "b", "grads": "xs"}[rule.name]


def derivatives() -> str:
    """The table as Markdown."""
    lines = [
        "# Derivatives",
        "",
        "Every op's rules as they stand in the source: `g` is the gradient of the output `y`; `x`, or `a` and `b`, are",
        "the inputs. Rules are made of operators and ops, so they are differentiable themselves. Names are those of",
        "PyTorch's nodes. What a rule reads is kept until the backward pass is over.",
        "",
        "Written by `python tests/test_keep.py`.",
    ]
    for path in files():
        ops = [op for op in LEAVES if op.file == path.stem and op.rules()]
        if not ops:
            continue
        lines += ["", f"## {path.stem}", "", "| op | of | gradient | keeps |", "|---|---|---|---|"]
        for op in ops:
            for rule in op.rules():
                keeps = " ".join(sorted(str(r) for r in arguments_read(op, rule))) or "-"
                lines.append(f"| {op.name} | {wanted_by(rule)} | {rule_text(rule)} | {keeps} |")
    return "\n".join(lines) + "\n"


def arguments_read(op: OpClass, rule: ast.FunctionDef) -> list[str]:
    used = set(loads(rule))
    return [name for name in arguments(rule)[2:] if name in used and name != "want"]


def test_docs_show_the_present_rules() -> None:
    assert TABLE.read_text(encoding="utf-8") == derivatives(), "run: python tests/test_keep.py"


if __name__ == "__main__":
    TABLE.parent.mkdir(exist_ok=True)
    TABLE.write_text(derivatives(), encoding="utf-8")
    sys.stdout.write(f"{TABLE}\n")
