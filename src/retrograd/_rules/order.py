"""Sorting and what follows from it.  NaN counts as the greatest number."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .._kernels import kernel

np: Final[Any] = numpy
quick_first: Final[Any] = kernel("first")
FEW: Final = 16                 # rows so short are sorted whole


class Picked(Unary):
    """Several elements along one dim; `indices` says which."""

    holds = True
    shows: ClassVar[Any] = {"dim": "dim", "indices": "indices", "self_sym_sizes": "was"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.indices: Array = None
        self.was: Shape = ()

    def drop(self) -> None:
        self.indices = None

    def find(self, x: Array) -> Array:
        """Indices along dim; x has dims."""
        raise NotImplementedError

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        if x.ndim == 0:
            self.indices = np.zeros((), np.int64)
            return np.array(x)
        self.indices = np.ascontiguousarray(self.find(x))
        return np.take_along_axis(x, self.indices, self.dim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if not self.was:
            return shape.reshape(g, ()) * 1
        return gather.scatter_zeros(g, self.dim, self.indices, self.was, False)


@final
class SortBackward0(Picked):
    """Stable."""

    descending: bool = False

    def find(self, x: Array) -> Array:
        return order_of(x, self.dim, self.descending)


@final
class TopkBackward0(Picked):
    k: int = 1
    largest: bool = True

    def find(self, x: Array) -> Array:
        if x.shape[self.dim] >= 32 * self.k:            # more are cheaper to sort
            quick = quick_first(comparable(np.moveaxis(x, self.dim, -1)), self.k, self.largest)
            if quick is not None:
                return np.moveaxis(quick, -1, self.dim)
        if x.shape[self.dim] > max(FEW, 4 * self.k) and x.dtype.kind != "V":
            found = first_of(np.moveaxis(x, self.dim, -1), self.k, self.largest)
            if found is not None:
                return np.moveaxis(found, -1, self.dim)
        lead = (slice(None),) * self.dim
        return order_of(x, self.dim, self.largest)[lead + (slice(self.k),)]


class NoRule(Unary):
    """An op that PyTorch records without a derivative."""

    what: str = ""

    def __init__(self, y: Array) -> None:
        self.found: Array = y

    def forward(self, x: Array) -> Array:
        return self.found

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        raise NotImplementedError(f"the derivative for '{self.what}' is not implemented.")


@final
class Unique2Backward0(NoRule):
    what: str = "_unique2"


@final
class UniqueDimBackward0(NoRule):
    what: str = "unique_dim"


@final
class UniqueConsecutiveBackward0(NoRule):
    what: str = "unique_consecutive"


@final
class NotImplemented_(NoRule):
    """bincount of weights, histogram, ..."""

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def rule(self, g: Value, graph: bool) -> Value:
        raise RuntimeError(f"derivative for aten::{self.what} is not implemented")


def order_of(x: Array, dim: int, descending: bool) -> Array:
    """Stable argsort; NaN counts as the greatest."""
    x = sortable(x)
    if not descending:
        return np.argsort(x, dim, kind="stable")
    n = x.shape[dim]
    return n - 1 - np.flip(np.argsort(np.flip(x, dim), dim, kind="stable"), dim)


def first_of(rows: Array, k: int, descending: bool) -> Array:
    """Where the first k of each row's stable order are; None where there are NaN."""
    if k == 0 or (rows != rows).any():
        return None
    at = rows.shape[-1] - k if descending else k - 1
    last = np.partition(rows, at, -1)[..., at:at + 1]
    inside = rows > last if descending else rows < last
    equal = rows == last
    inside |= equal & (np.cumsum(equal, -1) <= k - np.count_nonzero(inside, -1, keepdims=True))
    places = np.nonzero(inside)[-1].reshape(*rows.shape[:-1], k)
    return np.take_along_axis(places, order_of(np.take_along_axis(rows, places, -1), -1, descending), -1)


def nth_of(x: Array, dim: int, k: int) -> Array:
    """Where element k of the stable order along dim is, which stays."""
    if x.shape[dim] > FEW and x.dtype.kind != "V":
        rows = np.moveaxis(x, dim, -1)
        found = np.partition(rows, k, -1)[..., k:k + 1]
        if (found == found).all():
            equal = rows == found
            before = k - np.count_nonzero(rows < found, -1, keepdims=True)
            places = (np.cumsum(equal, -1) > before).argmax(-1, keepdims=True)
            return np.moveaxis(places, -1, dim)
    return order_of(x, dim, False).take([k], dim)


def comparable(x: Array) -> Array:
    """x in C order, in a dtype that the kernel knows."""
    if x.dtype.kind == "V" or x.dtype.itemsize < 4:
        x = x.astype(np.float32 if x.dtype.kind in "fV" else np.int32)
    return np.ascontiguousarray(x)


def sortable(x: Array) -> Array:
    """x in a dtype that NumPy sorts: bfloat16 it does not where there are NaN."""
    return x.astype(np.float32) if x.dtype.kind == "V" else x


from . import gather, shape  # noqa: E402
