"""Diagonals and triangles of matrices."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary, View
from .._engine.tensor import TensorBase
from .._kernels import kernel
from .packed import packed

np: Final[Any] = numpy
quick_triangle: Final[Any] = kernel("triangle")


@final
class DiagonalBackward0(View):
    shows: ClassVar[Any] = {"dim1": "dim1", "dim2": "dim2", "offset": "offset", "self_sym_sizes": "was"}

    def __init__(self, offset: int, dim1: int, dim2: int) -> None:
        self.offset = offset
        self.dim1 = dim1
        self.dim2 = dim2
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return diagonal_of(x, self.offset, self.dim1, self.dim2)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return put_diagonal(g, self.offset, self.dim1, self.dim2, self.was)


@final
class DiagonalBackward0_copy(Unary):
    """The diagonal of a matrix, copied (diag)."""

    shows: ClassVar[Any] = {"dim1": "dim1", "dim2": "dim2", "offset": "offset", "self_sym_sizes": "was"}

    def __init__(self, offset: int, dim1: int, dim2: int) -> None:
        self.offset = offset
        self.dim1 = dim1
        self.dim2 = dim2
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return diagonal_of(x, self.offset, self.dim1, self.dim2).copy()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return put_diagonal(g, self.offset, self.dim1, self.dim2, self.was)


@final
class DiagonalBackwardBackward0(Unary):
    """Zeros with x on a diagonal: the adjoint of diagonal."""

    def __init__(self, offset: int, dim1: int, dim2: int, into: Shape) -> None:
        self.offset = offset
        self.dim1 = dim1
        self.dim2 = dim2
        self.into = into

    def forward(self, x: Array) -> Array:
        out = np.zeros(self.into, x.dtype)
        diagonal_of(out, self.offset, self.dim1, self.dim2)[...] = x
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return DiagonalBackward0_copy(self.offset, self.dim1, self.dim2).run(g)


@final
class DiagEmbedBackward0(Unary):
    """Matrices with x on a diagonal."""

    shows: ClassVar[Any] = {"dim1": "dim1", "dim2": "dim2", "offset": "offset"}

    def __init__(self, offset: int, dim1: int, dim2: int) -> None:
        self.offset = offset
        self.dim1 = dim1
        self.dim2 = dim2

    def forward(self, x: Array) -> Array:
        n = x.shape[x.ndim - 1] + abs(self.offset)
        sizes = list(x.shape[:-1])
        for d in sorted([self.dim1, self.dim2]):
            sizes.insert(d, n)
        out = np.zeros(tuple(sizes), x.dtype)
        diagonal_of(out, self.offset, self.dim1, self.dim2)[...] = x
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return DiagonalBackward0_copy(self.offset, self.dim1, self.dim2).run(g)


def near(offset: int, rows: int, columns: int) -> int:
    """offset, no further than just outside the matrix: NumPy falls over offsets beyond 32 bits."""
    return max(-rows, min(offset, columns))


def diagonal_of(x: Array, offset: int, dim1: int, dim2: int) -> Array:
    y = x.diagonal(near(offset, x.shape[dim1], x.shape[dim2]), dim1, dim2)
    if x.flags.writeable:
        y.flags.writeable = True                # NumPy's are not
    return y


@final
class TraceBackward0(Unary):
    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self) -> None:
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return reduce.total(x.diagonal(), None, False, None)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        rows, columns = self.was
        return put_diagonal(shape.expand(g, (min(rows, columns),)), 0, 0, 1, self.was)


class Triangle(Unary):
    shows: ClassVar[Any] = {"diagonal": "offset"}

    def __init__(self, offset: int) -> None:
        self.offset = offset


@final
class TrilBackward0(Triangle):
    def quick(self, x: Array) -> Array:
        return quick_triangle(x, self.offset, False)

    def forward(self, x: Array) -> Array:
        return packed(np.tril(x, near(self.offset, x.shape[-2], x.shape[-1])))

    def overlapped(self) -> Optional[str]:
        return ""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return tril(g, self.offset)


@final
class TriuBackward0(Triangle):
    def quick(self, x: Array) -> Array:
        return quick_triangle(x, self.offset, True)

    def forward(self, x: Array) -> Array:
        return packed(np.triu(x, near(self.offset, x.shape[-2], x.shape[-1])))

    def overlapped(self) -> Optional[str]:
        return ""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return triu(g, self.offset)


def diagonal(x: Value, offset: int, dim1: int, dim2: int) -> Value:
    return DiagonalBackward0(offset, dim1, dim2).run(x)


def diagonal_copy(x: Value, offset: int, dim1: int, dim2: int) -> Value:
    return DiagonalBackward0_copy(offset, dim1, dim2).run(x)


def put_diagonal(x: Value, offset: int, dim1: int, dim2: int, into: Shape) -> Value:
    return DiagonalBackwardBackward0(offset, dim1, dim2, into).run(x)


def diag_embed(x: Value, offset: int, dim1: int, dim2: int) -> Value:
    return DiagEmbedBackward0(offset, dim1, dim2).run(x)


def trace(x: Value) -> Value:
    return TraceBackward0().run(x)


def tril(x: Value, offset: int) -> Value:
    return TrilBackward0(offset).run(x)


def triu(x: Value, offset: int) -> Value:
    return TriuBackward0(offset).run(x)


def tril_(x: TensorBase, offset: int) -> TensorBase:
    return TrilBackward0(offset).run_(x)


def triu_(x: TensorBase, offset: int) -> TensorBase:
    return TriuBackward0(offset).run_(x)


from . import reduce, shape  # noqa: E402
