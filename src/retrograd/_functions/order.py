"""Sorting and what follows from it: torch.sort, topk, unique, searchsorted, bincount, ...

descending         True: the largest first
stable             True: equal elements keep their order
minlength          how many counts there are at least
out_int32          True: int32 instead of int64
right              True: behind equal values; False: before them
sorted_sequence    values in ascending order along the last dim
sorter             the order that sorts sorted_sequence, if it is not sorted
largest            False: the smallest
sorted             True: the results in order
return_inverse     True: also where in the result each element went
return_counts      True: also how often each came
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.promote import result_dtype
from .._engine.tensor import TensorBase, wrap
from .._rules import extremes, order
from .._tensor import dtypes
from .arguments import DOUBLE, aliased, dim_of, is_int, real_number, real_only, refused, scalar_name, sized, tensor
from .extremes import some
from .pointwise import not_implemented
from .results import pair


@aliased
def sort(input: Any, dim: int = -1, descending: bool = False, stable: bool = False, *, out: Any = None) -> Any:
    """Named tuple (values, indices) in order along dim; always stable.  NaN counts as the greatest.

    https://pytorch.org/docs/stable/generated/torch.sort.html
    """
    op = order.SortBackward0(sort_dim(dim, input, "sort"))
    op.descending = bool(descending)
    values = op.run(input)
    return pair("sort", values, op)


def sort_dim(dim: Any, x: TensorBase, function: str) -> int:
    if not is_int(dim):
        raise refused(
            function, (x, dim), "(Tensor input, *, bool stable, int dim = -1, bool descending = False)",
            "(Tensor input, int dim = -1, bool descending = False)")
    return dim_of(dim, x.array.ndim)


@aliased
def argsort(input: Any, dim: int = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """The indices that sort along dim, int64."""
    at = sort_dim(dim, input, "argsort")
    return wrap(np.asarray(order.order_of(input.array, at, bool(descending)), np.int64) if input.array.ndim
                else np.zeros((), np.int64))


def msort(input: Any, *, out: Any = None) -> Any:
    """The values in order along the first dim."""
    return sort(input, 0)[0]


@aliased
def topk(input: Any, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None) -> Any:
    """Named tuple (values, indices): the k greatest (or smallest) along dim, in order."""
    at = dim_of(dim, input.array.ndim)
    if not 0 <= k <= (input.array.shape[at] if input.array.ndim else 1):
        raise RuntimeError("selected index k out of range")
    if input.array.dtype.kind == "b":
        raise RuntimeError("topk does not support bool dtypes on CPU")
    op = order.TopkBackward0(at)
    op.k, op.largest = int(k), bool(largest)
    values = op.run(input)
    return pair("topk", values, op)


@aliased
def kthvalue(input: Any, k: int, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """Named tuple (values, indices): the k-th smallest along dim, counted from 1."""
    at = some(input, dim_of(dim, input.array.ndim), "kthvalue")
    if not 1 <= k <= (input.array.shape[at] if input.array.ndim else 1):
        raise RuntimeError(f"kthvalue(): selected number k out of range for dimension {at}")
    if input.array.dtype.kind == "b" and input.array.ndim:
        raise NotImplementedError("\"kthvalue_cpu\" not implemented for 'Bool'")
    op = extremes.KthvalueBackward0(at, keepdim)
    op.k = int(k)
    values = op.run(input)
    return pair("kthvalue", values, op)


def unique(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
           dim: int | None = None) -> Any:
    """The different elements (or slices along dim) in order; with inverse indices and counts if wanted.  No
    derivative.
    """
    x = tensor(input, "unique")
    name = "_unique2" if dim is None else "unique_dim"
    only_bools(name, sorted=sorted, return_inverse=return_inverse, return_counts=return_counts)
    real_only(x, "unique" if dim is None else "unique_dim")
    a = x.array
    if dim is not None:
        sized(x, dim)
        at = dim_of(dim, a.ndim)
        if not a.size and not a.shape[at] and a.shape.count(0) > 1:
            raise RuntimeError("Number of zero sized dimensions is more than one, so unique cannot be applied ")
        if not a.size and a.shape[at]:
            raise RuntimeError("There are 0 sized dimensions, and they aren't selected, so unique cannot be applied")
        values, inverse, counts = np.unique(order.sortable(a), axis=at, return_inverse=True, return_counts=True,
                                            equal_nan=False)
        y = order.UniqueDimBackward0(values.astype(a.dtype, copy=False)).run(x)
        inverse = inverse.reshape(-1)
    else:
        values, inverse, counts = np.unique(order.sortable(a), return_inverse=True, return_counts=True, equal_nan=False)
        y = order.Unique2Backward0(values.astype(a.dtype, copy=False)).run(x)
        inverse = inverse.reshape(a.shape)
    return several(y, inverse, counts, return_inverse, return_counts)


def _unique(input: Any, sorted: bool = True, return_inverse: bool = False) -> Any:
    """(values, inverse), of which the second is empty unless asked for."""
    return _unique2(input, sorted, return_inverse)[:2]


def _unique2(input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False) -> Any:
    """(values, inverse, counts), of which those not asked for are empty."""
    values, inverse, counts = unique(input, sorted, True, True)
    none = wrap(np.empty(0, np.int64))
    return values, inverse if return_inverse else none, counts if return_counts else none


def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False,
                       dim: int | None = None) -> Any:
    """Runs of equal elements (or slices along dim) reduced to one.  No derivative."""
    x = tensor(input, "unique_consecutive")
    only_bools("unique_consecutive", return_inverse=return_inverse, return_counts=return_counts)
    real_only(x, "unique")
    a = x.array
    rows = a.reshape(-1) if dim is None else np.moveaxis(a, dim_of(dim, a.ndim), 0)
    n = rows.shape[0]
    new = np.ones(n, bool)
    if n:
        differ = rows[1:] != rows[:-1]
        new[1:] = differ.any(tuple(range(1, differ.ndim)))
    values = rows[new]
    if dim is not None:
        values = np.ascontiguousarray(np.moveaxis(values, 0, dim_of(dim, a.ndim)))
    inverse = np.cumsum(new) - 1
    counts = np.diff(np.append(np.flatnonzero(new), n))
    y = order.UniqueConsecutiveBackward0(values).run(x)
    return several(y, inverse.reshape(a.shape) if dim is None else inverse, counts, return_inverse, return_counts)


def only_bools(function: str, **given: Any) -> None:
    for name, value in given.items():
        if not isinstance(value, bool):
            raise TypeError(f"{function}(): argument '{name}' must be bool, not {dtypes.typename(value)}")


def several(y: Any, inverse: Any, counts: Any, return_inverse: bool, return_counts: bool) -> Any:
    outs = [y]
    if return_inverse:
        outs.append(wrap(inverse.astype(np.int64)))
    if return_counts:
        outs.append(wrap(counts.astype(np.int64)))
    return tuple(outs) if len(outs) > 1 else y


def searchsorted(sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False, side: Any = None,
                 out: Any = None, sorter: Any = None) -> Any:
    """Where each value would go in the sorted last dim: before equal ones, or behind them (right=True,
    side="right").
    """
    rows = sorted_sequence.array
    scalar = not isinstance(input, TensorBase)
    values = np.asarray(input) if scalar else input.array
    if side is not None and side not in ("left", "right"):
        raise RuntimeError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise RuntimeError(
            "torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
    if sorter is not None:
        check_sorter(rows, sorter)
    if not rows.ndim and not scalar:
        raise RuntimeError("torch.searchsorted(): boundaries tensor should have positive dimension, but got 0 dimension")
    if rows.ndim != 1:
        if not values.ndim:
            raise RuntimeError(
                "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, "
                "but we got "
                f"boundaries tensor dim({rows.ndim}) and input value's dim({values.ndim}) numel({values.size})")
        if rows.shape[:-1] != values.shape[:-1]:
            raise RuntimeError(
                "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of "
                "boundaries "
                f"tensor and input value tensor must match, but we got boundaries tensor {list(rows.shape)} and "
                "input value "
                f"tensor {list(values.shape)}")
    if sorter is not None:
        rows = np.take_along_axis(rows, sorter.array, -1)
    for dtype in (result_dtype([rows, input]) if scalar else values.dtype, rows.dtype):
        if dtype.kind == "c" or rows.dtype.kind == "b" == values.dtype.kind:
            raise not_implemented("searchsorted_out_cpu", dtype)
    how: Any = "right" if right or side == "right" else "left"
    rows, values = order.sortable(rows), order.sortable(values)
    if rows.ndim == 1:
        found = places(rows, values, how)
    else:
        found = np.empty(values.shape, np.int64)
        for at in np.ndindex(rows.shape[:-1]):
            found[at] = places(rows[at], values[at], how)
    return wrap(np.asarray(found, np.int32 if out_int32 else np.int64))


def check_sorter(rows: Any, sorter: Any) -> None:
    order_of = tensor(sorter, "searchsorted", "sorter", 3).array
    if order_of.shape != rows.shape:
        raise RuntimeError(
            "torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor "
            f"{list(rows.shape)}and got sorter tensor {list(order_of.shape)}")
    if order_of.dtype != np.int64:
        raise RuntimeError(f"torch.searchsorted(): sorter must be a tensor of long dtype but got dtype {scalar_name(sorter)}")
    if order_of.size and (order_of.min() < 0 or order_of.max() >= rows.shape[-1]):
        raise RuntimeError("torch.searchsorted(): sorter index out of range")


def places(row: Any, values: Any, how: Any) -> Any:
    """numpy.searchsorted where NaN goes behind everything, and a NaN in `row` sends every search past itself."""
    if row.dtype.kind != "f" or not (np.isnan(row).any() or np.isnan(values).any()):
        return np.searchsorted(row, values, how)
    low, high = np.zeros(np.shape(values), np.int64), np.full(np.shape(values), row.size)
    for _ in range(row.size.bit_length()):
        middle = (low + high) // 2
        pivot = row[np.minimum(middle, row.size - 1)]
        left = (pivot >= values if how == "left" else pivot > values) | (low >= high)
        low, high = np.where(left, low, middle + 1), np.where(left & (low < high), middle, high)
    return low


def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False, out: Any = None) -> Any:
    """searchsorted in 1-dim `boundaries`."""
    if boundaries.array.ndim != 1:
        raise RuntimeError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.array.ndim})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right)


def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number 0..max occurs in a 1-dim tensor of non-negative integers, or the sum of its weights."""
    a = input.array
    if a.dtype.kind not in "iu":
        raise NotImplementedError(f"\"bincount_cpu\" not implemented for '{scalar_name(input)}'")
    if minlength < 0:
        raise RuntimeError("minlength should be >= 0")
    if a.ndim != 1 or (a < 0).any():
        raise RuntimeError("bincount only supports 1-d non-negative integral inputs.")
    if weights is None:
        return wrap(np.bincount(a, minlength=minlength).astype(np.int64))
    w = weights.array
    if w.shape != a.shape:
        raise RuntimeError("weights should be 1-d and have the same length as input")
    total = np.bincount(a, w.astype(np.float64), minlength)
    op = order.NotImplemented_(total.astype(np.float32) if w.dtype == np.float32 else total)
    op.what = "bincount"
    return op.run(weights)


def histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0, *, out: Any = None) -> Any:
    """How many elements lie in each of `bins` equal parts of min..max (both 0: the range of the data)."""
    a = input.array
    if a.dtype.kind not in "fV":
        loop = "linspace_cpu" if a.dtype.kind == "b" else "aminmax_cpu" if a.dtype.kind == "c" and min == max else "histogram_cpu"
        raise NotImplementedError(f"\"{loop}\" not implemented for '{scalar_name(input)}'")
    if bins <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {bins} for dimension 0")
    low, high = (float(real_number(end, DOUBLE)) for end in (min, max))
    if low == high and a.size:
        low, high = float(a.min()), float(a.max())
    if low == high:
        low, high = low - 1, high + 1
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histc: range of [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError("torch.histc: max must be larger than min")
    inside = a[(a >= low) & (a <= high)]
    first, last = np.asarray([low, high], a.dtype)
    if (high / 2 - low / 2) * bins >= dtypes.finfo(input.dtype).max / 2:         # the positions would overflow
        inside, first, last = (v.astype(np.float64) / (4 * bins) for v in (inside, first, last))
    at = np.minimum(((inside - first) * np.asarray(bins, inside.dtype) / (last - first)).astype(np.int64), bins - 1)
    return wrap(np.bincount(at, minlength=bins).astype(a.dtype))
