"""A user's hook with a recorder around it: it stands in the hook's place in its table while a recording goes on."""
from __future__ import annotations

from typing import Any

# kind -> position of the value the hook sees and may replace
PLACE = {
    "tensor": 0, "node_pre": 0, "node_post": 0, "post_accumulate": 0,
    "forward_pre": 1, "forward": -1, "backward_pre": 1, "backward": 1,
}


NAMES = ("__name__", "__qualname__", "__wrapped__", "__torch_unserializable__")     # error texts name the hook


class Hooked:
    """Calls `hook`, and tells the recorder what it saw and returned."""

    def __init__(self, recorder: Any, tap: Any, hook: Any, kind: str, number: int, with_kwargs: bool = False) -> None:
        self.recorder = recorder
        self.tap = tap
        self.hook = hook
        self.kind = kind
        self.number = number
        self.with_kwargs = with_kwargs

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


def first_tensors(value: Any, tensor: Any, limit: int = 8) -> list[Any]:
    """The tensors (or None) in a value, a tuple, list or dict of them."""
    if isinstance(value, tensor):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, (tuple, list)):
        return []
    found: list[Any] = []
    for v in value[:limit]:
        if isinstance(v, tensor) or v is None:
            found.append(v)
        elif isinstance(v, (tuple, list, dict)):
            found.extend(first_tensors(v, tensor, limit - len(found)))
    return found[:limit]
