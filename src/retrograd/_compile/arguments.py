"""What of a call's arguments must be the same at each call."""
from __future__ import annotations

from typing import Any, Final

from .._engine.tensor import TensorBase
from .._tensor import dtypes

PLAIN: Final = (int, float, bool, str, type(None), complex, bytes)


class Same:
    """An argument that is known by who it is."""

    __slots__ = ("x",)

    def __init__(self, x: Any) -> None:
        self.x = x

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other.x is self.x

    def __hash__(self) -> int:
        return id(self.x)


def leaf(x: Any, inputs: list[TensorBase]) -> Any:
    """What of an argument must be the same at each call; its tensors go to `inputs`."""
    if isinstance(x, TensorBase):
        for i, t in enumerate(inputs):
            if t is x:
                return ("again", i)
        inputs.append(x)
        return "tensor"
    kind = type(x)
    if kind in PLAIN:
        return (kind, repr(x) if kind is float else x)
    if kind in (tuple, list):
        return (kind, *[leaf(y, inputs) for y in x])
    if kind is dict:
        return (kind, tuple(x), *[leaf(y, inputs) for y in x.values()])
    if isinstance(x, (dtypes.dtype, dtypes.device)):
        return x
    return Same(x)


def objects_in(key: Any) -> list[Any]:
    if isinstance(key, Same):
        return [key.x]
    return [y for x in key for y in objects_in(x)] if type(key) is tuple else []
