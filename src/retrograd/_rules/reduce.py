"""Sums, means, products.  Half precision adds up in float32."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .. import _kernels
from .._engine import promote
from .._engine.node import Array, Node, Shape, Value
from .._engine.op import Unary
from .._engine.tensor import TensorBase
from .packed import packed

np: Final[Any] = numpy
add_reduce: Final[Any] = numpy.add.reduce
sum_kernel: Final[Any] = _kernels.sum
mean_kernel: Final[Any] = _kernels.mean
quick_product: Final[Any] = _kernels.kernel("product")
sum_around: Final[Any] = _kernels.kernel("sum_around")
quick_nan_to_num: Final[Any] = _kernels.kernel("nan_to_num")
INFINITE: Final = float("inf")


@final
class SumBackward0(Unary):
    """All elements."""

    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype                 # of the result; None: the input's
        self.like: Any = None
        self.was: Shape = ()

    def quick(self, x: Array) -> Array:
        if sum_kernel is None or self.dtype is not None:
            return None
        self.was = x.shape
        return sum_kernel(x)

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
    return packed(sum_over(x, dim, keepdim, dtype))


def sum_over(x: Array, dim: Any, keepdim: bool, dtype: Any) -> Array:
    if dtype is None:
        own = x.dtype
        if own.kind in "iub":
            return add_reduce(x, dim, np.int64, None, keepdim)
        if own.itemsize == 2:
            return add_reduce(x, dim, np.float32, None, keepdim).astype(own)
        if dim is not None and len(dim) == x.ndim - 1 and x.size >= 4096:
            kept: int = 0                       # the one dim that stays
            while kept in dim:
                kept += 1
            y = sum_around(x, kept)
            if y is not None:
                return y.reshape((1,) * kept + (-1,) + (1,) * (x.ndim - 1 - kept)) if keepdim else y
        if own.kind == "c" and (dim is None or len(dim) == x.ndim) and x.size >= 4096 and x.flags.c_contiguous:
            return complex_total(x).reshape((1,) * x.ndim if keepdim else ())
        return add_reduce(x, dim, None, None, keepdim)
    if dtype.itemsize == 2 and dtype.kind in "fV":
        return add_reduce(cast.converted(x, promote.SINGLE), dim, None, None, keepdim).astype(dtype)
    return add_reduce(cast.converted(x, dtype), dim, dtype, None, keepdim)


def complex_total(x: Array) -> Array:
    """Of all numbers, in C order: 16 columns of them at a time, as real ones."""
    row = x.reshape(-1)
    whole: int = row.size // 16 * 16
    columns = sum_around(row[:whole].view(row.real.dtype).reshape(-1, 32), 1)
    if columns is None:
        return add_reduce(row)
    return add_reduce(np.concatenate([columns.view(row.dtype), row[whole:]]))


@final
class MeanBackward0(Unary):
    shows: ClassVar[Any] = {"self_sym_numel": "count", "self_sym_sizes": "was"}

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype
        self.like: Any = None
        self.was: Shape = ()
        self.count: int = 1

    def quick(self, x: Array) -> Array:
        if mean_kernel is None or self.dtype is not None:
            return None
        self.was = x.shape
        self.count = x.size
        return mean_kernel(x)

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        self.like = x.dtype
        self.count = x.size
        return mean_of(x, None, False, x.size, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        g = promote.over(g, self.count) if self.count else g
        return opened(g if self.dtype is None else cast.cast(g, self.like), self.was, self.next)


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
        g = promote.over(g, self.count) if self.count else g
        if self.dtype is not None:
            g = cast.cast(g, self.like)
        return opened(restore(g, self.was, self.dim, self.keepdim), self.was, self.next)


def opened(g: Value, sizes: Shape, to: Optional[Node]) -> Value:
    """g expanded; in memory of its own where hooks see it, which may edit the gradient of a mean."""
    g = shape.expand(g, sizes)
    if to is not None and to._hooks is not None and not isinstance(g, TensorBase):
        return np.array(g)
    return g


def count_of(sizes: Shape, dims: Shape) -> int:
    """How many elements one result of a reduction over dims is made of."""
    n = 1
    for d in dims:
        n *= sizes[d]
    return n


def mean_of(x: Array, dim: Any, keepdim: bool, n: int, dtype: Any) -> Array:
    if dtype is not None and dtype is not x.dtype:
        x = cast.converted(x, dtype)
    if x.dtype.itemsize == 2:
        return packed(np.true_divide(add_reduce(x, dim, np.float32, None, keepdim), np.float32(n)).astype(x.dtype))
    total_ = sum_over(x, dim, keepdim, None) if x.dtype.kind == "c" else add_reduce(x, dim, None, None, keepdim)
    return packed(np.true_divide(total_, n, dtype=x.dtype))


@final
class NansumBackward0(Unary):
    """The sum of what is not NaN."""

    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, keepdim: bool, dtype: Any) -> None:
        self.dim: Any = dim
        self.keepdim = keepdim
        self.dtype: Any = dtype

    def quick(self, x: Array) -> Array:
        if self.dim is not None or self.keepdim or self.dtype is not None or sum_kernel is None:
            return None
        return sum_kernel(quick_nan_to_num(x, 0.0, INFINITE, -INFINITE))

    def forward(self, x: Array) -> Array:
        return total(np.where(np.isnan(x), np.zeros((), x.dtype), x), self.dim, self.keepdim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = raw(x)
        if self.dtype is not None:
            g = cast.cast(g, own.dtype)
        return restore(g, own.shape, self.dim, self.keepdim) * (own == own).astype(own.dtype)


@final
class ProdBackward0(Unary):
    """All elements."""

    def __init__(self, dtype: Any) -> None:
        self.dtype: Any = dtype

    def quick(self, x: Array) -> Array:
        return quick_product(x) if self.dtype is None else None

    def forward(self, x: Array) -> Array:
        return product(x, None, False, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        dtype = raw(x).dtype
        if self.dtype is not None:
            x = cast.cast(x, self.dtype)
        own = raw(x)
        if own.ndim == 0:
            return cast.cast(g, dtype) if self.dtype is not None else g * 1
        zeros = own.size - np.count_nonzero(own)
        if zeros == 0:
            got = g * (y / x)
        elif zeros > 1 and not isinstance(x, TensorBase):
            return np.zeros(own.shape, dtype)
        else:
            got = shape.reshape(g * others(shape.flat(x)), own.shape)
        return got if self.dtype is None else cast.cast(got, dtype)


@final
class ProdBackward1(Unary):
    """One dim."""

    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: int, keepdim: bool, dtype: Any) -> None:
        self.dim = dim
        self.keepdim = keepdim
        self.dtype: Any = dtype

    def forward(self, x: Array) -> Array:
        return product(x, self.dim if x.ndim else None, self.keepdim, self.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        dtype = raw(x).dtype
        if self.dtype is not None:
            x = cast.cast(x, self.dtype)
        own = raw(x)
        g = restore(g, own.shape, (self.dim,), self.keepdim)
        if own.ndim == 0 or np.all(own != 0):
            y = restore(y, own.shape, (self.dim,), self.keepdim)
            got = g * 1 if own.ndim == 0 else g * (y / x)
        else:
            last = shape.transpose(x, self.dim, own.ndim - 1)
            got = g * shape.transpose(others(last), self.dim, own.ndim - 1)
        return got if self.dtype is None else cast.cast(got, dtype)


def product(x: Array, dim: Any, keepdim: bool, dtype: Any) -> Array:
    if dtype is not None:
        x = cast.converted(x, dtype)
    if x.dtype.kind in "iub":
        return packed(np.multiply.reduce(x, dim, np.int64 if dtype is None else dtype, None, keepdim))
    if x.dtype.itemsize == 2:
        if (x.size if dim is None else x.shape[dim]) < VECTORS:
            return in_steps(x, dim, keepdim)
        return packed(np.multiply.reduce(x, dim, np.float32, None, keepdim).astype(x.dtype))
    if x.dtype.kind == "c" and dim is None and not keepdim:
        return packed(np.multiply.reduce(halved(x.reshape(-1))))
    return packed(np.multiply.reduce(x, dim, None, None, keepdim))


def halved(row: Array) -> Array:
    """A few numbers with the same product: NumPy multiplies rows of complex numbers in vectors, but not one by the next."""
    while row.shape[0] > 32:
        half: int = row.shape[0] // 2
        last = row[2 * half:]
        row = row[:half] * row[half:2 * half]
        if last.shape[0]:
            row[:1] *= last
    return row


VECTORS: Final = 64         # from here on PyTorch multiplies in half precision in four vectors, before that one by one


def in_steps(x: Array, dim: Any, keepdim: bool) -> Array:
    """The product over dim (None: all), rounded after each factor."""
    rows = x.reshape(-1) if dim is None else np.moveaxis(x, dim, 0)
    y = np.ones(rows.shape[1:], x.dtype)
    for row in rows:
        y = np.asarray(y * row)
    return y.reshape((1,) * x.ndim) if keepdim and dim is None else np.expand_dims(y, dim) if keepdim else y


def others(x: Value) -> Value:
    """Along the last dim, the product of all other elements: exact where some are zero, and 1 where there are none."""
    if raw(x).shape[raw(x).ndim - 1] == 1:
        return np.ones_like(raw(x))
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


def restore(g: Value, was: Shape, dims: Any, keepdim: bool) -> Value:
    """g with the reduced dims back as 1, so that it broadcasts against the input."""
    if keepdim or not was or dims is None:
        return g
    return shape.reshape(g, tuple([1 if i in dims else was[i] for i in range(len(was))]))


from . import cast, choose, shape  # noqa: E402
