"""Selective checkpointing: in the second run of a checkpointed function, some ops give what they gave in the first.

An op is one of PyTorch's operators, named by its node (_library/nodes.py).  One that does not run again is given what it noted
the first time, and is recorded as if it had run: so the hooks of checkpoint() see what it saves for its rule.
NOTE [Keeper] in _engine/modes.py.
"""
from __future__ import annotations

from collections import defaultdict
from enum import Enum
from functools import cache
from importlib import import_module
from typing import Any

from .._engine.modes import State, state
from .._engine.nary import Many, Nary
from .._engine.op import Binary, Unary
from .._engine.tensor import TensorBase, shared_version, wrap
from ..autograd.grad_mode import no_grad

MISMATCH = ("This can happen if the operations in the checkpointed region are nondeterministic or depend on global state that "
            "changed between forward and backward.")
CONSUMED = object()


class CheckpointPolicy(Enum):
    """What a policy says of an op: SAVE its result, or RECOMPUTE it during backward.

    MUST_ and PREFER_ are the same here; CPU_OFFLOAD saves nothing, as in PyTorch without torch.compile.
    """

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


SAVES = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE, True)


class SelectiveCheckpointContext:
    """What a policy gets besides the op and its arguments: op_output; is_recompute is False."""

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


def create_selective_checkpoint_contexts(policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False) -> tuple[Any, Any]:
    """The two contexts of a checkpoint() that saves the results of some ops: `context_fn=partial(this, ...)`.

    policy_fn_or_list           operators whose results are saved, such as torch.ops.aten.mm.default; or a function of a
                                SelectiveCheckpointContext, the operator and its operands that gives a CheckpointPolicy.  Operands
                                are those with a derivative, tensors and numbers; not dims, strides and the like.
                                Ops in place are not told of, and always run again.
    allow_cache_entry_mutation  no error if a saved result was edited in place
    """
    if isinstance(policy_fn_or_list, list):
        check_list(policy_fn_or_list)
    elif not callable(policy_fn_or_list):
        raise TypeError("policy_fn_or_list must be either a function or a list of ops.")
    storage: dict[Any, dict[int, Any]] = defaultdict(dict)
    return _First(policy_fn_or_list, storage), _Second(storage, allow_cache_entry_mutation)


def check_list(ops: list[Any]) -> None:
    known = import_module("retrograd._ops")
    for op in ops:
        if not isinstance(op, known.OpOverload):
            tip = ("Please update the OpOverloadPacket to a specific OpOverload.For example, if you have `torch.ops.aten.mm`, "
                   "change it to `torch.ops.aten.mm.default`." if isinstance(op, known.OpOverloadPacket) else "")
            raise ValueError(f"Expected op in `op_list` to be an OpOverload but got: {op} of type {type(op)}. {tip}")


@cache
def operator(kind: Any) -> Any:
    """torch.ops.aten.mul.Tensor, of the class of a node; None: it is no operator of PyTorch's."""
    path = import_module("retrograd._library.nodes").OPERATORS.get(kind.__name__)
    if path is None:
        return None
    name, _, overload = path.partition(".")
    return getattr(getattr(import_module("retrograd").ops.aten, name), overload or "default")


@cache
def inherited(base: type) -> frozenset[str]:
    """The attributes that all ops of this base class have, but what they note before they are recorded."""
    found = {name for cls in base.__mro__ for name in getattr(cls, "__annotations__", ())}
    return frozenset(found.union(getattr(base, "__mypyc_attrs__", ()) or vars(base()))) - {"unlike"}


def facts(node: Any) -> dict[str, Any]:
    """What the op's own class noted while it ran: shapes, masks, indices."""
    kind = type(node)
    base = next(cls for cls in kind.__mro__ if cls in (Unary, Binary, Nary, Many))
    names = getattr(kind, "__mypyc_attrs__", None) or vars(node)
    return {name: getattr(node, name) for name in names
            if name not in inherited(base) and name[0] != "_" and hasattr(node, name)}


class _Kept:
    """An op's result, and what the op noted."""

    def __init__(self, node: Any, out: Any) -> None:
        self.several = isinstance(out, list)
        outs = out if self.several else [out]
        self.versions = [shared_version(y) for y in outs]
        self.edits = [version.edits for version in self.versions]
        self.arrays = [y.array for y in outs]
        self.facts = facts(node)

    def give(self, node: Any, inputs: tuple[Any, ...], mutable: bool) -> Any:
        """The result, of a node that did not run."""
        if not mutable and [version.edits for version in self.versions] != self.edits:
            raise RuntimeError("Tensor cached during selective activation checkpoint has been mutated")
        for name, value in self.facts.items():
            setattr(node, name, value)
        outs = [wrap(array) for array in self.arrays]
        out = outs if self.several else outs[0]
        tensors = [x if isinstance(x, TensorBase) else None for x in inputs] if isinstance(node, Binary) else []
        node.record(*inputs, *tensors, out)
        return out


class _Keeper:
    """Runs the ops of a checkpointed function, as a context."""

    def __init__(self, storage: dict[Any, dict[int, Any]]) -> None:
        self.storage = storage
        self.counts: dict[Any, int] = {}

    def __enter__(self) -> Any:
        self.counts.clear()
        self.it: State = state()
        self.before, self.it.keeper = self.it.keeper, self
        return self

    def __exit__(self, *error: object) -> None:
        self.it.keeper = self.before

    def next(self, op: Any) -> int:
        self.counts[op] = self.counts.get(op, -1) + 1
        return self.counts[op]

    def run(self, node: Any, inputs: tuple[Any, ...]) -> Any:
        kind: Any = type(node)
        it, op = self.it, operator(kind)
        it.keeper = self.before
        busy = it.busy
        try:
            return node.run(*inputs) if op is None else self.take(op, node, inputs)
        finally:
            it.keeper, it.busy = self, busy

    def take(self, op: Any, node: Any, inputs: tuple[Any, ...]) -> Any:
        raise NotImplementedError


def operands(inputs: tuple[Any, ...]) -> list[Any]:
    """Those of a node's run(), which takes some or a list."""
    return list(inputs[0]) if isinstance(inputs[0], list) else list(inputs)


class _First(_Keeper):
    """Asks the policy, and keeps what it wants to be saved."""

    def __init__(self, policy: Any, storage: dict[Any, dict[int, Any]]) -> None:
        super().__init__(storage)
        self.policy = policy

    def take(self, op: Any, node: Any, inputs: tuple[Any, ...]) -> Any:
        out = node.run(*inputs)
        if out is not NotImplemented:
            nr = self.next(op)
            self.storage[op][nr] = _Kept(node, out) if self.saves(op, out, operands(inputs)) else None
        return out

    def saves(self, op: Any, out: Any, args: list[Any]) -> bool:
        if isinstance(self.policy, list):
            return op in self.policy
        self.it.busy = False                    # the policy is the user's code
        with no_grad():
            return self.policy(SelectiveCheckpointContext(is_recompute=False, op_output=out), op, *args) in SAVES


class _Second(_Keeper):
    """Gives what was kept; runs all other ops again."""

    def __init__(self, storage: dict[Any, dict[int, Any]], mutable: bool) -> None:
        super().__init__(storage)
        self.mutable = mutable

    def take(self, op: Any, node: Any, inputs: tuple[Any, ...]) -> Any:
        nr, known = self.next(op), self.storage.get(op, {})
        if nr not in known:
            what = f"{op} invocation index {nr}" if known else f"{op}"
            raise RuntimeError(f"{what} encountered during backward but not found in storage. {MISMATCH}")
        kept = known[nr]
        if kept is None:
            return node.run(*inputs)
        if kept is CONSUMED:
            raise RuntimeError("Trying to backward an extra time. You are only allowed to backward once on any region computed "
                               "under selective activation checkpoint.")
        out = kept.give(node, inputs, self.mutable)
        known[nr] = CONSUMED
        return out
