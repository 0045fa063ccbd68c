"""Views: the same numbers under another shape."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary, View
from .._engine.tensor import TensorBase

np: Final[Any] = numpy


@final
class ViewBackward0(View):
    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, to: Shape) -> None:
        self.to = to
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.reshape(self.to)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return reshape(g, self.was)


@final
class UnsafeViewBackward0(Unary):
    """reshape of a fresh copy: no view of anything the user holds."""

    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, to: Shape) -> None:
        self.to = to
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.reshape(self.to)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return reshape(g, self.was)


@final
class ExpandBackward0(View):
    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, to: Shape) -> None:
        self.to = to
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return np.broadcast_to(x, self.to)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return sum_to(g, self.was)


@final
class TransposeBackward0(View):
    shows: ClassVar[Any] = {"dim0": "dim0", "dim1": "dim1"}

    def __init__(self, dim0: int, dim1: int) -> None:
        self.dim0 = dim0
        self.dim1 = dim1

    def forward(self, x: Array) -> Array:
        return x.swapaxes(self.dim0, self.dim1)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return transpose(g, self.dim0, self.dim1)


@final
class TBackward0(View):
    """Matrix transpose."""

    def forward(self, x: Array) -> Array:
        return x.T

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return t(g)


@final
class PermuteBackward0(View):
    shows: ClassVar[Any] = {"dims": "dims"}

    def __init__(self, dims: Shape) -> None:
        self.dims = dims

    def forward(self, x: Array) -> Array:
        return x.transpose(self.dims)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        back = [0] * len(self.dims)
        for i in range(len(self.dims)):
            back[self.dims[i]] = i
        return permute(g, tuple(back))


@final
class UnsqueezeBackward0(View):
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        return np.expand_dims(x, self.dim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return squeeze_dim(g, self.dim)


@final
class SqueezeBackward0(View):
    """All dims of size 1."""

    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self) -> None:
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.reshape(tuple([n for n in x.shape if n != 1])) if 1 in x.shape else x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return reshape(g, self.was)


@final
class SqueezeBackward1(View):
    """One dim, if its size is 1."""

    shows: ClassVar[Any] = {"dim": "dim", "self_sym_sizes": "was"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.squeeze(self.dim) if x.ndim and x.shape[self.dim] == 1 else x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return unsqueeze(g, self.dim) if self.was and self.was[self.dim] == 1 else g


@final
class SqueezeBackward4(Unary):
    """What matmul and linear do to the dim they added."""

    shows: ClassVar[Any] = {"dim": "dim", "self_sym_sizes": "was"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.squeeze(self.dim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return unsqueeze(g, self.dim)


@final
class AliasBackward0(View):
    def forward(self, x: Array) -> Array:
        return x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


def reshape(x: Value, to: Shape) -> Value:
    """A view when memory allows; of a Tensor it must (the caller knows), an array may be copied."""
    return ViewBackward0(to).run(x)


def unsafe_view(x: Value, to: Shape) -> Value:
    return UnsafeViewBackward0(to).run(x)


def expand(x: Value, to: Shape) -> Value:
    return ExpandBackward0(to).run(x)


def transpose(x: Value, dim0: int, dim1: int) -> Value:
    return TransposeBackward0(dim0, dim1).run(x)


def mT(x: Value) -> Value:
    return TransposeBackward0(-2, -1).run(x)


def t(x: Value) -> Value:
    return TBackward0().run(x)


def permute(x: Value, dims: Shape) -> Value:
    return PermuteBackward0(dims).run(x)


def unsqueeze(x: Value, dim: int) -> Value:
    return UnsqueezeBackward0(dim).run(x)


def squeeze_dim(x: Value, dim: int) -> Value:
    return SqueezeBackward1(dim).run(x)


def squeeze(x: Value) -> Value:
    return SqueezeBackward0().run(x)


def squeeze_added(x: Value, dim: int) -> Value:
    return SqueezeBackward4(dim).run(x)


def alias(x: Value) -> Value:
    return AliasBackward0().run(x)


def sum_to(x: Value, to: Shape) -> Value:
    """x summed over the axes that broadcasting `to` to x.shape would stretch; x itself when there are none."""
    have: Shape = x.array.shape if isinstance(x, TensorBase) else x.shape
    if have == to:
        return x
    extra = len(have) - len(to)
    axes: list[int] = []
    for i in range(len(have)):
        if i < extra or (to[i - extra] == 1 and have[i] != 1):
            axes.append(i)
    y = reduce.sum_dims(x, tuple(axes), True)
    return reshape(y, to) if extra else y


from . import reduce  # noqa: E402  expand and sum are each other's derivative
