"""retrograd: the public functions are replaced, while somebody listens, by ones that tell the handler."""
from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from .engine import Engine, canonical

retrograd = sys.modules[__name__.partition(".")[0]]     # the namespace, which is above us: imports point one way


class RetrogradEngine(Engine):
    """retrograd: the public functions are replaced, while somebody watches, by ones that tell the handler."""

    name = "retrograd"

    def __init__(self) -> None:
        self.torch = retrograd
        self.Tensor = retrograd.Tensor
        self.Module = retrograd.nn.Module
        self.passes = {retrograd.Tensor.backward}
        self.composites = ()

    def name_of(self, func: Any) -> str:
        name: str = _names.get(func) or func.__name__
        return canonical(name)

    def in_backward(self) -> bool:
        from ..._engine.modes import state
        return state().task is not None

    def calls(self, ear: Any) -> Any:
        return _Replaced(ear)

    def inside(self, heard: Any, func: Any, args: Any, kwargs: Any) -> Any:
        with heard.reopened():
            return func(*args, **kwargs)


# retrograd's own means of seeing calls

OPERATORS = (
    "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "__mul__", "__rmul__", "__imul__",
    "__truediv__", "__rtruediv__", "__itruediv__", "__neg__", "__pow__", "__rpow__", "__matmul__", "__rmatmul__",
    "__getitem__", "__setitem__", "__iter__", "__reversed__", "__abs__", "__pos__", "__invert__", "__mod__", "__rmod__",
    "__imod__",
    "__floordiv__", "__rfloordiv__", "__ifloordiv__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__",
    "__imatmul__", "__ipow__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
)
METHODS = ("backward", "detach", "where")


class _Replaced:
    """Context: the names of the namespace, of nn.functional and of Tensor lead to the handler."""

    lock = threading.RLock()
    active: list[_Replaced] = []                # innermost last
    undo: list[tuple[Any, str, Any]] = []

    def __init__(self, ear: Any) -> None:
        self.hear = ear.call
        self.thread = 0
        self.busy = False

    def __enter__(self) -> _Replaced:
        self.thread = threading.get_ident()
        with self.lock:
            if not self.active:
                _replace(self.undo)
            self.active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.active.remove(self)
            if not self.active:
                for owner, name, old in reversed(self.undo):
                    if old is _ABSENT:
                        delattr(owner, name)
                    else:
                        setattr(owner, name, old)
                self.undo.clear()


    @contextmanager
    def reopened(self) -> Iterator[None]:
        """In the handler: calls are heard again."""
        self.busy = False
        try:
            yield
        finally:
            self.busy = True


_ABSENT = object()


def _replace(undo: list[tuple[Any, str, Any]]) -> None:
    from ..._functions import FAMILIES
    from ...nn import functional

    table = _stand_ins()
    for owner in (retrograd, functional, *FAMILIES):
        for name, value in list(vars(owner).items()):
            stand_in = table.get(value) if callable(value) and getattr(value, "__hash__", None) else None
            if stand_in is not None:
                undo.append((owner, name, value))
                setattr(owner, name, stand_in)
    for owner in (retrograd.linalg, retrograd.special):
        for name, value in list(vars(owner).items()):
            if callable(value) and not isinstance(value, type) and not name.startswith("_") and name != "late_names":
                if value not in table:
                    table[value] = _watched(value)
                undo.append((owner, name, value))
                setattr(owner, name, table[value])
    for name in _tensor_names():
        own = vars(retrograd.Tensor).get(name, _ABSENT)
        now = getattr(retrograd.Tensor, name) if own is _ABSENT else own
        undo.append((retrograd.Tensor, name, own))
        setattr(retrograd.Tensor, name, _watched(now, name))


_table: dict[Any, Any] = {}
_names: dict[Any, str] = {}                     # of properties' functions, which are called otherwise


def _stand_ins() -> dict[Any, Any]:
    """function -> the one to call instead; made once."""
    if not _table:
        from ..._functions import FAMILIES
        from ...nn import functional
        for family in FAMILIES:
            for name in (*family.__all__, *getattr(family, "FUNCTIONAL", ())):
                own = getattr(family, name.partition(" as ")[0])
                if callable(own) and not isinstance(own, type) and own not in _table:
                    _table[own] = _watched(own)
        for owner in (retrograd, functional):
            for public in list(vars(owner).values()):
                if hasattr(public, "unchecked") and public not in _table:       # a family's, behind checks of its arguments
                    _table[public] = _watched(public)
    return _table


def _tensor_names() -> Iterator[str]:
    from ..._functions import FAMILIES
    for family in FAMILIES:
        yield from (name.rpartition(" as ")[2] for name in getattr(family, "METHODS", ()))
    for name in (*OPERATORS, *METHODS):
        if hasattr(retrograd.Tensor, name):
            yield name


def _watched(value: Any, name: str = "") -> Any:
    """value, a function or a property, telling the innermost handler of this thread."""
    if isinstance(value, property):
        return property(_watched(value.fget, name), value.fset, value.fdel, value.__doc__)
    if not callable(value):
        return value
    if name:
        _names.setdefault(value, name)
    active = _Replaced.active
    ident = threading.get_ident

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        for watcher in reversed(active):
            if watcher.thread == ident():
                if watcher.busy:
                    break
                watcher.busy = True
                try:
                    return watcher.hear(value, value, args, kwargs)
                finally:
                    watcher.busy = False
        return value(*args, **kwargs)

    stand_in.__name__ = getattr(value, "__name__", "function")
    stand_in.__doc__ = value.__doc__
    return stand_in
