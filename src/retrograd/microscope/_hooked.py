"""A user's hook with a recorder around it: it stands in the hook's place in its table while a recording goes on."""
from __future__ import annotations

from functools import partial
from typing import Any

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

    @property
    def __class__(self) -> Any:                 # programs know their own hooks by isinstance: pruning, weight_norm
        return type(self.hook)

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self.hook, name, value)

    # copies of a model made during a recording get the hook itself

    def __copy__(self) -> Any:
        return self.hook

    def __deepcopy__(self, memo: Any) -> Any:
        import copy
        return copy.deepcopy(self.hook, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _itself, (self.hook,)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name not in NAMES:
            raise AttributeError(name)
        return self.hook if name == "__wrapped__" else getattr(self.hook, name)


def _itself(hook: Any) -> Any:
    return hook

