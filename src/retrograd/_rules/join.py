"""Joining and splitting."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Many, Nary
from .._engine.node import Array, Shape, Value
from .._engine.tensor import TensorBase
from .packed import packed

np: Final[Any] = numpy


@final
class CatBackward0(Nary):
    """xs one after the other along dim, in `dtype`; 1-dim inputs without elements count for nothing."""

    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int, dtype: Any) -> None:
        super().__init__()
        self.dim = dim
        self.dtype: Any = dtype
        self.ends: list[int] = []               # where each input ends; 0 for what was left out

    def forward(self, xs: list[Array]) -> Array:
        end = 0
        some: list[Array] = []
        self.ends = []
        for x in xs:
            if x.ndim == 1 and x.shape[0] == 0:
                self.ends.append(0)
            else:
                some.append(x)
                end += x.shape[self.dim]
                self.ends.append(end)
        if not some:
            return np.zeros(0, xs[0].dtype if self.dtype is None else self.dtype)
        if self.dtype is not None:
            some = [x.astype(self.dtype, copy=False) for x in some]
        return packed(np.concatenate(some, self.dim))

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = []
        start = 0
        lead = (slice(None),) * self.dim
        for i in range(len(self.ends)):
            end = self.ends[i]
            if end == 0 and self.like[i] is not None and self.like[i][0] == (0,):
                outs.append(slices.take(shape.flat(g), (slice(0, 0),)) if want[i] else None)
                continue
            outs.append(slices.take(g, lead + (slice(start, end),)) if want[i] else None)
            start = end
        return outs


@final
class StackBackward0(Nary):
    """xs as the rows of a new dim."""

    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int, dtype: Any) -> None:
        super().__init__()
        self.dim = dim
        self.dtype: Any = dtype

    def forward(self, xs: list[Array]) -> Array:
        if self.dtype is not None:
            xs = [x.astype(self.dtype, copy=False) for x in xs]
        return packed(np.stack(xs, self.dim))

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        lead = (slice(None),) * self.dim
        outs: list[Value] = []
        for i in range(len(want)):
            outs.append(slices.take(g, lead + (i,)) if want[i] else None)
        return outs


@final
class BlockDiagBackward0(Nary):
    """Matrices along the diagonal; vectors are rows, numbers 1 by 1."""

    def __init__(self, dtype: Any) -> None:
        super().__init__()
        self.dtype: Any = dtype
        self.sizes: list[Any] = []

    def forward(self, xs: list[Array]) -> Array:
        self.sizes = [x.shape for x in xs]
        blocks = [np.atleast_2d(x) for x in xs]
        down = 0
        right = 0
        for b in blocks:
            down += b.shape[0]
            right += b.shape[1]
        out = np.zeros((down, right), self.dtype)
        down = 0
        right = 0
        for b in blocks:
            out[down:down + b.shape[0], right:right + b.shape[1]] = b
            down += b.shape[0]
            right += b.shape[1]
        return out

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = []
        down = 0
        right = 0
        for i in range(len(want)):
            sizes: Shape = self.sizes[i]
            rows = sizes[0] if len(sizes) == 2 else 1
            columns = sizes[len(sizes) - 1] if sizes else 1
            block = (slice(down, down + rows), slice(right, right + columns))
            outs.append(shape.reshape(slices.take(g, block), sizes) if want[i] else None)
            down += rows
            right += columns
        return outs


class SplitOf(Many):
    """Pieces of split_size along dim, the last one smaller."""

    shows: ClassVar[Any] = {"dim": "dim", "self_sym_sizes": "was", "split_size": "split_size"}

    def __init__(self, split_size: int, dim: int) -> None:
        super().__init__()
        self.split_size = split_size
        self.dim = dim
        self.was: Shape = ()

    def forward(self, x: Array) -> list[Array]:
        self.was = x.shape
        lead = (slice(None),) * self.dim
        n = x.shape[self.dim]
        size = self.split_size
        if n == 0 or size == 0:
            return [x[...]]
        return [x[lead + (slice(at, at + size),)] for at in range(0, n, size)]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return cat(gs, self.dim)


@final
class SplitBackward0(SplitOf):
    views = True


@final
class UnsafeSplitBackward0(SplitOf):
    """As split, of the same memory, which autograd takes for copies."""

    def run(self, x: Value) -> list[Value]:
        return flagged(super().run(x), x)


def flagged(outs: list[Value], x: Value) -> list[Value]:
    """Copies, as autograd sees them, of an inference tensor are inference tensors."""
    for out in outs:
        if isinstance(x, TensorBase):
            out.inference = x.inference
    return outs


class SplitSizesOf(Many):
    """Pieces of given sizes along dim."""

    shows: ClassVar[Any] = {"dim": "dim", "self_sym_sizes": "was", "split_sizes": "split_sizes"}

    def __init__(self, split_sizes: Shape, dim: int) -> None:
        super().__init__()
        self.split_sizes = split_sizes
        self.dim = dim
        self.was: Shape = ()

    def forward(self, x: Array) -> list[Array]:
        self.was = x.shape
        lead = (slice(None),) * self.dim
        outs: list[Array] = []
        at = 0
        for size in self.split_sizes:
            outs.append(x[lead + (slice(at, at + size),)])
            at += size
        return outs

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return cat(gs, self.dim)


@final
class SplitWithSizesBackward0(SplitSizesOf):
    views = True


@final
class UnsafeSplitWithSizesBackward0(SplitSizesOf):
    """As split_with_sizes, of the same memory, which autograd takes for copies."""

    def run(self, x: Value) -> list[Value]:
        return flagged(super().run(x), x)


@final
class UnbindBackward0(Many):
    """The slices along dim."""

    views = True
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, x: Array) -> list[Array]:
        lead = (slice(None),) * self.dim
        return [x[lead + (i, Ellipsis)] for i in range(x.shape[self.dim])]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return stack(gs, self.dim)


def cat(xs: list[Value], dim: int) -> Value:
    """xs of one dtype."""
    return CatBackward0(dim, None).run(xs)


def cat_as(xs: list[Value], dim: int, dtype: Any) -> Value:
    return CatBackward0(dim, dtype).run(xs)


def stack(xs: list[Value], dim: int) -> Value:
    return StackBackward0(dim, None).run(xs)


def stack_as(xs: list[Value], dim: int, dtype: Any) -> Value:
    return StackBackward0(dim, dtype).run(xs)


def block_diag(xs: list[Value], dtype: Any) -> Value:
    return BlockDiagBackward0(dtype).run(xs)


from . import shape, slices  # noqa: E402
