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


class StreamContext:
    """torch.cuda.stream(None), and of any stream where there is no device: does nothing."""

    def __init__(self, stream: Any) -> None:
        self.stream = stream
        self.idx = -1
        self.src_prev_stream = self.dst_prev_stream = None

    def __enter__(self) -> None:
        pass

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        pass


def stream(stream: Any) -> StreamContext:
    """A context that does nothing."""
    return StreamContext(stream)


class graph:
    """A capture into a CUDAGraph, of which there are none."""

    default_capture_stream = None

    def __init__(self, cuda_graph: Any, pool: Any = None, stream: Any = None, capture_error_mode: str = "global",
                 enable_annotations: bool = False, check_input_liveness: bool = False) -> None:
        raise RuntimeError("torch.cuda.Stream requires CUDA support")


class device:
    """Within it, the chosen GPU is the current one; -1 chooses none, and there is no other."""

    def __init__(self, device: Any) -> None:
        kind = dtypes.device(device) if isinstance(device, str) else device
        if isinstance(kind, dtypes.device):
            if kind.type != "cuda":
                raise ValueError(f"Expected a cuda device, but got: {kind}")
            kind = 0 if kind.index is None else kind.index
        self.idx, self.prev_idx = kind, -1

    def __enter__(self) -> None:
        if self.idx >= 0:
            raise RuntimeError("PyTorch was compiled without CUDA support")

    def __exit__(self, type: Any, value: Any, traceback: Any) -> None:
        pass


class device_of(device):
    """The device of a tensor, where that is a GPU: nothing."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else -1)


class OutOfMemoryError(RuntimeError):
    """What PyTorch raises where a GPU's memory is full."""


for cls, home in ((StreamContext, HOME), (graph, HOME), (device, HOME), (device_of, HOME), (OutOfMemoryError, "retrograd")):
    cls.__module__ = home
stream.__module__ = HOME


def kept(cls: Any) -> Any:
    setattr(sys.modules[HOME], cls.__name__, cls)
    return cls


LATE: dict[str, Callable[[], Any]] = {
    f"{kind}{what}": partial(make, kind) for kind in KINDS for what, make in (("Tensor", typed), ("Storage", stored))
} | {name: partial(refusing, name) for name in ("CUDAGraph", "Event", "MemPool", "Stream")
} | {cls.__name__: partial(kept, cls) for cls in (
    StreamContext, stream, graph, device, device_of, OutOfMemoryError)}
