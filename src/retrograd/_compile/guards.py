"""Whether what a call reached is still what it was."""
from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from .._engine.tensor import TensorBase, wants_grad
from .._tensor.size import Size
from .effects import grad_of
from .reach import MISSING, Reach, spelled
from .values import Guards, root


def same(now: Any, was: Any) -> bool:
    """Is it the same object, or the same number or text?"""
    if now is was:
        return True
    kind = type(was)
    if type(now) is not kind:
        return False
    if kind is float:
        return bool(now == was and math.copysign(1, now) == math.copysign(1, was)) or (now != now and was != was)
    if kind in (int, str, bool, bytes, Size, range, slice) or isinstance(was, np.generic):
        return bool(now == was)
    if kind is tuple:
        return len(now) == len(was) and all(map(same, now, was))
    return False


def changed(guard: tuple[str, Any, Any, Any]) -> bool:
    kind, holder, key, was = guard
    if kind == "dict":
        return not same(dict.get(holder, key, MISSING), was)
    if kind == "cell":
        try:
            return not same(holder.cell_contents, was)
        except ValueError:
            return True
    if kind in MANY:
        return unlike(guard) is not None
    if kind == "set":
        return bool(holder != was)
    if kind == "array":
        return bool((holder.shape, holder.dtype, holder.tobytes()) != was)
    if kind == "function":
        return any(now is not x for now, x in zip((holder.__code__, holder.__defaults__, holder.__kwdefaults__), was))
    if kind == "items":
        return len(holder) != len(was) or not all(map(same, holder, was))
    if kind == "type":
        return type(holder) is not was
    return not same(getattr(holder, key), was)


def unlike(guard: tuple[str, Any, Any, Any]) -> Any:
    """The first of several keys whose value is another one; None for none."""
    kind, holder, keys, values = guard
    if kind == "attrs":
        table = vars(holder)
        return next((key for key, was in zip(keys, values) if table.get(key, MISSING) is not was), None)
    if kind in ("empty", "filled"):
        return next((key for key, table in zip(keys, holder) if bool(table) is (kind == "empty")), None)
    if kind == "table" and not (len(holder) == len(keys) and all(map(same, holder, keys))):
        return next((key for key in (*dict.keys(holder), *keys) if key not in keys or key not in holder), "...")
    return next((key for key, was in zip(keys, values) if not same(dict.get(holder, key, MISSING), was)), None)


OF_SEVERAL: Final = "register_multi_grad_hook"
MANY: Final = ("table", "dicts", "attrs", "empty", "filled")      # of several keys
# Bytes of a Tensor that are fields of TensorBase, where mypyc laid them out; else 0.  NOTE [Fields of a tensor] in guards.c
FIELDS: Final = TensorBase.__basicsize__ if Guards is not None and hasattr(TensorBase, "__mypyc_attrs__") else 0


class Watch:
    """The guards of one recorded call, and the tensors that it holds."""

    def __init__(self, reach: Reach, held: list[TensorBase], facts: list[Any]) -> None:
        """facts: of the tensors that are held"""
        self.guards, self.paths = reach.guards, reach.paths
        self.held = held
        self.arrays = [t.array for t in held]
        self.facts = facts
        self.quick: Any = None
        self.plain = False                      # `quick` looks at the tensors, too
        self.grads = False                      # the plan reads or writes what .grad holds
        self.refs: list[Any] = []

    def settle(self, grads: bool) -> None:
        """After the call, which may have given tensors what graphs need: the same in C.  grads: is a .grad read?"""
        self.grads = grads
        if Guards is None:
            return
        self.plain = FIELDS > 0 and not grads and all(
            t.origin is None and t.listeners is None and fact[-2] is True for t, fact in zip(self.held, self.facts))
        facts = []
        if self.plain:
            self.refs = [t.version for t in self.held]      # so that nothing else gets its address
            facts = [(t, t.sink, fact[-1] is not None) for t, fact in zip(self.held, self.facts)]
        self.quick = Guards(self.guards, tuple(facts), MISSING, FIELDS) if facts else Guards(self.guards, (), MISSING)

    def changed(self) -> str:
        """What is another one than it was; "" for nothing."""
        quick = self.quick
        if quick is None or not self.plain or not quick.tensors():
            for t, array, fact in zip(self.held, self.arrays, self.facts):
                if t.array is not array:
                    return "a tensor has other memory"
                if facts_of(t) != fact:
                    return "a tensor is another one"
        if self.grads and not apart([*self.arrays, *[g.array for g in map(grad_of, self.held) if g is not None]]):
            return "a .grad shares memory with another tensor"
        found = self.other()
        return found and f"{found} changed"

    def other(self) -> str:
        """The path of the first of Python's values that is another one; "" for none."""
        quick = self.quick
        if quick is None:
            return next((named(guard, path) for guard, path in zip(self.guards, self.paths) if changed(guard)), "")
        at = quick.first(0)
        while at is not None:                   # not the same object: perhaps the same number
            if changed(self.guards[at]):
                return named(self.guards[at], self.paths[at])
            at = quick.first(at + 1)
        return ""


def named(guard: tuple[str, Any, Any, Any], way: Any) -> str:
    """The path of what is another one."""
    path = spelled(way)
    if guard[0] not in MANY:
        return path
    key = unlike(guard)
    return f"{path}[{key!r}]" if guard[0] in ("table", "empty", "filled") else f"{path}.{key}"


def apart(arrays: list[Any]) -> bool:
    """Has each of them memory of its own?"""
    return len({id(root(a)) for a in arrays}) == len(arrays)


def facts_of(of: Any) -> tuple[Any, ...]:
    """What a plan takes for granted of a tensor, besides its numbers."""
    array = of.array                            # first: it may be a promise
    t: TensorBase = of
    sink = t.sink
    found: Any = None if sink is None else sink.grad
    held = None
    if found is not None:
        grad: TensorBase = found
        held = lies(grad.array), grad.rg, grad.inference
    return type(of), lies(array), marks(t), True if sink is None else heard(sink), held


def marks(t: TensorBase) -> int:
    return (t.rg + 2 * (t.fn is None) + 4 * t.inference + 8 * (not t.listeners) + 16 * (t.kept is None) + 32 * wants_grad(t))


def heard(sink: Any) -> Any:
    """True for a leaf's node without hooks; else of which kinds there are some: they are called, whatever they are."""
    own = sink._hooks
    if not sink.after and own is None:
        return not sink.frozen
    kinds = (bool(sink.after), own is not None and any(table for _, table in own.tensor), own is not None and bool(own.pre),
             own is not None and bool(own.post))
    if kinds[1] and any([hasattr(hook, "of_several") for _, table in own.tensor for hook in table.values()]):
        return OF_SEVERAL
    return (sink.frozen, *kinds) if any(kinds) else not sink.frozen


def stays(of: Any, fact: tuple[Any, ...]) -> bool:
    """Has the tensor, but for .grad and what hangs on it, the facts that it had?"""
    return type(of) is fact[0] and bool(lies_so(of.array, fact[1])) and marks(of) == fact[2]


def laid(array: Any) -> tuple[Any, ...]:
    """Its dtype, shape and strides; is it aligned, and may it be written?"""
    return array.dtype, array.shape, array.strides, array.flags.behaved


def laid_so(array: Any, was: tuple[Any, ...]) -> bool:
    return bool(laid(array) == was)


lies: Final[Any] = laid if Guards is None else Guards.lies
lies_so: Final[Any] = laid_so if Guards is None else Guards.lies_so
