"""Reductions."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import X, Y, Unary
from .._engine.tensor import TensorBase

np: Final[Any] = numpy
add_reduce: Final[Any] = numpy.add.reduce


@final
class SumBackward0(Unary):
    """All elements."""

    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self) -> None:
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return add_reduce(x, None, sum_dtype(x))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return shape.expand(g, self.was)


@final
class SumBackward1(Unary):
    """Some dims."""

    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim", "self_sym_sizes": "was"}

    def __init__(self, dim: Shape, keepdim: bool) -> None:
        self.dim = dim
        self.keepdim = keepdim
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return add_reduce(x, self.dim, sum_dtype(x), None, self.keepdim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return shape.expand(restore(g, self.was, self.dim, self.keepdim), self.was)


def sum_dtype(x: Array) -> Any:
    """Integers add up in int64."""
    return np.int64 if x.dtype.kind in "iub" else None


@final
class MeanBackward0(Unary):
    shows: ClassVar[Any] = {"self_sym_numel": "count", "self_sym_sizes": "was"}

    def __init__(self) -> None:
        self.was: Shape = ()
        self.count: int = 1

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        self.count = x.size
        return mean_of(x, None, False, x.size)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return shape.expand(g / self.count if self.count else g, self.was)


@final
class MeanBackward1(Unary):
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim", "self_sym_numel": "count", "self_sym_sizes": "was"}

    def __init__(self, dim: Shape, keepdim: bool) -> None:
        self.dim = dim
        self.keepdim = keepdim
        self.was: Shape = ()
        self.count: int = 1

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        n = 1
        for d in self.dim:
            n *= x.shape[d]
        self.count = n
        return mean_of(x, self.dim, self.keepdim, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        g = restore(g, self.was, self.dim, self.keepdim)
        return shape.expand(g / self.count if self.count else g, self.was)


def mean_of(x: Array, dim: Any, keepdim: bool, n: int) -> Array:
    if x.dtype.itemsize == 2:                       # half precision adds up in float32, as PyTorch does
        return (add_reduce(x, dim, np.float32, None, keepdim) / n).astype(x.dtype) if n else nan_like(x, dim, keepdim)
    total = add_reduce(x, dim, None, None, keepdim)
    return np.true_divide(total, n, dtype=x.dtype)


def nan_like(x: Array, dim: Any, keepdim: bool) -> Array:
    return np.asarray(add_reduce(x, dim, None, None, keepdim) * np.nan).astype(x.dtype)


def sum(x: Value) -> Value:
    return SumBackward0().run(x)


def sum_dims(x: Value, dims: Shape, keepdim: bool) -> Value:
    """dims sorted or not, all non-negative."""
    return SumBackward1(dims, keepdim).run(x)


def mean(x: Value) -> Value:
    return MeanBackward0().run(x)


def mean_dims(x: Value, dims: Shape, keepdim: bool) -> Value:
    return MeanBackward1(dims, keepdim).run(x)


def restore(g: Value, was: Shape, dims: Shape, keepdim: bool) -> Value:
    """g with the reduced dims back as 1, so that it broadcasts against the input."""
    if keepdim or not was:
        return g
    return shape.reshape(g, tuple([1 if i in dims else was[i] for i in range(len(was))]))


from . import shape  # noqa: E402
