"""Types of torch.cuda that programs name: of no tensor, of no storage."""
from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from typing import Any

from retrograd._tensor import dtypes

HOME = "retrograd.cuda"
KINDS = ("Double", "Float", "Half", "BFloat16", "Long", "Int", "Short", "Char", "Byte", "Bool")
DTYPE = {"Char": "int8", "Byte": "uint8"}


class tensortype(type):
    """What torch.cuda.FloatTensor and its like are: no tensor is an instance, and none can be made."""

    is_cuda = True

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. Torch not compiled with CUDA enabled.")

    def __instancecheck__(cls, x: Any) -> bool:
        return False


tensortype.__module__ = HOME


def typed(kind: str) -> Any:
    """torch.cuda.FloatTensor, ..."""
    dtype = getattr(dtypes, DTYPE.get(kind, kind.lower()))
    return kept(tensortype(f"{kind}Tensor", (), {"__module__": HOME, "dtype": dtype}))


def stored(kind: str) -> Any:
    """torch.cuda.FloatStorage, ..."""
    from retrograd.storage import LEGACY, _LegacyStorage

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        dtypes.check_device("cuda")

    name = f"{kind}Storage"
    meta: Any = type(_LegacyStorage)
    return kept(meta(
        name, (_LegacyStorage,), {"__module__": HOME, "dtype": LEGACY[name].dtype, "is_cuda": True, "__init__": __init__}))


def refusing(name: str) -> Any:
    """torch.cuda.Stream, ...: classes that programs name in annotations and ask isinstance of; none can be made."""
    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support" if name == "Stream" else
                           f"Tried to instantiate dummy base class {name}")

    return kept(type(name, (), {"__module__": HOME, "__init__": __init__}))


def kept(cls: type) -> type:
    setattr(sys.modules[HOME], cls.__name__, cls)
    return cls


LATE: dict[str, Callable[[], Any]] = {
    f"{kind}{what}": partial(make, kind) for kind in KINDS for what, make in (("Tensor", typed), ("Storage", stored))
} | {name: partial(refusing, name) for name in ("CUDAGraph", "Event", "Stream")}
