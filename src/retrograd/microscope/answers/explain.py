"""explain(x): what a tensor, parameter, node, module or handle is in the graph, its rule, its hooks and when they fire."""
from __future__ import annotations

import ast
import inspect
import re
import textwrap
from functools import cache
from pathlib import Path
from typing import Any

from .. import _hooked
from ..arguments import checked
from ..listen.sites import HOME, Sites, name_of
from ..plain_text import escaped, meant
from ..record import multi_grad
from ..record.fired import SELDOM, TABLES
from ..record.recording import Event, Recording
from .graph_of import links

WHEN = {
    "tensor": "once per backward pass, when the tensor's whole gradient has arrived and before it is passed on",
    "multi_grad": "in a backward pass, when the first (mode \"any\") or the last (\"all\") of its tensors' gradients arrives",
    "post_accumulate": "after each time .grad was added to; not under autograd.grad",
    "forward_pre": "at each call of the module, before forward", "forward": "at each call of the module, after forward",
    "backward_pre": "in backward, when the gradients of the module's outputs have arrived",
    "backward": "in backward, when the gradients of the module's inputs have arrived; before those of its parameters if no "
                "input requires grad",
    "node_pre": "in backward, before the node computes", "node_post": "in backward, after the node computed",
    "step_pre": "before each step of the optimizer", "step_post": "after each step of the optimizer",
    "state_dict": "in state_dict(), at its end", "state_dict_pre": "in state_dict(), at its start",
    "optimizer_state_dict": "in state_dict() of the optimizer, at its end",
    "optimizer_state_dict_pre": "in state_dict() of the optimizer, at its start",
    "optimizer_load_pre": "in load_state_dict() of the optimizer, at its start",
    "optimizer_load_post": "in load_state_dict() of the optimizer, at its end",
    "load_pre": "in load_state_dict(), before the module's part is read", "load_post": "in load_state_dict(), at its end",
}
AUTOCAST = {"linear", "matmul", "mm", "bmm", "addmm", "baddbmm", "addbmm", "conv1d", "conv2d", "conv3d", "conv_transpose1d",
            "conv_transpose2d", "conv_transpose3d", "scaled_dot_product_attention", "__matmul__", "__rmatmul__", "einsum"}
RULES = {"grad": "x", "grad_a": "a", "grad_b": "b", "grads": "each input"}


class Explanation:
    """Printed for people; `facts` is for programs."""

    def __init__(self, title: str, lines: list[str], facts: dict[str, Any]) -> None:
        self.title = title
        self.lines = lines
        self.facts = facts

    @escaped
    def __str__(self) -> str:
        return "\n".join([self.title, *("  " + line for text in self.lines for line in text.splitlines())])

    __repr__ = __str__


@checked
def explain(x: Any, rec: Recording | None = None) -> Explanation:
    """What x is: a tensor, parameter, node, module or the handle of a hook, of retrograd or torch.

    x     any of these; with rec also a parameter's name or a module's path
    rec   a Recording, which adds names, the lines where things were made and registered, and what fired
    TypeError for anything else.
    """
    if isinstance(x, str):
        if rec is None:
            raise TypeError(f"explain: {x!r} is a name, which needs a recording: explain(name, rec)")
        return by_name(x, rec)
    if hasattr(x, "hooks_dict_ref") and hasattr(x, "id"):
        return of_handle(x, rec)
    if hasattr(x, "grad_fn") and hasattr(x, "is_leaf"):
        return of_tensor(x, rec)
    if hasattr(x, "next_functions") and callable(getattr(x, "name", None)):
        return of_node(x, rec)
    if hasattr(x, "_parameters") and hasattr(x, "_forward_hooks"):
        return of_module(x, rec)
    parts = getattr(x, "handles", None)                 # of a hook of several tensors: those that require grad
    if isinstance(parts, tuple) and hasattr(x, "remove"):
        if parts:
            return of_handle(parts[0], rec)
        from .why import why_not_fired
        return Explanation("a hook of several tensors", [str(why_not_fired(x))], {"kind": "handle", "present": False})
    raise TypeError(f"explain: expected a tensor, node, module or hook handle, got {type(x).__name__}")


# -- kinds of things


def of_tensor(t: Any, rec: Recording | None) -> Explanation:
    n = None if rec is None else rec.number_of(t)
    known = None if n is None or rec is None else rec.tensor(n)
    name = (known and known["name"]) or ("a parameter" if type(t).__name__ == "Parameter" else "a tensor")
    shape, dtype = tuple(t.shape), str(t.dtype).rpartition(".")[2]
    facts: dict[str, Any] = {"kind": "tensor", "shape": shape, "dtype": dtype, "leaf": t.is_leaf,
                             "requires_grad": t.requires_grad}
    lines = []
    node = t.grad_fn
    if node is not None:
        facts["node"] = node.name()
        lines.append(f"not a leaf: output {t.output_nr} of {node.name()}; .grad is kept only after retain_grad()"
                     + (", which was called" if t.retains_grad else ""))
    elif t.requires_grad:
        lines.append("a leaf that requires grad: backward() adds to its .grad")
    else:
        lines.append("does not require grad: nothing is recorded for it")
    if known is not None and rec is not None:
        made = None if known["made_by"] < 0 else rec.events[known["made_by"]]
        if made is not None:
            facts["made_by"], facts["where"] = made.get("name", made.kind), made.where
            lines.append(f"made by {made.label}" + (f" at {made.where}" if made.where else ""))
        uses = [rec.events[i] for i in links(rec).uses.get(n or 0, ())]
        facts["uses"] = len(uses)
        lines.extend(read_by(rec, e) for e in uses[:6])
        if len(uses) > 6:
            lines.append(f"... and {len(uses) - 6} more ops")
        if len(known.get("names", ())) > 1:
            lines.append("tied: " + ", ".join(known["names"]))
    elif node is not None:
        lines.append("record() or anomaly mode can tell which line made it")
    if node is not None:
        lines.extend(rule_lines(node))
    elif t.requires_grad and t.is_leaf and t.grad is None:
        from .why import why_none
        lines.append(".grad is None: " + str(why_none(t, rec)))
    lines.extend(hook_lines(t._backward_hooks, "tensor"))
    lines.extend(hook_lines(t._post_accumulate_grad_hooks if t.is_leaf else None, "post_accumulate"))
    return Explanation(f"{name}: {dtype} {shape}", lines, facts)


def of_node(node: Any, rec: Recording | None) -> Explanation:
    name = node.name()
    facts: dict[str, Any] = {"kind": "node", "node": name}
    lines = []
    inputs = [("-" if to is None else f"{to.name()} (output {nr})") for to, nr in node.next_functions]
    if inputs:
        lines.append("passes gradients to " + ", ".join(inputs))
    if "AccumulateGrad" in name:
        leaf = node.variable
        lines.append(f"adds the gradient it gets to .grad of a leaf of shape {tuple(leaf.shape)}")
        lines.extend(hook_lines(leaf._backward_hooks, "tensor"))
        lines.extend(hook_lines(leaf._post_accumulate_grad_hooks, "post_accumulate"))
    if rec is not None and rec.live is not None:
        for tap in rec.live.taps:
            number = tap.number(node)
            if number is not None:
                op = rec.node_rows[number][1]
                if op >= 0:
                    made = rec.events[op]
                    facts["where"] = made.where
                    lines.append(f"made by {made.label}" + (f" at {made.where}" if made.where else ""))
    saved = [n.removeprefix("_saved_") for n in dir(node) if n.startswith("_saved_")]
    if saved:
        lines.append("keeps for backward: " + ", ".join(saved))
    lines.extend(rule_lines(node))
    own = getattr(node, "_hooks", None)
    if own is not None:
        for _, table in own.tensor:
            lines.extend(hook_lines(table, "tensor"))
        lines.extend(hook_lines(own.pre, "node_pre"))
        lines.extend(hook_lines(own.post, "node_post"))
    return Explanation(f"{name}, a node of the graph", lines, facts)


def of_module(module: Any, rec: Recording | None) -> Explanation:
    lines = []
    ps = list(module.named_parameters())
    frozen = [n for n, p in ps if not p.requires_grad]
    facts: dict[str, Any] = {"kind": "module", "type": type(module).__name__, "parameters": len(ps), "frozen": len(frozen)}
    lines.append(f"{len(ps)} parameters" + (f", {len(frozen)} frozen" if frozen else "")
                 + ("; training" if module.training else "; eval"))
    path = ""
    if rec is not None and rec.live is not None:
        known = rec.live._modules.get(id(module))
        if known is not None and known[0]() is module:
            row = rec.modules[known[1]]
            path = row["path"]
            facts.update(path=path, calls=row["calls"])
            lines.append(f"called {times(row['calls'])}")
    for table, kind, _ in TABLES:
        lines.extend(hook_lines(getattr(module, table), kind))
    for table, kind in SELDOM:
        lines.extend(hook_lines(getattr(module, table), kind))
    return Explanation((f"{path}: " if path else "") + f"{type(module).__name__}, a module", lines, facts)


def of_handle(handle: Any, rec: Recording | None) -> Explanation:
    table = handle.hooks_dict_ref()
    hook = None if table is None else table.get(handle.id)
    facts: dict[str, Any] = {"kind": "handle", "present": hook is not None}
    lines = ["it is in place" if hook is not None else
             "it was removed" if table is not None else "its module or tensor is gone"]
    n = None if rec is None or rec.live is None else rec.live.hook_of(handle)
    title = "a hook"
    if hook is not None:
        title = f"the hook {name_of(plain(hook))}"
        lines.append("defined at " + place_of(plain(hook)))
    if n is not None and rec is not None:
        row = rec.hooks[n]
        title = f"{row['name']}, a {row['kind'].replace('_', '-')} hook of {row['on']}"
        facts.update(hook=row["kind"], on=row["on"], fired=row["fired"], changed=row["changed"])
        registered = rec.where(row["registered"])
        lines.append(f"registered at {registered}" if registered else "registered before the recording")
        lines.append("fires " + WHEN.get(row["kind"], "as its owner says"))
        lines.append(how_often(row))
        if not row["fired"]:
            from .why import hook_of
            lines.append(str(hook_of(rec, n)))
    return Explanation(title, lines, facts)


def by_name(name: str, rec: Recording) -> Explanation:
    """A parameter or module of a recording, which may come from a file."""
    n = rec.number_of(name)
    if n is not None:
        known = rec.tensor(n)
        name = name if name in known["names"] else known["name"]
        live = None if rec.live is None else rec.live._parameters.get(n)
        t = None if live is None else live()
        if t is not None:
            return of_tensor(t, rec)
        from .why import why_none
        uses = [rec.events[i] for i in links(rec).uses.get(n, ())]
        lines = ["a leaf that requires grad" if known["wants"] else "frozen: does not require grad",
                 *(read_by(rec, e) for e in uses[:6]),
                 str(why_none(name, rec))]
        lines.extend(recorded_hooks(rec, n, ("tensor", "multi_grad", "post_accumulate")))
        return Explanation(f"{name}: {known['dtype']} {tuple(known['shape'])}", lines, {"kind": "tensor", **known})
    paths = links(rec).of_path
    i = paths.get(name, paths.get(rec.full_name(name)))
    if i is not None:
        module = rec.modules[i]
        name = module["path"]
        lines = [f"called {times(module['calls'])}",
                 *recorded_hooks(rec, i, ("forward", "forward_pre", "backward", "backward_pre"))]
        return Explanation(f"{name or 'the model'}: {module['type']}, a module", lines, {"kind": "module", **module})
    names = [*rec.parameters, *(m["path"] for m in rec.modules if m["path"])]
    raise KeyError(f"explain: the recording has no {name!r}; {meant(name, names)}")


# -- parts of the answer


def read_by(rec: Recording, e: Event) -> str:
    """An op that reads a tensor, and the dtype that autocast gave it."""
    dtypes = [{rec.tensor(t)["dtype"] for t in side} for side in (e.inputs, e.outputs)]
    cast = dtypes[1] - dtypes[0] if e.name in AUTOCAST else set()
    return f"read by {e.label}" + (f" at {e.where}" if e.where else "") + (
        f", which computed in {cast.pop()}: autocast" if len(cast) == 1 else "")


def recorded_hooks(rec: Recording, owner: int, kinds: tuple[str, ...]) -> list[str]:
    return [f"hook {h['name']} ({h['kind'].replace('_', '-')}) at {rec.where(h['defined']) or '?'}: {how_often(h)}"
            for h in links(rec).hooks_of.get(owner, ()) if h["kind"] in kinds]


def how_often(hook: dict[str, Any]) -> str:
    """How often a hook of a recording fired."""
    return f"fired {times(hook['fired'])}, changed something {times(hook['changed'])}"


def times(n: int) -> str:
    return f"{n} time{'' if n == 1 else 's'}"


def hook_lines(table: Any, kind: str) -> list[str]:
    """One line per hook of a table."""
    lines = []
    for hook in (table or {}).values():
        its = "multi_grad" if kind == "tensor" and multi_grad.kept_in(hook) else kind
        lines.append(f"{its.replace('_', '-')} hook {name_of(plain(hook))} at {place_of(plain(hook))}: fires {WHEN[its]}")
    return lines


def plain(hook: Any) -> Any:
    """The user's own function."""
    found = multi_grad.kept_in(hook)
    return _hooked.plain(hook if found is None else getattr(*found))


_sites = Sites()


def place_of(function: Any) -> str:
    n = _sites.of_function(function)
    if n < 0:
        return "a place that is not Python"
    file, line, _ = _sites.table[n]
    return f"{file}:{line}"


def rule_lines(node: Any) -> list[str]:
    """The node's derivative rule, from the source."""
    name = node.name()
    cls = type(node)
    if inspect.isclass(getattr(cls, "_forward_cls", None)):
        forward = cls._forward_cls
        try:
            source = textwrap.dedent(inspect.getsource(forward.backward))
        except (OSError, TypeError):
            return [f"rule: {forward.__name__}.backward, whose source cannot be read"]
        return [f"rule: {forward.__name__}.backward", textwrap.indent(source.rstrip(), "    ")]
    rules = rules_of(name)
    if not rules:
        return []
    theirs = "" if cls.__module__ == "builtins" and hasattr(node, "edge_count") else " (as in retrograd's source)"
    return [f"rule{theirs}, g is the gradient of the output y:",
            *(f"    gradient of {of}: " + text.replace("\n", "\n        ") for of, text in rules)]


@cache
def sources() -> dict[str, Path]:
    """Class of op -> file that defines it."""
    found: dict[str, Path] = {}
    home = Path(HOME)
    for folder in (home / "_rules", home.with_name(f"{home.name}-stubs") / "_rules"):      # setup.py: sources_as_stubs
        for path in sorted(folder.glob("*.py*")):
            for name in re.findall(r"^class (\w+)\(", path.read_text(encoding="utf-8"), re.MULTILINE):
                found.setdefault(name, path)
    return found


@cache
def rules_of(name: str) -> list[tuple[str, str]]:
    """[(of which input, the rule as it stands in the source)] of a node; [] for one that has none."""
    path = sources().get(name)
    if path is None:
        return []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {c.name: c for c in tree.body if isinstance(c, ast.ClassDef)}
    found: dict[str, str] = {}
    wanted: list[str] = [name]
    while wanted:
        cls = classes.get(wanted.pop(0))
        if cls is None:
            continue
        for item in cls.body:
            if isinstance(item, ast.FunctionDef) and item.name in RULES and item.name not in found:
                body = [s for s in plainly(item) if not (isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant))]
                if len(body) == 1 and isinstance(body[0], ast.Return) and body[0].value is not None:
                    found[item.name] = ast.unparse(body[0].value)
                else:
                    found[item.name] = "\n" + "\n".join(ast.unparse(s) for s in body)
        wanted.extend(b.id for b in cls.bases if isinstance(b, ast.Name))
    return [(RULES[rule], text) for rule, text in found.items()]


SIGNS = {"promote.times": ast.Mult(), "promote.over": ast.Div(),      # with care for half precision
         "by_parts.times": ast.Mult(), "by_parts.over": ast.Div()}    # and for complex numbers


def plainly(rule: ast.FunctionDef) -> list[ast.stmt]:
    """The body of a rule without its short cuts: compiled kernels, and the node made for the derivative's derivative."""
    body = [s for s in ast.fix_missing_locations(_Plainly().visit(rule)).body if not isinstance(s, ast.Pass)]
    end = next((i for i, s in enumerate(body) if isinstance(s, ast.Return)), len(body))
    return body[:end + 1]


class _Plainly(ast.NodeTransformer):
    """Takes `quick_sum(...)` as None or False, `isinstance(g, TensorBase)` as False, `by_parts.times(g, b)` as `g * b`."""

    def visit_Call(self, x: ast.Call) -> Any:
        self.generic_visit(x)
        sign = SIGNS.get(ast.unparse(x.func))
        return x if sign is None else ast.BinOp(x.args[0], sign, x.args[1])

    def visit_Assign(self, s: ast.Assign) -> Any:
        return None if of_kernel(s) else self.generic_visit(s)

    def visit_If(self, s: ast.If) -> Any:
        if of_kernel(s.body[0]) and not s.orelse:       # all of it is about what the kernel left undone
            return None
        taken = known(s.test)
        if taken is None:
            self.generic_visit(s)
            s.body = s.body or [ast.Pass()]
            return s
        return [t for t in map(self.visit, s.body if taken else s.orelse) if t is not None]

    def visit_IfExp(self, x: ast.IfExp) -> Any:
        taken = known(x.test)
        return self.generic_visit(x) if taken is None else self.visit(x.body if taken else x.orelse)

    def visit_BoolOp(self, x: ast.BoolOp) -> Any:
        left = [v for v in x.values if known(v) is None]
        if not left:
            return x
        x.values = left
        return self.generic_visit(x if len(left) > 1 else left[0])


def of_kernel(s: ast.stmt) -> bool:
    """quick = quick_sum(...)"""
    return isinstance(s, ast.Assign) and is_call(s.value, "quick_")


def is_call(x: ast.expr, start: str) -> bool:
    return isinstance(x, ast.Call) and isinstance(x.func, ast.Name) and x.func.id.startswith(start)


def known(test: ast.expr) -> bool | None:
    """What a test comes to when nothing is quick and nothing is a Tensor; None when that does not decide it."""
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        inner = known(test.operand)
        return None if inner is None else not inner
    if isinstance(test, ast.BoolOp):
        parts = [known(v) for v in test.values]
        decides = isinstance(test.op, ast.Or)           # the value that one part settles the whole with
        if decides in parts:
            return decides
        return None if None in parts else not decides
    text = ast.unparse(test)
    if text in ("quick is None", "quick is not None"):
        return text == "quick is None"
    return False if is_call(test, "quick_") or re.fullmatch(r"isinstance\(\w+, TensorBase\)", text) else None
