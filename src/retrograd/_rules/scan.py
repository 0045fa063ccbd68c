"""Running reductions: cumsum, cumprod, logcumsumexp, cummax."""

from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .._engine.tensor import TensorBase
from .._kernels import kernel
from .packed import packed
from .reduce import raw, sum_dims, without_own

np: Final[Any] = numpy
WIDER: Final = {"f": numpy.float64, "F": numpy.complex128}
quick_cumsum: Final[Any] = kernel("cumsum")
quick_cumprod: Final[Any] = kernel("cumprod")
quick_logcumsumexp: Final[Any] = kernel("logcumsumexp")
quick_cummax: Final[Any] = kernel("cummax")
quick_cummin: Final[Any] = kernel("cummin")


@final
class CumsumBackward0(Unary):
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int, dtype: Any) -> None:
        self.dim = dim
        self.dtype: Any = dtype
        self.like: Any = None

    def quick(self, x: Array) -> Array:
        self.like = x.dtype
        return quick_cumsum(x, self.dim) if self.dtype is None else None

    def forward(self, x: Array) -> Array:
        self.like = x.dtype
        return running(np.add, x, self.dim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        got = from_end(g, self.dim)
        return cast.cast(got, self.like) if self.dtype is not None else got


@final
class CumprodBackward0(Unary):
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int, dtype: Any) -> None:
        self.dim = dim
        self.dtype: Any = dtype

    def quick(self, x: Array) -> Array:
        return quick_cumprod(x, self.dim) if self.dtype is None else None

    def forward(self, x: Array) -> Array:
        return running(np.multiply, x, self.dim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if self.dtype is not None:
            g = cast.cast(g, own.dtype)
        if own.ndim == 0 or own.shape[self.dim] == 1:
            got = g * 1
        elif np.all(own != 0):
            got = from_end(g * y, self.dim) / x
        elif not isinstance(x, TensorBase) and not isinstance(g, TensorBase):
            got = past_zeros(g, x, y, self.dim)
        else:                                   # differentiable, at the price of a square
            last = own.ndim - 1
            x = without_own(shape.transpose(x, self.dim, last))
            upper = np.triu(np.ones((own.shape[self.dim], own.shape[self.dim]), bool))
            terms = choose.where(upper, cumprod(x, last + 1, None), 0.0)
            g = shape.unsqueeze(shape.transpose(g, self.dim, last), last)
            got = shape.transpose(sum_dims(terms * g, (last + 1,), False), self.dim, last)
        return got if self.dtype is None else cast.cast(got, own.dtype)


def past_zeros(g: Array, x: Array, y: Array, dim: int) -> Array:
    """The gradient of cumprod's input along which there are zeros.  Behind the first it is 0, also where x is infinite."""
    zeros = np.cumsum(x == 0, dim)
    before = zeros == 0
    one, none = np.ones_like(x), np.zeros_like(x)
    got = np.where(before, from_end(np.where(before, g * y, none), dim) / x, none)
    first = (zeros == 1) & (x == 0)
    between = (zeros == 1) & ~first
    rest = running(np.multiply, np.where(between, x, one), dim, None) * np.where(zeros == 1, g, none)
    lead = np.prod(np.where(before, x, one), dim, keepdims=True)
    return np.where(first, rest.sum(dim, keepdims=True) * lead, got)


def log_from_end(g: Array, y: Array, dim: int) -> Array:
    """log of the running sum, from the far end, of exp(-y) times the positive part of g"""
    return np.flip(np.logaddexp.accumulate(np.flip(np.log(np.maximum(g, 0)) - y, dim), dim), dim)


@final
class LogcumsumexpBackward0(Unary):
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def quick(self, x: Array) -> Array:
        return quick_logcumsumexp(x, self.dim)

    def forward(self, x: Array) -> Array:
        if x.ndim == 0:
            return np.array(x)
        own = x.dtype
        if own.kind == "c":
            y = np.array(x)
            along = np.moveaxis(y, self.dim, 0)
            sum_: Array = np.full_like(along[:1], -np.inf)
            for i in range(len(along)):
                sum_ = along[i:i + 1] = log_of_sum(along[i:i + 1], sum_)
            return y
        y = np.logaddexp.accumulate(x.astype(np.float32) if own.itemsize == 2 else x, self.dim)
        return packed(y.astype(own) if y.dtype != own else y)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if own.ndim == 0:
            return g * 1
        if not isinstance(x, TensorBase) and not isinstance(g, TensorBase) and own.dtype.kind != "c":
            return np.exp(log_from_end(g, y, self.dim) + x) - np.exp(log_from_end(-g, y, self.dim) + x)
        last = own.ndim - 1                     # differentiable, at the price of a square
        gap = (shape.unsqueeze(shape.transpose(x, self.dim, last), last + 1)
               - shape.unsqueeze(shape.transpose(y, self.dim, last), last))
        lower = np.tril(np.ones((own.shape[self.dim], own.shape[self.dim]), bool), -1)
        parts = pointwise.exp(choose.masked_fill(gap, lower, -np.inf))
        g = shape.unsqueeze(shape.transpose(g, self.dim, last), last)
        return shape.transpose(sum_dims(parts * g, (last + 1,), False), self.dim, last)


class Record(Unary):
    """The extreme so far; `indices` says where it was last reached."""

    holds = True
    shows: ClassVar[Any] = {"dim": "dim", "indices": "indices"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.indices: Array = None

    def drop(self) -> None:
        self.indices = None

    def taken(self, found: Any) -> Array:
        """The values of what a kernel found, or None."""
        if found is None:
            return None
        self.indices = found[1]
        return found[0]

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = raw(x).shape
        return gather.scatter_zeros(g, self.dim, self.indices, sizes, True) if sizes else g * 1


@final
class CummaxBackward0(Record):
    def quick(self, x: Array) -> Array:
        return self.taken(quick_cummax(x, self.dim))

    def forward(self, x: Array) -> Array:
        y, self.indices = record(np.maximum, x, self.dim)
        return y


@final
class CumminBackward0(Record):
    def quick(self, x: Array) -> Array:
        return self.taken(quick_cummin(x, self.dim))

    def forward(self, x: Array) -> Array:
        y, self.indices = record(np.minimum, x, self.dim)
        return y


def record(how: Any, x: Array, dim: int) -> Any:
    """(running extreme, where it was last reached)"""
    if x.ndim == 0:
        return np.array(x), np.zeros((), np.int64)
    y = how.accumulate(x, dim)
    here = np.arange(x.shape[dim]).reshape(tuple([-1 if i == dim else 1 for i in range(x.ndim)]))
    reached = (x == y) | ((x != x) & (y != y))
    at = np.maximum.accumulate(np.where(reached, here, 0), dim)
    return packed(np.take_along_axis(x, at, dim)), packed(at)       # of 0.0 and -0.0 the one that is there


def running(how: Any, x: Array, dim: int, dtype: Any) -> Array:
    if dtype is None:
        dtype = np.dtype(np.int64) if x.dtype.kind in "iub" else x.dtype
    if x.dtype is not dtype:
        x = cast.converted(x, dtype)
    if x.ndim == 0:
        return np.array(x)
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return packed(how.accumulate(x.astype(np.float32), dim).astype(dtype))
    if dtype.kind == "c":
        quick = (quick_cumsum if how is np.add else quick_cumprod)(packed(x), dim)
        if quick is not None:
            return quick
    if dtype.char in WIDER:                                 # carried in double, as PyTorch does
        return packed(how.accumulate(x, dim, WIDER[dtype.char]).astype(dtype))
    return packed(how.accumulate(x, dim, dtype))


def from_end(g: Value, dim: int) -> Value:
    """The running sum from the far end."""
    if raw(g).ndim == 0:
        return g
    return moves.flip(cumsum(moves.flip(g, (dim,)), dim, None), (dim,))


def cumsum(x: Value, dim: int, dtype: Any) -> Value:
    return CumsumBackward0(dim, dtype).run(x)


def cumprod(x: Value, dim: int, dtype: Any) -> Value:
    return CumprodBackward0(dim, dtype).run(x)


def logcumsumexp(x: Value, dim: int) -> Value:
    return LogcumsumexpBackward0(dim).run(x)


from . import cast, choose, gather, moves, pointwise, shape  # noqa: E402
from .binary import log_of_sum  # noqa: E402
