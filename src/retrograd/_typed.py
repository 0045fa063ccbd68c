"""The old typed constructors: torch.FloatTensor(2, 3), torch.LongTensor([1, 2])."""
from __future__ import annotations

from typing import Any

from . import dtypes
from ._engine.saved import TYPE_NAMES
from ._engine.tensor import TensorBase
from ._tensor import Tensor


class _TypedMeta(type):
    """isinstance(t, torch.FloatTensor) asks for the dtype."""

    name: str

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and instance.array.dtype.name == cls.name


def _typed(name: str, long: str) -> Any:
    short = long.rpartition(".")[2]

    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        return Tensor(*args, **kwargs).to(getattr(dtypes, name))

    doc = f"A tensor of dtype torch.{name}: of the given sizes (uninitialised), or of the given data."
    return _TypedMeta(short, (), {"__new__": make, "__doc__": doc, "__module__": "retrograd", "name": name})


__all__ = []
for _name, _long in TYPE_NAMES.items():
    _made = _typed(_name, _long)
    globals()[_made.__name__] = _made
    __all__.append(_made.__name__)
