"""A user's hook with a recorder around it: it stands in the hook's place in its table while a recording goes on."""
from __future__ import annotations

from typing import Any

NAMES = ("__name__", "__qualname__", "__wrapped__", "__torch_unserializable__")     # error texts name the hook


class Hooked:
    """Calls `hook`, and tells the recorder what it saw and returned."""

    def __init__(self, recorder: Any, hook: Any, facts: tuple[Any, ...]) -> None:
        self.recorder = recorder
        self.hook = hook
        self.facts = facts          # (tap, hook, row of rec.hooks, kind, position of the value, number, with_kwargs?)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        recorder = self.recorder
        if recorder is None or not recorder.on:
            return self.hook(*args, **kwargs)
        return recorder.fire(self, args, kwargs)

    # copies of a model made during a recording get the hook itself

    def __copy__(self) -> Any:
        return self.hook

    def __deepcopy__(self, memo: Any) -> Any:
        import copy
        return copy.deepcopy(self.hook, memo)

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _itself, (self.hook,)

    def __getattr__(self, name: str) -> Any:
        if "hook" not in self.__dict__ or name.startswith("__") and name not in NAMES:
            raise AttributeError(name)
        return self.hook if name == "__wrapped__" else getattr(self.hook, name)


def _itself(hook: Any) -> Any:
    return hook

