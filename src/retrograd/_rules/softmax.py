"""softmax and log_softmax."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Value
from .._engine.op import Unary
from .._kernels import kernel
from . import pointwise, reduce
from .packed import packed
from .pointwise import like, wide

np: Final[Any] = numpy
quick_softmax: Final[Any] = kernel("softmax")
quick_softmax_grad: Final[Any] = kernel("softmax_grad")
quick_log_softmax: Final[Any] = kernel("log_softmax")
quick_log_softmax_grad: Final[Any] = kernel("log_softmax_grad")


class AlongDim(Unary):
    shows: ClassVar[Any] = {"dim": "asked"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.asked: Any = dim                   # as PyTorch shows it: unsigned


@final
class SoftmaxBackward0(AlongDim):
    """exp(x) / sum(exp(x)) along a dim"""

    def quick(self, x: Array) -> Array:
        return quick_softmax(x, self.dim) if x.ndim else None

    def forward(self, x: Array) -> Array:
        if x.ndim == 0:
            return np.where(np.abs(x) < np.inf, x.dtype.type(1), x - x)
        e = np.exp(centred(wide(x), self.dim))
        return packed(like(e / np.add.reduce(e, self.dim, None, None, True), x))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return softmax_grad(g, y, self.dim)


@final
class LogSoftmaxBackward0(AlongDim):
    """x - log(sum(exp(x))) along a dim"""

    def quick(self, x: Array) -> Array:
        return quick_log_softmax(x, self.dim) if x.ndim else None

    def forward(self, x: Array) -> Array:
        if x.ndim == 0:
            return x - x
        z = centred(wide(x), self.dim)
        return packed(like(z - np.log(np.add.reduce(np.exp(z), self.dim, None, None, True)), x))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        quick = quick_of_log_softmax(g, y, self.dim)
        if quick is not None:
            return quick
        return g - pointwise.exp(y) * total(g, self.dim)


def quick_of_log_softmax(g: Value, y: Value, dim: int) -> Array:
    """The gradient, by a kernel or, of 16 bits, rounded once; None elsewhere."""
    quick = quick_log_softmax_grad(g, y, dim)
    if quick is None and isinstance(g, np.ndarray) and isinstance(y, np.ndarray) and g.dtype is y.dtype and (
            wide(y) is not y and y.ndim):
        wide_g = wide(g)
        return like(wide_g - np.exp(wide(y)) * np.add.reduce(wide_g, dim, None, None, True), y)
    return quick


def centred(x: Array, dim: int) -> Array:
    """x minus its largest element along dim: exp of it cannot overflow."""
    return x - np.maximum.reduce(x, dim, None, None, True, -np.inf)


def total(x: Value, dim: int) -> Value:
    """x summed over one dim, which stays as 1."""
    return reduce.sum_dims(x, (dim,), True) if x.ndim else x


def softmax_grad(g: Value, y: Value, dim: int) -> Value:
    """The gradient behind y, a softmax along dim (non-negative); where y is 0 it is 0."""
    quick = quick_softmax_grad(g, y, dim)
    if quick is not None:
        return quick
    if isinstance(g, np.ndarray) and isinstance(y, np.ndarray) and g.dtype is y.dtype and wide(y) is not y:
        wide_g = wide(g)                        # rounded once
        wide_y = wide(y)
        return like((wide_g - np.add.reduce(wide_g * wide_y, dim, None, None, True)) * wide_y, y)
    gy = g * y
    return gy - y * total(gy, dim)
