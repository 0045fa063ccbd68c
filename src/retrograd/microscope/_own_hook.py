"""Hooks of a capture's on modules, which copies of these do not have."""
from __future__ import annotations

from contextlib import nullcontext
from functools import partial
from typing import Any


class OwnHook(partial[Any]):
    """Calls the hook.  In its place a model copied or pickled meanwhile has one that does nothing, made of what every Python
    has: whoever loads that model may know nothing of us.
    """

    def __deepcopy__(self, memo: Any) -> Any:
        return nullcontext().__exit__           # takes anything and returns None

    def __reduce_ex__(self, protocol: Any) -> Any:
        return getattr, (nullcontext(), "__exit__")


def hide(module: Any) -> None:
    """Have copies and pickles of a module made without the hooks of ours that it has."""
    module.__dict__["__getstate__"] = partial(state_of, module)


def show(module: Any) -> None:
    """The end of that, once it has no more of them."""
    space = module.__dict__
    left = [*space["_forward_pre_hooks"].values(), *space["_forward_hooks"].values()]
    if not left or not any(type(hook) is OwnHook for hook in left):
        space.pop("__getstate__", None)


def state_of(module: Any) -> Any:
    """What its class gives to be copied, but for our hooks."""
    cls: Any = type(module)
    state = cls.__getstate__(module)
    if type(state) is not dict:                 # with slots: the copy gets hooks that do nothing
        return state
    tables = {name: table for name, table in state.items() if "_hooks" in name and isinstance(table, dict)}
    ours = {number for table in tables.values() for number, hook in table.items() if type(hook) is OwnHook}
    kept = {name: type(table)((number, hook) for number, hook in table.items() if number not in ours)
            for name, table in tables.items() if not ours.isdisjoint(table)}
    return {name: kept.get(name, value) for name, value in state.items() if name != "__getstate__"}
