"""Parts of a tensor at a basic index: select, slice, their adjoints, and copies with something else in the place."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary, View, Written
from .._engine.views import dtype_of

np: Final[Any] = numpy


@final
class SelectBackward0(View):
    shows: ClassVar[Any] = {"dim": "dim", "index": "index", "self_sym_sizes": "was"}

    def __init__(self, dim: int, index: int) -> None:
        self.dim = dim
        self.index = index
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        dim = self.dim
        if dim == 0:
            return x[self.index, ...]           # the dots keep a 0-d result a view
        return x[(slice(None),) * dim + (self.index, Ellipsis)]

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return SelectBackwardBackward0((slice(None),) * self.dim + (self.index,), self.was).run(g)


@final
class SliceBackward0(View):
    shows: ClassVar[Any] = {
        "dim": "dim", "start": "start", "end": "end", "step": "step", "self_sym_sizes": "was"}

    def __init__(self, dim: int, start: int, end: int, step: int) -> None:
        self.dim = dim
        self.start = start
        self.end = end
        self.step = step
        self.was: Shape = ()

    def where(self) -> Any:
        return (slice(None),) * self.dim + (slice(self.start, self.end, self.step),)

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x[self.where()]

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return SliceBackwardBackward0(self.where(), self.was).run(g)


class Put(Unary):
    """Zeros with x at a basic index: the adjoint of select and slice."""

    def __init__(self, where: Any, into: Shape) -> None:
        self.where: Any = where
        self.into = into

    def forward(self, x: Array) -> Array:
        out = np.zeros(self.into, x.dtype)
        out[self.where] = x
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return take(g, self.where)


@final
class PutBackward0(Put):
    """As the rule of other ops."""


@final
class SelectBackwardBackward0(Put):
    """Put, as the rule of select."""


@final
class SliceBackwardBackward0(Put):
    """Put, as the rule of a slice."""


@final
class TakeBackward0(Unary):
    """x at a basic index: the adjoint of Put."""

    def __init__(self, where: Any) -> None:
        self.where: Any = where
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x[self.where]

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return put(g, self.where, self.was)


class PlacedIn(Written):
    """a with b, of any dtype, in the place that a view would show."""

    names: ClassVar[Any] = {}

    def place(self, out: Array) -> Array:
        """The view."""
        raise NotImplementedError

    def again(self) -> PlacedIn:
        raise NotImplementedError

    def forward(self, a: Array, b: Array) -> Array:
        out = np.array(a)
        self.place(out)[...] = np.asarray(b).astype(a.dtype)
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return self.again().run(g, np.zeros((), dtype_of(g)))


@final
class SelectScatterBackward0(PlacedIn):
    shows: ClassVar[Any] = {"dim": "dim", "index": "index"}

    def __init__(self, dim: int, index: int) -> None:
        self.dim = dim
        self.index = index

    def where(self) -> Any:
        return (slice(None),) * self.dim + (self.index,)

    def place(self, out: Array) -> Array:
        return out[self.where() + (Ellipsis,)]

    def again(self) -> PlacedIn:
        return SelectScatterBackward0(self.dim, self.index)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return take(g, self.where())


@final
class SliceScatterBackward0(PlacedIn):
    shows: ClassVar[Any] = {"dim": "dim", "start": "start", "end": "end", "step": "step"}

    def __init__(self, dim: int, start: Any, end: Any, step: int) -> None:
        self.dim = dim
        self.start: Any = start
        self.end: Any = end
        self.step = step

    def where(self) -> Any:
        return (slice(None),) * self.dim + (slice(self.start, self.end, self.step),)

    def place(self, out: Array) -> Array:
        return out[self.where()]

    def again(self) -> PlacedIn:
        return SliceScatterBackward0(self.dim, self.start, self.end, self.step)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return take(g, self.where())


@final
class DiagonalScatterBackward0(PlacedIn):
    shows: ClassVar[Any] = {"dim1": "dim1", "dim2": "dim2", "offset": "offset"}

    def __init__(self, offset: int, dim1: int, dim2: int) -> None:
        self.offset = offset
        self.dim1 = dim1
        self.dim2 = dim2

    def place(self, out: Array) -> Array:
        return diagonals.diagonal_of(out, self.offset, self.dim1, self.dim2)

    def again(self) -> PlacedIn:
        return DiagonalScatterBackward0(self.offset, self.dim1, self.dim2)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return diagonals.DiagonalBackward0_copy(self.offset, self.dim1, self.dim2).run(g)


@final
class NarrowCopyBackward0(Unary):
    """A slice, copied."""

    shows: ClassVar[Any] = {"dim": "dim", "length": "length", "start": "start", "self_sym_sizes": "was"}

    def __init__(self, dim: int, start: int, length: int) -> None:
        self.dim = dim
        self.start = start
        self.length = length
        self.was: Shape = ()

    def where(self) -> Any:
        return (slice(None),) * self.dim + (slice(self.start, self.start + self.length),)

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return np.array(x[self.where()], order="C")

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return put(g, self.where(), self.was)


def put(x: Value, where: Any, into: Shape) -> Value:
    return PutBackward0(where, into).run(x)


def take(x: Value, where: Any) -> Value:
    return TakeBackward0(where).run(x)


from . import diagonals  # noqa: E402
