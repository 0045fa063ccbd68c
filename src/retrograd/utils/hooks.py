"""Handles of hooks (torch.utils.hooks)."""
from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any
from weakref import ref

from .._engine.modes import modes
from .._engine.tensor import TensorBase, public
from .._engine.warn import warn
from .._missing import module_getattr

__all__ = ["BackwardHook", "RemovableHandle", "unserializable_hook", "warn_if_has_hooks"]  # noqa: F822

_lacking = module_getattr(__name__)


class _Handles(type):
    """Gives RemovableHandle its `next_id`: writing a class attribute at each registration would be slow."""

    @property
    def next_id(cls) -> int:
        """The id that the next handle gets."""
        return _next[0]

    @next_id.setter
    def next_id(cls, value: int) -> None:
        _next[0] = value


_next = [0]


class RemovableHandle(metaclass=_Handles):
    """What register_*hook returns: `remove()` takes the hook out.  Dropping the handle leaves the hook in place.

    hooks_dict  the table the hook sits in, held weakly
    extra_dict  further tables (or a list of them) that know the hook by the same id

    As a context manager it removes the hook on exit.
    """

    id: int

    def __init__(self, hooks_dict: Any, *, extra_dict: Any = None) -> None:
        self.hooks_dict_ref = ref(hooks_dict)
        self.id = _next[0]
        _next[0] += 1
        if extra_dict is None:
            self.extra_dict_ref: tuple[Any, ...] = ()
        elif isinstance(extra_dict, dict):
            self.extra_dict_ref = (ref(extra_dict),)
        else:
            self.extra_dict_ref = tuple(ref(d) for d in extra_dict)

    def remove(self) -> None:
        """Take the hook out; a second call does nothing."""
        modes.registered += 1
        if modes.clerk is not None:
            modes.clerk.removed(self)
        for found in (self.hooks_dict_ref, *self.extra_dict_ref):
            table = found()
            if table is not None:
                table.pop(self.id, None)

    def __getstate__(self) -> Any:
        tables = tuple(found() for found in self.extra_dict_ref)
        return self.hooks_dict_ref(), self.id, tables

    def __setstate__(self, state: Any) -> None:
        table = OrderedDict() if state[0] is None else state[0]
        self.hooks_dict_ref = ref(table)
        self.id = state[1]
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)
        extra = state[2] if len(state) > 2 and state[2] is not None else ()
        self.extra_dict_ref = tuple(ref(OrderedDict() if d is None else d) for d in extra)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        self.remove()


def register(table: Any, hook: Any, kind: str, owner: Any, *extra: Any) -> RemovableHandle:
    """Put a hook into a table; extra: others that will know it by the same id."""
    handle = RemovableHandle(table, extra_dict=list(extra) or None)
    modes.registered += 1
    if modes.clerk is not None:
        modes.clerk.registered(handle, table, hook, kind, owner)
    table[handle.id] = hook
    return handle


def unserializable_hook(f: Callable[..., Any]) -> Callable[..., Any]:
    """Mark a hook as one that need not be saved: no warning when its tensor is pickled."""
    f.__torch_unserializable__ = True  # type: ignore[attr-defined]
    return f


def warn_if_has_hooks(tensor: Any) -> None:
    """UserWarning for every hook that pickling `tensor` loses."""
    for hook in list((tensor._backward_hooks or {}).values()):
        if not hasattr(hook, "__torch_unserializable__"):
            warn(
                f"backward hook {hook!r} on tensor will not be serialized.  If this is expected, you can decorate the "
                "function with @torch.utils.hooks.unserializable_hook to suppress this warning")


public.register = register


def __getattr__(name: str) -> Any:
    if name == "BackwardHook":                      # needs the engine's ops, which need this file
        from .backward_hook import BackwardHook
        return BackwardHook
    return _lacking(name)


def look(xs: Any) -> None:
    """Call it before the engine reads the graphs of these, in what is no public function: torch.compile may owe them."""
    if modes.dispatching:
        for x in xs:
            if isinstance(x, TensorBase):
                x.array                                             # noqa: B018  # whoever reads one gets all that is owed
                return
