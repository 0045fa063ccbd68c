"""Copies that move numbers about: repeated, rolled, flipped, turned."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .._kernels import kernel
from .packed import packed

np: Final[Any] = numpy
quick_flip: Final[Any] = kernel("flip")
quick_roll: Final[Any] = kernel("roll")


@final
class RepeatBackward0(Unary):
    shows: ClassVar[Any] = {"repeats": "repeats", "self_sym_sizes": "was"}

    def __init__(self, repeats: Shape) -> None:
        self.repeats = repeats
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return packed(np.tile(x, self.repeats))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        lead = len(self.repeats) - len(self.was)
        sizes: list[int] = []
        for i in range(len(self.repeats)):
            sizes.append(self.repeats[i])
            sizes.append(self.was[i - lead] if i >= lead else 1)
        g = reduce.sum_dims(shape.reshape(g, tuple(sizes)), tuple(range(0, len(sizes), 2)), False)
        return shape.reshape(g, self.was)


@final
class RollBackward0(Unary):
    """Circular shifts along dims; without dims, of the flattened input."""

    shows: ClassVar[Any] = {"dims": "dims", "shifts": "shifts"}

    def __init__(self, shifts: Shape, dims: Shape) -> None:
        self.shifts = shifts
        self.dims = dims

    def quick(self, x: Array) -> Array:
        if not self.dims:
            return quick_roll(x, self.shifts[0], None)
        y = x
        for i in range(len(self.dims)):
            y = quick_roll(y, self.shifts[i], self.dims[i])
            if y is None:
                return None
        return y

    def forward(self, x: Array) -> Array:
        return packed(np.roll(x, self.shifts, self.dims) if self.dims else np.roll(x, self.shifts[0]))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return roll(g, tuple([-n for n in self.shifts]), self.dims)


@final
class FlipBackward0(Unary):
    shows: ClassVar[Any] = {"dims": "dims"}

    def __init__(self, dims: Shape) -> None:
        self.dims = dims

    def quick(self, x: Array) -> Array:
        return quick_flip(x, self.dims)

    def forward(self, x: Array) -> Array:
        out = create.dense_like(x, x.dtype)
        np.copyto(out, np.flip(x, self.dims))
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return flip(g, self.dims)


@final
class Rot90Backward0(Unary):
    shows: ClassVar[Any] = {"dims": "dims", "k": "k"}

    def __init__(self, k: int, dims: Shape) -> None:
        self.k = k
        self.dims = dims

    def forward(self, x: Array) -> Array:
        k = self.k % 4
        a, b = self.dims
        if k == 0:
            return np.array(x)
        if k == 2:
            return np.array(np.flip(x, self.dims))
        return np.array(np.flip(x, b if k == 1 else a)).swapaxes(a, b)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return rot90(g, -self.k, self.dims)


def repeat(x: Value, repeats: Shape) -> Value:
    return RepeatBackward0(repeats).run(x)


def roll(x: Value, shifts: Shape, dims: Shape) -> Value:
    return RollBackward0(shifts, dims).run(x)


def flip(x: Value, dims: Shape) -> Value:
    return FlipBackward0(dims).run(x)


def rot90(x: Value, k: int, dims: Shape) -> Value:
    return Rot90Backward0(k, dims).run(x)


from . import create, reduce, shape  # noqa: E402
