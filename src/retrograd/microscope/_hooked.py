"""A user's hook with a recorder around it: it stands in the hook's place in its table while a recording goes on."""
from __future__ import annotations

from functools import partial
from typing import Any, cast

HOME = __name__.partition(".")[0]
NAMES = ("__name__", "__qualname__", "__wrapped__", "__torch_unserializable__")     # error texts name the hook


class Hooked(partial[Any]):
    """Calls the recorder's `fired` with its facts: (recorder, tap, hook, row of rec.hooks, kind, position of the value,
    number of the hook, with_kwargs?).  A partial, since its call goes through no line of Python.
    """

    @property
    def hook(self) -> Any:
        return self.args[0][2]

    @property
    def __name__(self) -> Any:                  # PyTorch asks each time it fires
        return self.args[0][2].__name__

    @property                                   # type: ignore[misc]  # partial's can be set
    def __class__(self) -> Any:                 # programs know their own hooks by isinstance: pruning, weight_norm
        return type(self.hook)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.hook, name, value)

    def __repr__(self) -> str:                  # warnings and errors show the hook
        return repr(self.hook)

    # copies of a model made during a recording get the hook itself, and files of it do not need this package

    def __copy__(self) -> Any:
        return self.hook

    def __deepcopy__(self, memo: Any) -> Any:
        import copy
        return copy.deepcopy(self.hook, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return cast, (None, self.hook)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in NAMES:
            raise AttributeError(name)
        return self.hook if name == "__wrapped__" else getattr(self.hook, name)


def plain(hook: Any) -> Any:
    """The user's function in a hook that a recorder or an engine wrapped."""
    found = itself(hook)
    home = getattr(found, "__module__", None)
    if type(home) is str and home.partition(".")[0] in ("torch", HOME):
        for inner in (getattr(found, "fn", None), getattr(found, "whole", None) and found.whole.fn):
            if callable(inner):
                return itself(inner)
        for cell in getattr(found, "__closure__", None) or ():
            try:
                inner = cell.cell_contents
            except ValueError:
                continue
            if callable(inner) and not isinstance(inner, type):
                return itself(inner)
    return found


def itself(hook: Any) -> Any:
    """The hook, without recorders around it."""
    while type(hook) is Hooked:
        hook = hook.hook
    return hook
