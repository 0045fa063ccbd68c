"""torch.typename."""
from __future__ import annotations

from typing import Any

from ._engine.tensor import TensorBase


def typename(obj: Any, /) -> str:
    """What kind of thing obj is: 'torch.FloatTensor' for a tensor, 'int', 'numpy.ndarray'; of a class its own name."""
    if isinstance(obj, TensorBase):
        tensor: Any = obj
        name: str = tensor.type()
        return name
    cls = obj if isinstance(obj, type) else type(obj)
    return cls.__qualname__ if cls.__module__ in ("builtins", "", None) else f"{cls.__module__}.{cls.__qualname__}"
