"""Reductions of segments: runs of neighbours along a dim, some of them maybe empty.

Letters: R rows (all dims before that one), n elements in each, S segments of each row, K = R S, I elements of all dims after.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from . import choose, gather, shape
from .linalg import raw

np: Final[Any] = numpy
UFUNCS: Final[Any] = {"sum": numpy.add, "mean": numpy.add, "prod": numpy.multiply, "max": numpy.maximum, "min": numpy.minimum}
NEUTRAL: Final[Any] = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "max": float("-inf"), "min": float("inf")}


class Segments:
    """Where they lie: starts and counts (R, S), of rows of n elements."""

    def __init__(self, starts: Array, counts: Array, n: int) -> None:
        rows: int = counts.shape[0]
        self.counts: Array = counts.reshape(-1).astype(np.intp, copy=False)     # (K,)
        self.starts: Array = (starts + n * np.arange(rows)[:, None]).reshape(-1)
        of: Array = np.repeat(np.arange(self.counts.size), self.counts)
        before: Array = np.cumsum(self.counts) - self.counts
        at: Array = np.repeat(self.starts - before, self.counts) + np.arange(of.size)
        self.of: Array = np.zeros(rows * n, np.int64)           # the segment of each element, 0 for those of none
        self.of[at] = of
        self.outside: Array = None                              # the elements of none, if there are any
        if of.size < rows * n:
            self.outside = np.ones(rows * n, bool)
            self.outside[at] = False

    def reduced(self, ufunc: Any, x: Array, start: Any) -> Array:
        """ufunc over each segment of x (R n, I), and start: (K, I)."""
        out = np.full((self.counts.size, x.shape[1]), start, x.dtype)
        full = np.flatnonzero(self.counts)
        if full.size and x.size:
            ends = np.stack([self.starts[full], self.starts[full] + self.counts[full]], 1).reshape(-1).astype(np.intp)
            found = ufunc.reduceat(x, ends[:-1] if ends[-1] == len(x) else ends, 0)[::2]
            out[full] = ufunc(out[full], found)
        return out


@final
class SegmentReduceBackward0(Unary):
    """sum, mean, prod, max or min of each segment along `axis`, of which x has `n`, and of `initial`, unless None."""

    holds = True
    names: ClassVar[Any] = {"data": "x", "result": "y"}
    shows: ClassVar[Any] = {"axis": "axis", "reduce": "reduce", "initial": "initial", "lengths": "lengths", "offsets": "offsets"}

    def __init__(self, reduce: str, segments: Segments, axis: int, initial: Any, lengths: Value, offsets: Value) -> None:
        self.reduce = reduce
        self.segments: Any = segments
        self.axis = axis
        self.initial: Any = initial
        self.lengths: Value = lengths
        self.offsets: Value = offsets

    def drop(self) -> None:
        self.segments = None

    def reduced(self, x: Value, reduce: str, initial: Any) -> Value:
        return SegmentReduceBackward0(reduce, self.segments, self.axis, initial, self.lengths, self.offsets).run(x)

    def forward(self, x: Array) -> Array:
        s: Any = self.segments
        outer: Shape = x.shape[:self.axis]
        inner: Shape = x.shape[self.axis + 1:]
        width = int(np.prod(inner))
        wide = x.astype(np.float32) if x.dtype.itemsize == 2 else x
        start = NEUTRAL[self.reduce] if self.initial is None else self.initial
        y = s.reduced(UFUNCS[self.reduce], wide.reshape(len(s.of), width), start)
        if self.reduce == "mean":
            many = s.counts[:, None]
            y = y / np.where(many == 0, 1 if self.initial is not None else 0, many).astype(y.dtype)
        rows: int = int(np.prod(outer))
        each: int = s.counts.size // rows if rows else 0
        return y.astype(x.dtype).reshape(outer + (each,) + inner)

    def spread(self, v: Value, like: Shape) -> Value:
        """To each element what its segment has in v (the output's shape): an array of the input's shape; 0 outside."""
        s: Any = self.segments
        width = int(np.prod(like[self.axis + 1:]))
        out = gather.index_select(shape.reshape(v, (s.counts.size, width)), 0, s.of)
        if s.outside is not None:
            out = choose.where(s.outside[:, None], 0.0, out)
        return shape.reshape(out, like)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if raw(x).size == 0 or raw(y).size == 0:
            return raw(x) * 0
        like: Shape = raw(x).shape
        out: Shape = raw(y).shape
        if self.reduce == "sum":
            return self.spread(g, like)
        if self.reduce == "mean":
            many = np.maximum(self.segments.counts, 1).reshape(out[:self.axis + 1] + (1,) * (len(out) - self.axis - 1))
            return self.spread(g / many.astype(raw(y).dtype), like)
        if self.reduce == "prod":
            return self.product_grad(g, x, y)
        at: Array = raw(x)
        chosen = ((at == self.spread(raw(y), like)) | np.isnan(at)).astype(at.dtype)    # equal ones share
        return self.spread(g / np.maximum(self.reduced(chosen, "sum", None), 1), like) * chosen

    def product_grad(self, g: Value, x: Value, y: Value) -> Value:
        """g times the product of the others: y / x, or where x is 0 (or NaN) the product of those that are not.

        Two zeros in a segment: that product times the other zero, which has a derivative.
        """
        at: Array = raw(x)
        like: Shape = at.shape
        zero = (at == 0) | np.isnan(at)
        if not zero.any():
            return self.spread(g * y, like) / x
        safe = choose.where(zero, 1.0, x)
        ordinary = self.spread(g * y, like) / safe
        rest = self.spread(self.reduced(safe, "prod", self.initial), like)
        zeros = self.spread(self.reduced(choose.where(zero, x, 0.0), "sum", None), like)
        many = self.spread(self.reduced(zero.astype(at.dtype), "sum", None), like)
        others = rest * choose.where(many <= 1, 1.0, choose.where(many == 2, zeros - x, 0.0))
        return choose.where(zero, self.spread(g, like) * others, ordinary)
