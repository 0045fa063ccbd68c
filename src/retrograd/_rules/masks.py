"""Reading and writing at flat positions and under masks: take, put, masked_select, masked_scatter."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .._kernels import kernel
from . import choose, indexed, reduce, shape, slices
from .gather import Along
from .packed import packed

np: Final[Any] = numpy
quick_masked: Final[Any] = kernel("masked_scatter")


@final
class TakeBackward0(Unary):
    """Elements by their number in C order."""

    holds = True
    shows: ClassVar[Any] = {"index": "index"}

    def __init__(self, index: Array) -> None:
        self.index: Array = index

    def drop(self) -> None:
        self.index = None

    def forward(self, x: Array) -> Array:
        return packed(x.reshape(-1)[self.index])

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own = reduce.raw(x)
        return shape.reshape(indexed.index_add(g, (self.index,), (own.size,)), own.shape)


@final
class PutBackward0(Along):
    """a with b at (or added at) flat positions."""

    names: ClassVar[Any] = {"source": "b"}
    shows: ClassVar[Any] = {"accumulate": "accumulate", "index": "index"}

    def __init__(self, index: Array, accumulate: bool) -> None:
        self.dim = 0
        self.index: Array = index
        self.source: Shape = ()
        self.accumulate = accumulate

    def forward(self, a: Array, b: Array) -> Array:
        out = np.array(a, order="C")
        flat = out.reshape(-1)
        if self.accumulate:
            np.add.at(flat, self.index.reshape(-1), b.reshape(-1))
        else:
            flat[self.index.reshape(-1)] = b.reshape(-1)
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        if self.accumulate:
            return g
        return put(g, self.index, np.zeros(self.index.shape, reduce.raw(g).dtype), False)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return shape.reshape(take(g, self.index), reduce.raw(b).shape)


def take(x: Value, index: Array) -> Value:
    return TakeBackward0(index).run(x)


def put(a: Value, index: Array, b: Value, accumulate: bool) -> Value:
    return PutBackward0(index, accumulate).run(a, b)


@final
class MaskedSelectBackward0(Unary):
    """The elements where the mask holds, as one row; x and mask broadcast."""

    holds = True
    shows: ClassVar[Any] = {"mask": "mask"}

    def __init__(self, mask: Array) -> None:
        self.mask: Array = mask

    def drop(self) -> None:
        self.mask = None

    def forward(self, x: Array) -> Array:
        both = np.broadcast_shapes(x.shape, self.mask.shape)
        return np.broadcast_to(x, both)[indexed.own(np.broadcast_to(self.mask, both))]

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own: Shape = reduce.raw(x).shape
        both = np.broadcast_shapes(own, self.mask.shape)
        return shape.sum_to(indexed.index_add(g, (np.broadcast_to(self.mask, both),), both), own)


@final
class MaskedScatterBackward0(Along):
    """a with the first elements of b, in order, where the mask holds."""

    shows: ClassVar[Any] = {"mask": "mask", "source_sym_sizes": "source"}

    def __init__(self, mask: Array) -> None:
        self.dim = 0
        self.index: Array = None
        self.mask: Array = mask
        self.source: Shape = ()
        self.was: Shape = ()

    def drop(self) -> None:
        self.mask = None

    def forward(self, a: Array, b: Array) -> Array:
        self.was = a.shape
        quick = quick_masked(a, self.mask, b)
        if quick is not None:
            return quick
        both = np.broadcast_shapes(a.shape, self.mask.shape)
        out = np.array(np.broadcast_to(a, both), order="C")
        where = indexed.own(np.broadcast_to(self.mask, both))
        out[where] = b.reshape(-1)[: int(np.count_nonzero(where))]
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return shape.sum_to(choose.where(self.mask, 0.0, g), self.was)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        n = 1
        for m in self.source:
            n *= m
        got = MaskedSelectBackward0(self.mask).run(g)
        got = slices.put(got, (slice(reduce.raw(got).size),), (n,))
        return shape.reshape(got, self.source)


def masked_select(x: Value, mask: Array) -> Value:
    return MaskedSelectBackward0(mask).run(x)
