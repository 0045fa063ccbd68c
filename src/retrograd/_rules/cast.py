"""Change of dtype."""
from __future__ import annotations

from typing import Any, Final, final

import numpy

from .._engine import promote
from .._engine.node import Array, Value
from .._engine.op import Unary
from .._engine.tensor import TensorBase
from .._kernels import kernel

np: Final[Any] = numpy
HALF: Final[Any] = numpy.dtype("float16")
SINGLE: Final[Any] = numpy.dtype("float32")
quick_halves: Final[Any] = kernel("halves")


@final
class ToCopyBackward0(Unary):
    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype
        self.was: Any = None

    def forward(self, x: Array) -> Array:
        self.was = x.dtype
        if 0 in x.strides and create.repeats(x):
            x = create.dense_copy(x)
        if x.dtype.kind == "c" and self.dtype is HALF:
            x = np.array(x.real, SINGLE, order="C")
        if x.dtype is SINGLE and self.dtype is HALF or x.dtype is HALF and self.dtype is SINGLE:
            quick = quick_halves(x)
            if quick is not None:
                return quick
        return converted(x, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return cast(g, self.was)


def converted(x: Array, dtype: Any) -> Array:
    """x in another dtype; of complex numbers the real part, where that is real."""
    if x.dtype.kind == "c" and dtype.kind != "c":
        if dtype.kind == "b":
            return x != 0
        x = x.real
    return truncated(x, dtype) if x.dtype.kind in "fV" and dtype.kind in "iu" else x.astype(dtype)


def truncated(x: Array, dtype: Any) -> Array:
    """Floats to integers as PyTorch does on x86-64: small types take the last bits of an int32, uint8 those of an int64.

    What neither holds is its least number.
    """
    return x.astype(np.int64 if dtype.kind == "u" or dtype.itemsize == 8 else np.int32).astype(dtype)


def cast(x: Value, dtype: Any) -> Value:
    """x in a NumPy dtype; integer and bool results leave the graph."""
    if isinstance(x, TensorBase) and dtype.kind in "iub":
        x = create.detached(x)
    return ToCopyBackward0(dtype).run(x)


def floating(x: Value) -> Value:
    """x itself if it is floating point or complex, else in the default dtype."""
    if isinstance(x, TensorBase) and x.array.dtype.kind not in "fcV":
        return cast(x, promote.default.float_)
    if isinstance(x, np.ndarray) and x.dtype.kind not in "fcV":
        return x.astype(promote.default.float_)
    return x


def cast_like(x: Value, g: Value) -> Value:
    """x in the dtype of g, in which an op's operands met: a function of x alone would have the digits of x."""
    want = g.array.dtype if isinstance(g, TensorBase) else g.dtype
    if isinstance(x, TensorBase):
        return x if x.array.dtype is want else cast(x, want)
    return x if x.dtype is want else x.astype(want)


from . import create  # noqa: E402
