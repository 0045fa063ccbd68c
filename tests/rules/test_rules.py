"""Ops as classes: what they keep, how they are named, what they let go of."""

from __future__ import annotations

import ast
import importlib
import math
import re
from collections.abc import Callable
from typing import Any

import pytest

from retrograd.cli.doctor import is_compiled
from tools.rules import OpClass, loads, op_classes

# PyTorch's names of nodes; ours that are not of the form have a name() that is.
NODE = re.compile(r"[A-Z]\w*Backward\d+(_copy)?|CopyBackwards|CopySlices|NotImplemented|AccumulateGrad")
LEAVES = [op for op in op_classes() if op.leaf]


def can_be_made(op: OpClass) -> bool:
    """Without arguments: in the compiled build __new__ calls __init__."""
    init = op.method("__init__")
    return not is_compiled() or init is None or len(init.args.args) == 1


@pytest.mark.parametrize("op", [op for op in LEAVES if can_be_made(op)], ids=str)
def test_an_op_keeps_what_its_rules_read(op: OpClass) -> None:
    cls: Any = getattr(importlib.import_module(op.module), op.name)
    node = cls.__new__(cls)
    for field, bits in op.reads().items():
        kept = getattr(node, field)
        assert kept & bits == bits, field
        assert kept == bits or op.name in AS_PYTORCH, field
    assert not {"keep", "reads", "reads_a", "reads_b"} & op.by_hand() or op.name in AS_PYTORCH


# Kept though no rule reads it: PyTorch keeps it, shows it as _saved_X and complains about a second backward.
AS_PYTORCH = (
    "SgnBackward0", "AngleBackward0", "DivBackward2", "BinaryCrossEntropyBackward0", "BinaryCrossEntropyWithLogitsBackward0",
    "NativeLayerNormBackward0", "PowBackward1",
)


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
        "PowBackward1": lambda: x.pow(w.detach()),
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

    assert kept_so(torch, name) == kept_so(retrograd, name) != set()


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


def test_the_walk_finds_the_ops() -> None:
    assert len(LEAVES) > 150
    assert {"MulBackward0", "CatBackward0", "AddmmBackward0", "AsStridedBackward0"} <= {op.name for op in LEAVES}


def fields(op: OpClass) -> dict[str, str]:
    """Name -> annotation of what __init__ declares."""
    return {item.target.attr: ast.unparse(item.annotation) for body in reversed(op.bodies) for item in ast.walk(body)
            if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Attribute)}


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
    arrays = {name for name, kind in fields(op).items() if kind in ("Array", "Optional[Array]", "list[Array]")}
    read = set().union(*[own_fields(op, r) for r in op.rules()]) if op.rules() else set()
    assert arrays & read <= dropped(op)
    if dropped(op):
        assert "holds" in op.by_hand(above=True)
        assert dropped(op) <= set(fields(op))


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
