"""torch.segment_reduce: sums, means, products, maxima or minima of runs of neighbors."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._rules import segments as op
from .arguments import dim_of, tensor
from .pointwise import not_implemented

NAMES = {"sum": "sum", "mean": "mean", "prod": "prod", "max": "max", "min": "min", "amax": "max", "amin": "min"}


def segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0,
    unsafe: bool = False, initial: Any = None,
) -> Any:
    """The reduction of each segment along `axis`, of floats.

    lengths (..., S) of the segments, one after the other, or offsets (..., S + 1), where they begin and the last one ends;
    ... are data's dims before axis.  initial goes into each; without it an empty segment has 0, nan, 1, -inf or inf.
    unsafe: lengths need not add up to all of the dim.
    """
    x: Any = tensor(data, "segment_reduce", "data")
    axis = dim_of(axis, x.ndim)
    if reduce not in NAMES:
        raise RuntimeError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None and offsets is None:
        raise RuntimeError("segment_reduce(): indices based reduction is not supported yet." if indices is not None else
                           "segment_reduce(): Either lengths or offsets must be defined.")
    given = (lengths if offsets is None else offsets).array
    kind = "lengths" if offsets is None else "offsets"
    if given.ndim > x.ndim:
        raise RuntimeError(f"Expected data.dim() >= {kind}_value.dim() to be true, but got false.")
    if axis != given.ndim - 1:
        raise RuntimeError(f"segment_reduce(): Expected axis to be the last dimension of {kind} but got {axis}.")
    if offsets is None and not unsafe:
        if given.size == 0:
            raise RuntimeError("min(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                               "with the 'dim' argument.")
        if given.min() < 0:
            raise RuntimeError("lengths contains negative value!")
        if (given.sum(-1) != x.shape[axis]).any():
            raise RuntimeError("segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) "
                               "when !unsafe.")
    if given.dtype not in (np.int64, np.int32):
        raise not_implemented(f"_segment_reduce_{kind}_cpu_kernel1", given.dtype)
    if not x.is_floating_point():
        raise not_implemented("_segment_reduce_cpu", x.array.dtype)
    if given.shape[:-1] != x.array.shape[:axis]:
        raise RuntimeError(f"segment_reduce(): {kind} of shape {given.shape} do not belong to data of shape {x.array.shape}: "
                           "the dims before axis must be equal")
    node = op.SegmentReduceBackward0(NAMES[reduce], _places(given, kind, x.array.shape[axis]), axis, initial, lengths, offsets)
    return node.run(x)


_segment_reduce = segment_reduce


def _places(given: Any, kind: str, n: int) -> Any:
    """Starts and counts of the segments of each row; RuntimeError where they leave it."""
    if kind == "offsets" and given.shape[-1] == 0:
        raise RuntimeError("Trying to create tensor with negative dimension -1: [-1]")
    rows = given.reshape(math.prod(given.shape[:-1]), given.shape[-1]).astype(np.int64)
    if kind == "lengths":
        counts, starts = rows, np.cumsum(rows, 1) - rows
    else:
        counts, starts = np.diff(rows, axis=1), rows[:, :-1]
    if (counts < 0).any():
        raise RuntimeError("Expected segment_length >= 0 to be true, but got false.")
    if (starts < 0).any() or (starts + counts > n).any():
        raise RuntimeError(f"segment_reduce(): {kind} lead beyond the {n} elements along axis")
    return op.Segments(starts, counts, n)
