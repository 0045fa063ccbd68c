"""Reductions that choose: max, median, kthvalue, mode.

Where several elements are the extreme, full reductions share the gradient among them, reductions along one dim give it to
the element that the indices name.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Many
from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .._kernels import kernel
from .order import Picked
from .packed import packed
from .reduce import add_reduce, raw, restore

np: Final[Any] = numpy
quick_extreme: Final[Any] = kernel("extreme")
quick_gather: Final[Any] = kernel("gather")
quick_kth: Final[Any] = kernel("kth")
quick_middle: Final[Any] = kernel("middle")


class Extreme(Unary):
    """One of all elements; those equal to it share the gradient."""

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
        if x.size == 0:
            return np.array(np.nan).astype(x.dtype)
        middle = (x.size - 1) // 2
        flat = x.reshape(-1)
        nan = np.argmax(flat != flat)
        return flat[nan] if flat[nan] != flat[nan] else np.partition(order.sortable(flat), middle)[middle].astype(x.dtype)


@final
class NanmedianBackward0(Extreme):
    """The lower middle one of what is not NaN."""

    def forward(self, x: Array) -> Array:
        flat = order.sortable(x.reshape(-1))
        n = int(np.count_nonzero(flat == flat))
        middle = (n - 1) // 2
        return np.partition(flat, middle).astype(x.dtype, copy=False)[middle] if n else np.array(np.nan).astype(x.dtype)


def share_all(g: Value, x: Array, y: Array) -> Value:
    """g in equal parts on the elements of x that are y."""
    won = np.isnan(x) if y != y else x == y
    return choose.where(won, shape.expand(g / int(np.count_nonzero(won)), x.shape), 0.0)


class ExtremeOfDims(Unary):
    """The extreme along dims; ties share."""

    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Shape, keepdim: bool) -> None:
        self.dim = dim
        self.keepdim = keepdim

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return share_dims(g, raw(x), raw(y), self.dim, self.keepdim)


@final
class AmaxBackward0(ExtremeOfDims):
    def quick(self, x: Array) -> Array:
        return quick_extreme(x, self.dim, self.keepdim, True)

    def forward(self, x: Array) -> Array:
        return packed(np.maximum.reduce(x, self.dim, None, None, self.keepdim))


@final
class AminBackward0(ExtremeOfDims):
    def quick(self, x: Array) -> Array:
        return quick_extreme(x, self.dim, self.keepdim, False)

    def forward(self, x: Array) -> Array:
        return packed(np.minimum.reduce(x, self.dim, None, None, self.keepdim))


def share_dims(g: Value, x: Array, y: Array, dims: Shape, keepdim: bool) -> Value:
    """g in equal parts on the elements of x that are their group's y; NaN where y is."""
    sizes: Shape = x.shape
    won = (x == restore(y, sizes, dims, keepdim)).astype(x.dtype)
    part = won / (add_reduce(won, dims, None, None, True) if x.ndim else won)
    return restore(g, sizes, dims, keepdim) * part


@final
class AminmaxBackward0(Many):
    shows: ClassVar[Any] = {"dim": "dim", "keepdim": "keepdim"}

    def __init__(self, dim: Any, keepdim: bool) -> None:
        super().__init__()
        self.dim: Any = dim
        self.keepdim = keepdim

    def forward(self, x: Array) -> list[Array]:
        dim = self.dim if x.ndim else None
        keep = self.keepdim
        along = tuple(range(x.ndim)) if dim is None else (dim,)
        low = quick_extreme(x, along, keep, False)
        if low is not None:
            return [low, quick_extreme(x, along, keep, True)]
        return [packed(np.minimum.reduce(x, dim, None, None, keep)), packed(np.maximum.reduce(x, dim, None, None, keep))]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        own = raw(x)
        dims = tuple(range(own.ndim)) if self.dim is None else (self.dim,)
        return (share_dims(gs[0], own, raw(ys[0]), dims, self.keepdim)
                + share_dims(gs[1], own, raw(ys[1]), dims, self.keepdim))


class Choice(Picked):
    """One element along one dim; `find` keeps the dim."""

    shows: ClassVar[Any] = {"dim": "dim", "indices": "indices", "keepdim": "keepdim", "self_sym_sizes": "was"}

    def __init__(self, dim: int, keepdim: bool) -> None:
        super().__init__(dim)
        self.keepdim = keepdim

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        if x.ndim == 0:
            self.indices = np.zeros((), np.int64)
            return np.array(x)
        found = self.find(x)
        y = quick_gather(x, self.dim, found)
        if y is None:
            y = np.take_along_axis(x, found, self.dim)
        if self.keepdim:
            self.indices = found
            return y
        self.indices = packed(np.asarray(found.squeeze(self.dim)))
        return packed(y.squeeze(self.dim))

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
        return x.argmax(self.dim, keepdims=True)


@final
class MinBackward0(Choice):
    def find(self, x: Array) -> Array:
        return x.argmin(self.dim, keepdims=True)


@final
class MedianBackward1(Choice):
    """The lower middle element; NaN when there is one."""

    def find(self, x: Array) -> Array:
        return middle_index(x, self.dim, False)


@final
class NanmedianBackward1(Choice):
    def find(self, x: Array) -> Array:
        return middle_index(x, self.dim, True)


SHORT: Final = 1000             # rows in which equal elements are told apart, where there are no kernels


def selected(row: list[Any], k: int) -> int:
    """Where the k-th smallest of a row is: of equal ones the one that a quickselect, as PyTorch's, brings to place k."""
    places = list(range(len(row)))
    low = 0
    high = len(row) - 1
    while high > low + 1:
        swap(row, places, low + (high - low) // 2, low + 1)
        if above(row[low + 1], row[high]):
            swap(row, places, low + 1, high)
        if above(row[low], row[high]):
            swap(row, places, low, high)
        if above(row[low + 1], row[low]):
            swap(row, places, low + 1, low)
        i = low + 1
        j = high
        pivot = row[low]
        while True:
            i += 1
            while above(pivot, row[i]):
                i += 1
            j -= 1
            while above(row[j], pivot):
                j -= 1
            if j < i:
                break
            swap(row, places, i, j)
        swap(row, places, low, j)
        if j <= k:
            low = i
        if j >= k:
            high = j - 1
    if high == low + 1 and above(row[low], row[high]):
        swap(row, places, low, high)
    return places[k]


def above(a: Any, b: Any) -> bool:
    """a > b, where NaN is the greatest."""
    return bool((a != a and b == b) or a > b)


def swap(row: list[Any], places: list[int], i: int, j: int) -> None:
    row[i], row[j] = row[j], row[i]
    places[i], places[j] = places[j], places[i]


@final
class KthvalueBackward0(Choice):
    """The k-th smallest; NaN counts as the greatest."""

    k: int = 1

    def find(self, x: Array) -> Array:
        if x.ndim:
            quick = quick_kth(order.comparable(np.moveaxis(x, self.dim, -1)), self.k - 1)
            if quick is not None:
                return np.moveaxis(quick, -1, self.dim)
        found = order.nth_of(x, self.dim, self.k - 1)
        if x.ndim and x.shape[self.dim] <= SHORT:
            equal = (x == np.take_along_axis(x, found, self.dim)).sum(self.dim) > 1
            rows = np.moveaxis(x, self.dim, -1)
            places = np.moveaxis(found, self.dim, -1)
            for at in np.argwhere(equal):
                where = tuple(at)
                places[where] = selected(rows[where].tolist(), self.k - 1)
        return found


@final
class ModeBackward0(Choice):
    """The most frequent element, the smallest at a tie, where it comes last."""

    def find(self, x: Array) -> Array:
        rows = np.moveaxis(order.sortable(x), self.dim, -1)
        ranked = np.sort(rows, -1)
        at = np.arange(rows.shape[-1])
        new = np.ones(ranked.shape, bool)
        new[..., 1:] = ranked[..., 1:] != ranked[..., :-1]
        length = at - np.maximum.accumulate(np.where(new, at, 0), -1)   # of the run so far, less one
        best = np.argmax(length, -1, keepdims=True)
        equal = rows == np.take_along_axis(ranked, best, -1)            # a row of NaN alone has none
        found = np.where(equal.any(-1, keepdims=True), at[-1:] - np.argmax(np.flip(equal, -1), -1, keepdims=True), 0)
        return np.moveaxis(found, -1, self.dim)


def middle_index(x: Array, dim: int, skip_nan: bool) -> Array:
    """Where the lower middle element along dim is; NaN, if not skipped, is the middle."""
    n = x.shape[dim]
    nan = x != x
    if nan.any():
        quick = quick_middle(order.comparable(np.moveaxis(x, dim, -1)), skip_nan)
        if quick is not None:
            return np.moveaxis(quick, -1, dim)
    if skip_nan and nan.any():
        places = order.order_of(x, dim, False)          # NaN comes last
        fine = n - np.count_nonzero(nan, dim, keepdims=True)
        return np.take_along_axis(places, np.maximum(fine - 1, 0) // 2, dim)
    found = order.nth_of(np.where(nan, np.inf, x).astype(x.dtype) if nan.any() else x, dim, (n - 1) // 2)
    return np.where(nan.any(dim, keepdims=True), np.argmax(nan, dim, keepdims=True), found)


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


from . import choose, gather, order, shape  # noqa: E402
