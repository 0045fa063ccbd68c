"""Norms, variances, logsumexp: reductions of a function of the elements."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine.nary import Many
from .._engine.node import Array, Shape, Value
from .._engine.op import Binary, Unary
from .._engine.tensor import TensorBase
from .._kernels import kernel
from . import by_parts
from .packed import packed
from .reduce import add_reduce, count_of, mean_dims, mean_of, raw, restore, sum_dims

np: Final[Any] = numpy
quick_squares: Final[Any] = kernel("squares")
quick_logsumexp: Final[Any] = kernel("logsumexp")


@final
class LinalgVectorNormBackward0(Unary):
    """(sum |x|**ord)**(1/ord) over dims; at a norm of zero the gradient is zero."""

    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim", "ord": "ord"}

    def __init__(self, ord: Any, dim: Any, keepdim: bool, dtype: Any) -> None:
        self.ord: Any = ord
        self.dim: Any = dim
        self.keepdim = keepdim
        self.dtype: Any = dtype

    def forward(self, x: Array) -> Array:
        if self.dtype is not None:
            x = x.astype(self.dtype)
        return norm_of(x, self.ord, self.dim, self.keepdim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if self.dtype is not None:
            x = cast.cast(x, self.dtype)
        sizes: Shape = own.shape
        dims = tuple(range(own.ndim)) if self.dim is None else self.dim
        got = norm_grad(
            restore(g, sizes, dims, self.keepdim), x, restore(y, sizes, dims, self.keepdim), self.ord, dims)
        return got if self.dtype is None or got is None else cast.cast(got, own.dtype)


def norm_of(x: Array, p: Any, dim: Any, keepdim: bool) -> Array:
    if x.dtype.kind == "c":
        x = np.abs(x)
    own = x.dtype
    if own.itemsize == 2:
        x = x.astype(np.float32)
    if p == 2:
        square: Any = quick_squares(x) if dim is None and not keepdim else None
        y = np.sqrt(add_reduce(x * x, dim, None, None, keepdim)) if square is None else np.asarray(square ** 0.5, x.dtype)
        return packed(y.astype(own) if y.dtype != own else y)
    size = np.abs(x)
    if p == np.inf:
        y = np.maximum.reduce(size, dim, None, None, keepdim, 0)
    elif p == -np.inf:
        y = np.minimum.reduce(size, dim, None, None, keepdim)
    elif p == 0:
        y = add_reduce(x != 0, dim, x.dtype, None, keepdim)
    elif p == 1:
        y = add_reduce(size, dim, None, None, keepdim)
    else:
        y = add_reduce(size ** p, dim, None, None, keepdim) ** (1.0 / p)
    return packed(y.astype(own) if y.dtype != own else y)


def norm_grad(g: Value, x: Value, y: Value, p: Any, dims: Shape, nan_counts: bool = False) -> Value:
    """g and y broadcast against x.  A NaN has no sign: unless it counts, its gradient is zero where only signs matter.
    """
    own = raw(x)
    if own.dtype.kind == "c" and p != 2:
        got = norm_grad(g, pointwise.abs(x), y, p, dims, nan_counts)
        return None if got is None else got * complexes.sgn(x)
    sign = np.sign(own)
    if not nan_counts:
        sign = np.where(own != own, own.dtype.type(0), sign)
    if p == 0:
        return None
    if p == 1:
        return g * sign if nan_counts or not isinstance(x, TensorBase) else rounding.SgnBackward0().run(x) * g
    if p == 2:
        filled = nonzero(y)
        part = g / filled                       # zero where y is: so is its derivative then
        return x * (part if filled is y else choose.where(raw(y) == 0, 0.0, part))
    if p == np.inf or p == -np.inf:
        top = raw(y)
        won = (np.abs(own) == top) | (own != own)
        part = won / add_reduce(won, dims, own.dtype, None, True)
        if isinstance(x, TensorBase) and not nan_counts:
            return rounding.SgnBackward0().run(x) * (g * part.astype(own.dtype))
        return g * (sign * part).astype(own.dtype)
    size = x * sign
    if p < 1:
        size = nonzero(size)
        if not nan_counts:                              # a norm of NaN reaches the zeros, too
            steep = choose.where(own == 0, 0.0, arith.pow(size, p - 1) * sign)
            return steep * g * choose.where(raw(y) == 0, 0.0, arith.pow(nonzero(y), 1 - p))
        return choose.where((own == 0) | (raw(y) == 0), 0.0, (arith.pow(size, p - 1) * sign) * g * arith.pow(nonzero(y), 1 - p))
    if p < 2:
        return (arith.pow(size, p - 1) * sign) * (g / arith.pow(nonzero(y), p - 1))
    return (x * arith.pow(size, p - 2)) * (g / arith.pow(nonzero(y), p - 1))


def nonzero(x: Value) -> Value:
    """x with 1 where it is zero."""
    zero = raw(x) == 0
    return choose.where(zero, 1.0, x) if np.any(zero) else x


@final
class RenormBackward0(Unary):
    """Slices along dim whose p-norm exceeds maxnorm scaled down to it."""

    conjugates = False
    shows: ClassVar[Any] = {"dim": "dim", "maxnorm": "maxnorm", "p": "p"}

    def __init__(self, p: Any, dim: int, maxnorm: Any) -> None:
        self.p: Any = p
        self.dim = dim
        self.maxnorm: Any = maxnorm

    def forward(self, x: Array) -> Array:
        n = norm_of(wide(x), self.p, self.rest(x.ndim), True)
        return packed(x * self.factor(n).astype(x.dtype))

    def rest(self, ndim: int) -> Shape:
        return tuple([i for i in range(ndim) if i != self.dim])

    def factor(self, n: Array) -> Array:
        return np.where(n > self.maxnorm, self.maxnorm / (n + n.dtype.type(1e-7)), n.dtype.type(1))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        dims = self.rest(raw(x).ndim)
        n = norm(x, self.p, dims, True, None)
        over = raw(n) > self.maxnorm
        wide = choose.where(over, n, 1.0) + 1e-7
        along = sum_dims(complexes.real(g * complexes.conj(x)), dims, True)
        slope = choose.where(over, along * (-self.maxnorm / (wide * wide)), 0.0)
        part = norm_grad(slope, x, n, self.p, dims)
        got = g * choose.where(over, self.maxnorm / wide, 1.0)
        return got if part is None else got + choose.where(over, part, 0.0)


@final
class DistBackward0(Binary):
    """The norm of a - b."""

    shows: ClassVar[Any] = {"p": "p"}

    def __init__(self, p: Any) -> None:
        self.p: Any = p

    def forward(self, a: Array, b: Array) -> Array:
        return norm_of(np.asarray(a - b), self.p, None, False)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        gap = a - b
        return norm_grad(g, gap, y, self.p, tuple(range(raw(gap).ndim)))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        got = self.grad_a(g, a, b, y)
        if got is None:
            raise RuntimeError(
                "Expected a proper Tensor but got None (or an undefined Tensor in C++) for argument #0 'self'\n"
                "dist(p=0) counts elements: its second operand has no gradient")
        return -got


class Spread(Unary):
    shows: ClassVar[Any] = {"correction": "correction", "dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, correction: Any, keepdim: bool) -> None:
        self.dim: Any = dim
        self.correction: Any = correction
        self.keepdim = keepdim


@final
class VarBackward0(Spread):
    def forward(self, x: Array) -> Array:
        return variance(x, self.dim, self.correction, self.keepdim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return variance_grad(g, x, self.dim, self.correction, self.keepdim)


@final
class StdBackward0(Spread):
    """At a deviation of zero the gradient is zero."""

    def forward(self, x: Array) -> Array:
        return deviation(x, self.dim, self.correction, self.keepdim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return variance_grad(half_over(g, y), x, self.dim, self.correction, self.keepdim)


class WithMean(Many):
    shows: ClassVar[Any] = {"correction": "correction", "dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, correction: Any, keepdim: bool) -> None:
        super().__init__()
        self.dim: Any = dim
        self.correction: Any = correction
        self.keepdim = keepdim


@final
class VarMeanBackward0(WithMean):
    conjugates = False

    def forward(self, x: Array) -> list[Array]:
        return [variance(x, self.dim, self.correction, self.keepdim), average(x, self.dim, self.keepdim)]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return (variance_grad(gs[0], x, self.dim, self.correction, self.keepdim)
                + average_grad(gs[1], raw(x).shape, self.dim, self.keepdim))


@final
class StdMeanBackward0(WithMean):
    conjugates = False

    def forward(self, x: Array) -> list[Array]:
        return [deviation(x, self.dim, self.correction, self.keepdim), average(x, self.dim, self.keepdim)]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return (variance_grad(half_over(gs[0], ys[0]), x, self.dim, self.correction, self.keepdim)
                + average_grad(gs[1], raw(x).shape, self.dim, self.keepdim))


def all_dims(x: Array, dim: Any) -> Any:
    return tuple(range(x.ndim)) if dim is None else dim


def average(x: Array, dim: Any, keepdim: bool) -> Array:
    dims = all_dims(x, dim)
    return mean_of(x, dims, keepdim, count_of(x.shape, dims), None)


def average_grad(g: Value, sizes: Shape, dim: Any, keepdim: bool) -> Value:
    dims = tuple(range(len(sizes))) if dim is None else dim
    return shape.expand(restore(g, sizes, dims, keepdim) / (count_of(sizes, dims) or 1), sizes)


def freedom(n: int, correction: Any) -> Any:
    """How many of n numbers a variance divides by; a correction may be a fraction."""
    if correction is None:
        return n - 1
    return n - correction


def variance_in(x: Array, dim: Any, correction: Any, keepdim: bool) -> Array:
    """The variance; of half precision as float32."""
    dims = all_dims(x, dim)
    n = count_of(x.shape, dims)
    if x.dtype.itemsize == 2:
        x = x.astype(np.float32)
    gap = x - np.true_divide(add_reduce(x, dims, None, None, True), n, dtype=x.dtype)
    free = freedom(n, correction)
    squares = gap * gap if gap.dtype.kind != "c" else gap.real ** 2 + gap.imag ** 2
    return packed(np.true_divide(
        add_reduce(squares, dims, None, None, keepdim), free if free > 0 else 0, dtype=squares.dtype))


def variance(x: Array, dim: Any, correction: Any, keepdim: bool) -> Array:
    y = variance_in(x, dim, correction, keepdim)
    return y.astype(x.dtype) if y.dtype != x.dtype and x.dtype.kind != "c" else y


def deviation(x: Array, dim: Any, correction: Any, keepdim: bool) -> Array:
    y = np.sqrt(variance_in(x, dim, correction, keepdim))
    if x.dtype.itemsize == 4 and not np.isfinite(y).all():          # the squares may have been too large
        y = np.sqrt(variance_in(x.astype(np.float64), dim, correction, keepdim))
    return y.astype(x.dtype) if y.dtype != x.dtype and x.dtype.kind != "c" else y


def variance_grad(g: Value, x: Value, dim: Any, correction: Any, keepdim: bool) -> Value:
    own = raw(x)
    sizes: Shape = own.shape
    dims: Shape = all_dims(own, dim)
    free = freedom(count_of(sizes, dims), correction)
    g = restore(g, sizes, dims, keepdim)
    if free <= 0 and (dim is None or not sizes):
        limit: Array = np.where(own == average(own, dim, True), np.nan, np.inf).astype(own.real.dtype)
        g = shape.expand(g, sizes) * limit
        return cast.cast(g, own.dtype) if own.dtype.kind == "c" else g
    return (g * (2.0 / free if free else np.inf)) * (x - mean_dims(x, dims, True))


def half_over(g: Value, y: Value) -> Value:
    """g / 2y, zero where y is."""
    zero = raw(y) == 0
    if np.any(zero):
        return choose.where(zero, 0.0, g / (choose.where(zero, 1.0, y) * 2))
    return g / (y * 2)


@final
class LogsumexpBackward0(Unary):
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Shape, keepdim: bool) -> None:
        self.dim = dim
        self.keepdim = keepdim

    def quick(self, x: Array) -> Array:
        return quick_logsumexp(x, self.dim[0], self.keepdim) if len(self.dim) == 1 else None

    def forward(self, x: Array) -> Array:
        own = x.dtype
        if own.itemsize == 2:
            x = x.astype(np.float32)
        if x.size == 0:
            return np.log(add_reduce(x, self.dim, None, None, self.keepdim)).astype(own)
        top = np.maximum.reduce(x.real, self.dim, None, None, True)
        top = np.where(np.isinf(top), np.zeros((), top.dtype), top)
        y = by_parts.of(np.log, add_reduce(by_parts.of(np.exp, x - top), self.dim, None, None, True)) + top
        if not self.keepdim:
            y = y.reshape(tuple([y.shape[i] for i in range(y.ndim) if i not in self.dim]))
        return packed(y.astype(own))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = raw(x).shape
        g = restore(g, sizes, self.dim, self.keepdim)
        return g * pointwise.exp(x - restore(y, sizes, self.dim, self.keepdim))


def norm(x: Value, p: Any, dims: Optional[Shape], keepdim: bool, dtype: Any) -> Value:
    """The vector norm over dims (None: all)."""
    return LinalgVectorNormBackward0(p, dims, keepdim, dtype).run(x)


def dist(a: Value, b: Value, p: Any) -> Value:
    return DistBackward0(p).run(a, b)


def var(x: Value, dims: Optional[Shape], correction: Any, keepdim: bool) -> Value:
    return VarBackward0(dims, correction, keepdim).run(x)


def std(x: Value, dims: Optional[Shape], correction: Any, keepdim: bool) -> Value:
    return StdBackward0(dims, correction, keepdim).run(x)


def logsumexp(x: Value, dims: Shape, keepdim: bool) -> Value:
    return LogsumexpBackward0(dims, keepdim).run(x)


from . import arith, cast, choose, complexes, pointwise, rounding, shape  # noqa: E402
from .pointwise import wide  # noqa: E402
