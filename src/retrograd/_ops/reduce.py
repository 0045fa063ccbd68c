"""Reductions and running reductions.

Half precision adds up in float32.  Where several elements are the extreme, full reductions share the gradient among
them, reductions along one dim give it to the element that the indices name.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine.nary import Many
from .._engine.node import Array, Shape, Value
from .._engine.op import A, B, Binary, Unary, X, Y
from .._engine.tensor import TensorBase

np: Final[Any] = numpy
add_reduce: Final[Any] = numpy.add.reduce


@final
class SumBackward0(Unary):
    """All elements."""

    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype                 # of the result; None: the input's
        self.like: Any = None
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        self.like = x.dtype
        return total(x, None, False, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.dtype is not None:
            g = cast.cast(g, self.like)
        return shape.expand(g, self.was)


@final
class SumBackward1(Unary):
    """Some dims."""

    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim", "self_sym_sizes": "was"}

    def __init__(self, dim: Shape, keepdim: bool, dtype: Any) -> None:
        self.dim = dim
        self.keepdim = keepdim
        self.dtype: Any = dtype
        self.like: Any = None
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        self.like = x.dtype
        return total(x, self.dim, self.keepdim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.dtype is not None:
            g = cast.cast(g, self.like)
        return shape.expand(restore(g, self.was, self.dim, self.keepdim), self.was)


def total(x: Array, dim: Any, keepdim: bool, dtype: Any) -> Array:
    """The sum over dims (None: all) in dtype; integers add up in int64, half precision in float32."""
    if dtype is None:
        own = x.dtype
        if own.kind in "iub":
            return add_reduce(x, dim, np.int64, None, keepdim)
        if own.itemsize == 2:
            return add_reduce(x, dim, np.float32, None, keepdim).astype(own)
        return add_reduce(x, dim, None, None, keepdim)
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return add_reduce(x, dim, np.float32, None, keepdim).astype(dtype)
    return add_reduce(x.astype(dtype), dim, dtype, None, keepdim)


@final
class MeanBackward0(Unary):
    shows: ClassVar[Any] = {"self_sym_numel": "count", "self_sym_sizes": "was"}

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype
        self.like: Any = None
        self.was: Shape = ()
        self.count: int = 1

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        self.like = x.dtype
        self.count = x.size
        return mean_of(x, None, False, x.size, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.dtype is not None:
            g = cast.cast(g, self.like)
        return shape.expand(g / self.count if self.count else g, self.was)


@final
class MeanBackward1(Unary):
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim", "self_sym_numel": "count", "self_sym_sizes": "was"}

    def __init__(self, dim: Shape, keepdim: bool, dtype: Any) -> None:
        self.dim = dim
        self.keepdim = keepdim
        self.dtype: Any = dtype
        self.like: Any = None
        self.was: Shape = ()
        self.count: int = 1

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        self.like = x.dtype
        self.count = count_of(x.shape, self.dim)
        return mean_of(x, self.dim, self.keepdim, self.count, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.dtype is not None:
            g = cast.cast(g, self.like)
        g = restore(g, self.was, self.dim, self.keepdim)
        return shape.expand(g / self.count if self.count else g, self.was)


def count_of(sizes: Shape, dims: Shape) -> int:
    """How many elements one result of a reduction over dims is made of."""
    n = 1
    for d in dims:
        n *= sizes[d]
    return n


def mean_of(x: Array, dim: Any, keepdim: bool, n: int, dtype: Any) -> Array:
    if dtype is not None and dtype is not x.dtype:
        x = x.astype(dtype)
    if x.dtype.itemsize == 2:
        return np.true_divide(add_reduce(x, dim, np.float32, None, keepdim), np.float32(n)).astype(x.dtype)
    return np.true_divide(add_reduce(x, dim, None, None, keepdim), n, dtype=x.dtype)


@final
class NansumBackward0(Unary):
    """The sum of what is not NaN."""

    keep = X
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, keepdim: bool, dtype: Any) -> None:
        self.dim: Any = dim
        self.keepdim = keepdim
        self.dtype: Any = dtype

    def forward(self, x: Array) -> Array:
        return total(np.where(np.isnan(x), np.zeros((), x.dtype), x), self.dim, self.keepdim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if self.dtype is not None:
            g = cast.cast(g, own.dtype)
        return choose.where(np.isnan(own), 0.0, shape.expand(restore(g, own.shape, self.dim, self.keepdim), own.shape))


# Products.

@final
class ProdBackward0(Unary):
    """All elements."""

    keep = X | Y

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype

    def forward(self, x: Array) -> Array:
        return product(x, None, False, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if self.dtype is not None:
            x = cast.cast(x, self.dtype)
        if raw(y) != 0:
            got = (g * y) / x
        else:
            got = g * shape.reshape(others(shape.flat(x)), own.shape)
        return got if self.dtype is None else cast.cast(got, own.dtype)


@final
class ProdBackward1(Unary):
    """One dim."""

    keep = X | Y
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: int, keepdim: bool, dtype: Any) -> None:
        self.dim = dim
        self.keepdim = keepdim
        self.dtype: Any = dtype

    def forward(self, x: Array) -> Array:
        return product(x, self.dim if x.ndim else None, self.keepdim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if self.dtype is not None:
            x = cast.cast(x, self.dtype)
        g = restore(g, own.shape, (self.dim,), self.keepdim)
        if own.ndim == 0 or np.all(raw(y) != 0):
            y = restore(y, own.shape, (self.dim,), self.keepdim)
            got = g * 1 if own.ndim == 0 else (g * y) / x
        else:
            last = shape.transpose(x, self.dim, own.ndim - 1)
            got = g * shape.transpose(others(last), self.dim, own.ndim - 1)
        return got if self.dtype is None else cast.cast(got, own.dtype)


def product(x: Array, dim: Any, keepdim: bool, dtype: Any) -> Array:
    if dtype is not None:
        x = x.astype(dtype)
    if x.dtype.kind in "iub":
        return np.multiply.reduce(x, dim, np.int64 if dtype is None else dtype, None, keepdim)
    if x.dtype.itemsize == 2:
        return np.multiply.reduce(x, dim, np.float32, None, keepdim).astype(x.dtype)
    return np.multiply.reduce(x, dim, None, None, keepdim)


def others(x: Value) -> Value:
    """Along the last dim, the product of all other elements: exact where some are zero."""
    if not isinstance(x, TensorBase):
        before = np.ones_like(x)
        after = np.ones_like(x)
        np.multiply.accumulate(x[..., :-1], -1, out=before[..., 1:])
        np.multiply.accumulate(x[..., :0:-1], -1, out=after[..., -2::-1])
        return before * after
    return prod_dim(without_own(x), x.array.ndim, False)


def without_own(x: Value) -> Value:
    """(..., n) -> (..., n, n): row i is x with its element i replaced by 1."""
    sizes: Shape = raw(x).shape
    n = sizes[len(sizes) - 1]
    rows = shape.expand(shape.unsqueeze(x, len(sizes) - 1), sizes + (n,))
    return choose.masked_fill(rows, np.eye(n, dtype=bool), 1.0)


# Extremes.

class Extreme(Unary):
    """One of all elements; those equal to it share the gradient."""

    keep = X | Y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return share_all(g, raw(x), raw(y))


@final
class MaxBackward1(Extreme):
    def forward(self, x: Array) -> Array:
        return np.maximum.reduce(x, None)


@final
class MinBackward1(Extreme):
    def forward(self, x: Array) -> Array:
        return np.minimum.reduce(x, None)


@final
class MedianBackward0(Extreme):
    """The lower of the two middle elements; NaN when there is one."""

    def forward(self, x: Array) -> Array:
        flat = np.sort(x.reshape(-1))
        if flat.size == 0:
            return np.array(np.nan).astype(x.dtype)
        last = flat[flat.size - 1]
        return last if last != last else flat[(flat.size - 1) // 2]


@final
class NanmedianBackward0(Extreme):
    """The lower middle one of what is not NaN."""

    def forward(self, x: Array) -> Array:
        flat = np.sort(x.reshape(-1))
        n = int(np.count_nonzero(flat == flat))
        return flat[(n - 1) // 2] if n else np.array(np.nan).astype(x.dtype)


def share_all(g: Value, x: Array, y: Array) -> Value:
    """g in equal parts on the elements of x that are y."""
    won = np.isnan(x) if y != y else x == y
    return choose.where(won, shape.expand(g / int(np.count_nonzero(won)), x.shape), 0.0)


class ExtremeOfDims(Unary):
    """The extreme along dims; ties share."""

    keep = X | Y
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Shape, keepdim: bool) -> None:
        self.dim = dim
        self.keepdim = keepdim

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return share_dims(g, raw(x), raw(y), self.dim, self.keepdim)


@final
class AmaxBackward0(ExtremeOfDims):
    def forward(self, x: Array) -> Array:
        return np.maximum.reduce(x, self.dim, None, None, self.keepdim)


@final
class AminBackward0(ExtremeOfDims):
    def forward(self, x: Array) -> Array:
        return np.minimum.reduce(x, self.dim, None, None, self.keepdim)


def share_dims(g: Value, x: Array, y: Array, dims: Shape, keepdim: bool) -> Value:
    """g in equal parts on the elements of x that are their group's y; NaN where y is."""
    sizes: Shape = x.shape
    won = (x == restore(y, sizes, dims, keepdim)).astype(x.dtype)
    part = won / add_reduce(won, dims, None, None, True) if x.ndim else won
    return restore(g, sizes, dims, keepdim) * part


@final
class AminmaxBackward0(Many):
    keep = X | Y
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, keepdim: bool) -> None:
        super().__init__()
        self.dim: Any = dim
        self.keepdim = keepdim

    def forward(self, x: Array) -> list[Array]:
        dim = self.dim if x.ndim else None
        keep = self.keepdim
        return [np.minimum.reduce(x, dim, None, None, keep), np.maximum.reduce(x, dim, None, None, keep)]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        own = raw(x)
        dims = tuple(range(own.ndim)) if self.dim is None else (self.dim,)
        return (share_dims(gs[0], own, raw(ys[0]), dims, self.keepdim)
                + share_dims(gs[1], own, raw(ys[1]), dims, self.keepdim))


class Choice(Unary):
    """One element along one dim; `indices` says which."""

    holds = True
    shows: ClassVar[Any] = {"dim": "dim", "indices": "indices", "keepdim": "keepdim", "self_sym_sizes": "was"}

    def __init__(self, dim: int, keepdim: bool) -> None:
        self.dim = dim
        self.keepdim = keepdim
        self.indices: Array = None
        self.was: Shape = ()

    def drop(self) -> None:
        self.indices = None

    def find(self, x: Array) -> Array:
        """Indices with the dim kept; x has dims."""
        raise NotImplementedError

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        if x.ndim == 0:
            self.indices = np.zeros((), np.int64)
            return np.array(x)
        found = self.find(x)
        y = np.take_along_axis(x, found, self.dim)
        if self.keepdim:
            self.indices = found
            return y
        self.indices = np.asarray(found.squeeze(self.dim))
        return y.squeeze(self.dim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if not self.was:
            return g * 1
        if self.keepdim:
            return gather.scatter_zeros(g, self.dim, self.indices, self.was, False)
        return gather.scatter_zeros(
            shape.unsqueeze(g, self.dim), self.dim, np.expand_dims(self.indices, self.dim), self.was, False)


@final
class MaxBackward0(Choice):
    """The greatest, the first at a tie."""

    def find(self, x: Array) -> Array:
        return np.argmax(x, self.dim, keepdims=True)


@final
class MinBackward0(Choice):
    def find(self, x: Array) -> Array:
        return np.argmin(x, self.dim, keepdims=True)


@final
class MedianBackward1(Choice):
    """The lower middle element; NaN when there is one."""

    def find(self, x: Array) -> Array:
        return middle_index(x, self.dim, False)


@final
class NanmedianBackward1(Choice):
    def find(self, x: Array) -> Array:
        return middle_index(x, self.dim, True)


@final
class KthvalueBackward0(Choice):
    """The k-th smallest; NaN counts as the greatest."""

    k: int = 1

    def find(self, x: Array) -> Array:
        return np.argsort(x, self.dim, kind="stable").take([self.k - 1], self.dim)


@final
class ModeBackward0(Choice):
    """The most frequent element, the smallest at a tie, where it comes last."""

    def find(self, x: Array) -> Array:
        rows = np.moveaxis(x, self.dim, -1)
        order = np.argsort(rows, -1, kind="stable")
        ranked = np.take_along_axis(rows, order, -1)
        at = np.arange(rows.shape[-1])
        new = np.ones(ranked.shape, bool)
        new[..., 1:] = ranked[..., 1:] != ranked[..., :-1]
        length = at - np.maximum.accumulate(np.where(new, at, 0), -1)   # of the run so far, less one
        best = np.argmax(length, -1, keepdims=True)
        return np.moveaxis(np.take_along_axis(order, best, -1), -1, self.dim)


def middle_index(x: Array, dim: int, skip_nan: bool) -> Array:
    """Where the lower middle element along dim is; NaN, if not skipped, is the middle."""
    order = np.argsort(x, dim, kind="stable")           # NaN comes last
    n = x.shape[dim]
    fine = np.count_nonzero(x == x, dim, keepdims=True)
    if skip_nan:
        return np.take_along_axis(order, np.maximum(fine - 1, 0) // 2, dim)
    return np.take_along_axis(order, np.where(fine < n, fine, (n - 1) // 2), dim)


# Norms and moments.

@final
class LinalgVectorNormBackward0(Unary):
    """(sum |x|**ord)**(1/ord) over dims; at a norm of zero the gradient is zero."""

    keep = X | Y
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
    own = x.dtype
    if own.itemsize == 2:
        x = x.astype(np.float32)
    size = np.abs(x)
    if p == 2:
        y = np.sqrt(add_reduce(x * x, dim, None, None, keepdim))
    elif p == np.inf:
        y = np.maximum.reduce(size, dim, None, None, keepdim, 0)
    elif p == -np.inf:
        y = np.minimum.reduce(size, dim, None, None, keepdim)
    elif p == 0:
        y = add_reduce(x != 0, dim, x.dtype, None, keepdim)
    elif p == 1:
        y = add_reduce(size, dim, None, None, keepdim)
    else:
        y = add_reduce(size ** p, dim, None, None, keepdim) ** (1.0 / p)
    return y.astype(own) if y.dtype != own else y


def norm_grad(g: Value, x: Value, y: Value, p: Any, dims: Shape, nan_counts: bool = False) -> Value:
    """g and y broadcast against x.  A NaN has no sign: unless it counts, its gradient is zero where only signs matter.
    """
    own = raw(x)
    sign = np.sign(own)
    if not nan_counts:
        sign = np.where(own != own, own.dtype.type(0), sign)
    if p == 0:
        return None
    if p == 1:
        return g * sign
    if p == 2:
        return x * (g / nonzero(y))
    if p == np.inf or p == -np.inf:
        top = raw(y)
        won = (np.abs(own) == top) | (own != own)
        part = (sign * won / add_reduce(won, dims, own.dtype, None, True)).astype(own.dtype)
        return g * part
    size = x * sign
    if p < 1:
        size = nonzero(size)
        return choose.where((own == 0) | (raw(y) == 0), 0.0, (arith.pow(size, p - 1) * sign) * (g / arith.pow(nonzero(y), p - 1)))
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

    keep = X
    shows: ClassVar[Any] = {"dim": "dim", "maxnorm": "maxnorm", "p": "p"}

    def __init__(self, p: Any, dim: int, maxnorm: Any) -> None:
        self.p: Any = p
        self.dim = dim
        self.maxnorm: Any = maxnorm

    def forward(self, x: Array) -> Array:
        n = norm_of(x, self.p, self.rest(x.ndim), True)
        return (x * self.factor(n)).astype(x.dtype)

    def rest(self, ndim: int) -> Shape:
        return tuple([i for i in range(ndim) if i != self.dim])

    def factor(self, n: Array) -> Array:
        return np.where(n > self.maxnorm, self.maxnorm / (n + n.dtype.type(1e-7)), n.dtype.type(1))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        dims = self.rest(raw(x).ndim)
        n = norm(x, self.p, dims, True, None)
        over = raw(n) > self.maxnorm
        wide = choose.where(over, n, 1.0) + 1e-7
        slope = choose.where(over, sum_dims(g * x, dims, True) * (-self.maxnorm / (wide * wide)), 0.0)
        part = norm_grad(slope, x, n, self.p, dims)
        got = g * choose.where(over, self.maxnorm / wide, 1.0)
        return got if part is None else got + choose.where(over, part, 0.0)


@final
class DistBackward0(Binary):
    """The norm of a - b."""

    reads_a = A | B | Y
    reads_b = A | B | Y
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
        return None if got is None else -got


@final
class VarBackward0(Unary):
    keep = X
    shows: ClassVar[Any] = {"correction": "correction", "dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, correction: Any, keepdim: bool) -> None:
        self.dim: Any = dim
        self.correction: Any = correction
        self.keepdim = keepdim

    def forward(self, x: Array) -> Array:
        return variance(x, self.dim, self.correction, self.keepdim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return variance_grad(g, x, self.dim, self.correction, self.keepdim)


@final
class StdBackward0(Unary):
    """At a deviation of zero the gradient is zero."""

    keep = X | Y
    shows: ClassVar[Any] = {"correction": "correction", "dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, correction: Any, keepdim: bool) -> None:
        self.dim: Any = dim
        self.correction: Any = correction
        self.keepdim = keepdim

    def forward(self, x: Array) -> Array:
        return deviation(x, self.dim, self.correction, self.keepdim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return variance_grad(half_over(g, y), x, self.dim, self.correction, self.keepdim)


@final
class VarMeanBackward0(Many):
    keep = X
    shows: ClassVar[Any] = {"correction": "correction", "dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, correction: Any, keepdim: bool) -> None:
        super().__init__()
        self.dim: Any = dim
        self.correction: Any = correction
        self.keepdim = keepdim

    def forward(self, x: Array) -> list[Array]:
        return [variance(x, self.dim, self.correction, self.keepdim), average(x, self.dim, self.keepdim)]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return (variance_grad(gs[0], x, self.dim, self.correction, self.keepdim)
                + average_grad(gs[1], raw(x).shape, self.dim, self.keepdim))


@final
class StdMeanBackward0(Many):
    keep = X | Y
    shows: ClassVar[Any] = {"correction": "correction", "dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, correction: Any, keepdim: bool) -> None:
        super().__init__()
        self.dim: Any = dim
        self.correction: Any = correction
        self.keepdim = keepdim

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


def variance_in(x: Array, dim: Any, correction: Any, keepdim: bool) -> Array:
    """The variance; of half precision as float32."""
    dims = all_dims(x, dim)
    n = count_of(x.shape, dims)
    if x.dtype.itemsize == 2:
        x = x.astype(np.float32)
    gap = x - np.true_divide(add_reduce(x, dims, None, None, True), n, dtype=x.dtype)
    free = n - (1 if correction is None else correction)
    return np.true_divide(add_reduce(gap * gap, dims, None, None, keepdim), free if free > 0 else 0, dtype=x.dtype)


def variance(x: Array, dim: Any, correction: Any, keepdim: bool) -> Array:
    y = variance_in(x, dim, correction, keepdim)
    return y.astype(x.dtype) if y.dtype != x.dtype else y


def deviation(x: Array, dim: Any, correction: Any, keepdim: bool) -> Array:
    y = np.sqrt(variance_in(x, dim, correction, keepdim))
    if x.dtype.itemsize == 4 and not np.isfinite(y).all():          # the squares may have been too large
        y = np.sqrt(variance_in(x.astype(np.float64), dim, correction, keepdim))
    return y.astype(x.dtype) if y.dtype != x.dtype else y


def variance_grad(g: Value, x: Value, dim: Any, correction: Any, keepdim: bool) -> Value:
    own = raw(x)
    sizes: Shape = own.shape
    dims: Shape = all_dims(own, dim)
    free = count_of(sizes, dims) - (1 if correction is None else correction)
    g = restore(g, sizes, dims, keepdim)
    if free < 0:
        return shape.expand(g * np.inf, sizes)
    return (g * (2.0 / free if free else np.inf)) * (x - mean_dims(x, dims, True))


def half_over(g: Value, y: Value) -> Value:
    """g / 2y, zero where y is."""
    zero = raw(y) == 0
    if np.any(zero):
        return choose.where(zero, 0.0, g / (choose.where(zero, 1.0, y) * 2))
    return g / (y * 2)


@final
class LogsumexpBackward0(Unary):
    keep = X | Y
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Shape, keepdim: bool) -> None:
        self.dim = dim
        self.keepdim = keepdim

    def forward(self, x: Array) -> Array:
        own = x.dtype
        if own.itemsize == 2:
            x = x.astype(np.float32)
        if x.size == 0:
            return np.log(add_reduce(x, self.dim, None, None, self.keepdim)).astype(own)
        top = np.maximum.reduce(x, self.dim, None, None, True)
        top = np.where(np.isinf(top), np.zeros((), x.dtype), top)
        y = np.log(add_reduce(np.exp(x - top), self.dim, None, None, True)) + top
        if not self.keepdim:
            y = y.reshape(tuple([y.shape[i] for i in range(y.ndim) if i not in self.dim]))
        return y.astype(own)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = raw(x).shape
        g = restore(g, sizes, self.dim, self.keepdim)
        return g * pointwise.exp(x - restore(y, sizes, self.dim, self.keepdim))


# Running reductions.

@final
class CumsumBackward0(Unary):
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int, dtype: Any) -> None:
        self.dim = dim
        self.dtype: Any = dtype
        self.like: Any = None

    def forward(self, x: Array) -> Array:
        self.like = x.dtype
        return running(np.add, x, self.dim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        got = from_end(g, self.dim)
        return cast.cast(got, self.like) if self.dtype is not None else got


@final
class CumprodBackward0(Unary):
    keep = X | Y
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int, dtype: Any) -> None:
        self.dim = dim
        self.dtype: Any = dtype

    def forward(self, x: Array) -> Array:
        return running(np.multiply, x, self.dim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if self.dtype is not None:
            x = cast.cast(x, self.dtype)
        if own.ndim == 0:
            got = g * 1
        elif np.all(own != 0):
            got = from_end(g * y, self.dim) / x
        else:
            last = own.ndim - 1
            x = without_own(shape.transpose(x, self.dim, last))
            upper = np.triu(np.ones((own.shape[self.dim], own.shape[self.dim]), bool))
            terms = choose.where(upper, cumprod(x, last + 1, None), 0.0)
            g = shape.unsqueeze(shape.transpose(g, self.dim, last), last)
            got = shape.transpose(sum_dims(terms * g, (last + 1,), False), self.dim, last)
        return got if self.dtype is None else cast.cast(got, own.dtype)


def log_from_end(g: Array, y: Array, dim: int) -> Array:
    """log of the running sum, from the far end, of exp(-y) times the positive part of g"""
    return np.flip(np.logaddexp.accumulate(np.flip(np.log(np.maximum(g, 0)) - y, dim), dim), dim)


@final
class LogcumsumexpBackward0(Unary):
    keep = X | Y
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        if x.ndim == 0:
            return np.array(x)
        own = x.dtype
        y = np.logaddexp.accumulate(x.astype(np.float32) if own.itemsize == 2 else x, self.dim)
        return y.astype(own) if y.dtype != own else y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if own.ndim == 0:
            return g * 1
        if not isinstance(x, TensorBase) and not isinstance(g, TensorBase):
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

    keep = X
    holds = True
    shows: ClassVar[Any] = {"dim": "dim", "indices": "indices"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.indices: Array = None

    def drop(self) -> None:
        self.indices = None

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = raw(x).shape
        return gather.scatter_zeros(g, self.dim, self.indices, sizes, True) if sizes else g * 1


@final
class CummaxBackward0(Record):
    def forward(self, x: Array) -> Array:
        y, self.indices = record(np.maximum, x, self.dim)
        return y


@final
class CumminBackward0(Record):
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
    return y, np.maximum.accumulate(np.where(reached, here, 0), dim)


def running(how: Any, x: Array, dim: int, dtype: Any) -> Array:
    if dtype is None:
        dtype = np.dtype(np.int64) if x.dtype.kind in "iub" else x.dtype
    if x.ndim == 0:
        return np.array(x).astype(dtype)
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return how.accumulate(x.astype(np.float32), dim).astype(dtype)
    return how.accumulate(x.astype(dtype, copy=False), dim)


def from_end(g: Value, dim: int) -> Value:
    """The running sum from the far end."""
    if raw(g).ndim == 0:
        return g
    return shape.flip(cumsum(shape.flip(g, (dim,)), dim, None), (dim,))


# Functions.

def raw(x: Value) -> Array:
    """The array of a Tensor; arrays as they are."""
    return x.array if isinstance(x, TensorBase) else x


def sum(x: Value) -> Value:
    return SumBackward0(None).run(x)


def sum_as(x: Value, dtype: Any) -> Value:
    return SumBackward0(dtype).run(x)


def sum_dims(x: Value, dims: Shape, keepdim: bool) -> Value:
    """dims sorted or not, all non-negative."""
    return SumBackward1(dims, keepdim, None).run(x)


def sum_dims_as(x: Value, dims: Shape, keepdim: bool, dtype: Any) -> Value:
    return SumBackward1(dims, keepdim, dtype).run(x)


def mean(x: Value) -> Value:
    return MeanBackward0(None).run(x)


def mean_as(x: Value, dtype: Any) -> Value:
    return MeanBackward0(dtype).run(x)


def mean_dims(x: Value, dims: Shape, keepdim: bool) -> Value:
    return MeanBackward1(dims, keepdim, None).run(x)


def mean_dims_as(x: Value, dims: Shape, keepdim: bool, dtype: Any) -> Value:
    return MeanBackward1(dims, keepdim, dtype).run(x)


def nansum(x: Value, dims: Optional[Shape], keepdim: bool, dtype: Any) -> Value:
    """Floating point only."""
    return NansumBackward0(dims, keepdim, dtype).run(x)


def prod(x: Value, dtype: Any) -> Value:
    return ProdBackward0(dtype).run(x)


def prod_dim(x: Value, dim: int, keepdim: bool) -> Value:
    return ProdBackward1(dim, keepdim, None).run(x)


def prod_dim_as(x: Value, dim: int, keepdim: bool, dtype: Any) -> Value:
    return ProdBackward1(dim, keepdim, dtype).run(x)


def max_all(x: Value) -> Value:
    return MaxBackward1().run(x)


def min_all(x: Value) -> Value:
    return MinBackward1().run(x)


def median_all(x: Value) -> Value:
    return MedianBackward0().run(x)


def nanmedian_all(x: Value) -> Value:
    return NanmedianBackward0().run(x)


def amax(x: Value, dims: Shape, keepdim: bool) -> Value:
    return AmaxBackward0(dims, keepdim).run(x)


def amin(x: Value, dims: Shape, keepdim: bool) -> Value:
    return AminBackward0(dims, keepdim).run(x)


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


def cumsum(x: Value, dim: int, dtype: Any) -> Value:
    return CumsumBackward0(dim, dtype).run(x)


def cumprod(x: Value, dim: int, dtype: Any) -> Value:
    return CumprodBackward0(dim, dtype).run(x)


def logcumsumexp(x: Value, dim: int) -> Value:
    return LogcumsumexpBackward0(dim).run(x)


def restore(g: Value, was: Shape, dims: Any, keepdim: bool) -> Value:
    """g with the reduced dims back as 1, so that it broadcasts against the input."""
    if keepdim or not was or dims is None:
        return g
    return shape.reshape(g, tuple([1 if i in dims else was[i] for i in range(len(was))]))


from . import arith, cast, choose, gather, pointwise, shape  # noqa: E402
