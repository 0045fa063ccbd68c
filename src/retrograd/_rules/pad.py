"""Padding.  An axis may also be cut (a negative pad)."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .inert_inputs import tied

np: Final[Any] = numpy


@final
class ConstantPadNdBackward0(Unary):
    """`pads`: (before, after) for each of the last dims."""

    shows: ClassVar[Any] = {"pad": "pad"}

    def __init__(self, pads: tuple[tuple[int, int], ...], value: Any) -> None:
        self.pads: Any = pads
        self.value: Any = value

    @property
    def pad(self) -> Any:
        """PyTorch's order: last dim first."""
        out: list[int] = []
        for i in range(len(self.pads) - 1, -1, -1):
            out.append(self.pads[i][0])
            out.append(self.pads[i][1])
        return tuple(out)

    def forward(self, x: Array) -> Array:
        lead = x.ndim - len(self.pads)
        to: list[int] = list(x.shape[:lead])
        source: list[Any] = [slice(None)] * lead
        target: list[Any] = [slice(None)] * lead
        for i in range(len(self.pads)):
            before, after = self.pads[i]
            n = x.shape[lead + i]
            m = n + before + after
            to.append(m)
            source.append(slice(max(0, -before), n - max(0, -after)))
            target.append(slice(max(0, before), m - max(0, after)))
        out = np.empty(tuple(to), x.dtype)
        pad = self.value if x.dtype.kind == "c" else float(self.value)          # as in PyTorch, where a pad is a double
        check_fill(pad, x.dtype, out.size)
        out[...] = np.asarray(self.value).astype(x.dtype)
        out[tuple(target)] = x[tuple(source)]
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        back: list[tuple[int, int]] = []
        for before, after in self.pads:
            back.append((-before, -after))
        return constant(g, tuple(back), 0)


class Mirrored(Unary):
    """Padding with the tensor's own elements: `maps` says, for each of the last dims, which element stands where."""

    shows: ClassVar[Any] = {"padding": "padding"}

    def __init__(self, maps: list[Array], padding: Shape) -> None:
        self.maps: Any = maps
        self.padding = padding

    def forward(self, x: Array) -> Array:
        lead = x.ndim - len(self.maps)
        for i in range(len(self.maps)):
            x = x.take(self.maps[i], lead + i)
        return x

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: list[int] = list(x.shape[x.ndim - len(self.maps):])
        got = TakenBackward0(self.maps, tuple(sizes), self.name())
        return tied(got.run(g), [x], got.name())


@final
class ReflectionPad1DBackward0(Mirrored):
    pass


@final
class ReflectionPad2DBackward0(Mirrored):
    pass


@final
class ReflectionPad3DBackward0(Mirrored):
    pass


@final
class ReplicationPad1DBackward0(Mirrored):
    pass


@final
class ReplicationPad2DBackward0(Mirrored):
    pass


@final
class ReplicationPad3DBackward0(Mirrored):
    pass


@final
class TakenBackward0(Unary):
    """The adjoint of Mirrored: elements go back where they came from, and add up."""

    def __init__(self, maps: Any, sizes: Shape, title: str) -> None:
        self.maps: Any = maps
        self.sizes = sizes
        self.title = title                      # of the padding

    def name(self) -> str:
        return self.title[:-9] + "BackwardBackward0"

    def forward(self, x: Array) -> Array:
        lead = x.ndim - len(self.maps)
        for i in range(len(self.maps)):
            x = add_back(x, self.maps[i], lead + i, self.sizes[i])
        return x

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return TakeAxes(self.maps, self.sizes, self.title).run(g)


@final
class TakeAxes(Unary):
    """Mirrored as the adjoint of its adjoint."""

    def __init__(self, maps: Any, sizes: Shape, title: str) -> None:
        self.maps: Any = maps
        self.sizes = sizes
        self.title = title

    def name(self) -> str:
        return self.title

    def forward(self, x: Array) -> Array:
        lead = x.ndim - len(self.maps)
        for i in range(len(self.maps)):
            x = x.take(self.maps[i], lead + i)
        return x

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return TakenBackward0(self.maps, self.sizes, self.title).run(g)


def add_back(x: Array, where: Array, axis: int, n: int) -> Array:
    """Zeros of size n along an axis, with x's slices added at `where`; the run that is in place goes in one piece."""
    out = np.zeros(x.shape[:axis] + (n,) + x.shape[axis + 1:], x.dtype)
    head = (slice(None),) * axis
    low = 0
    high = 0
    start = 0
    for j in range(1, where.shape[0] + 1):      # the longest run of neighbours: [low, high)
        if j == where.shape[0] or where[j] != where[j - 1] + 1:
            if j - start > high - low:
                low = start
                high = j
            start = j
    if high > low:
        first = int(where[low])
        out[head + (slice(first, first + high - low),)] += x[head + (slice(low, high),)]
    for j in range(where.shape[0]):
        if j < low or j >= high:
            out[head + (int(where[j]),)] += x[head + (j,)]
    return out


def constant(x: Value, pads: tuple[tuple[int, int], ...], value: Any) -> Value:
    """pads: (before, after) for each of the last len(pads) dims, in the order of the dims."""
    return ConstantPadNdBackward0(pads, value).run(x)


def reflect(x: Value, maps: list[Array], padding: Shape) -> Value:
    if len(maps) == 1:
        return ReflectionPad1DBackward0(maps, padding).run(x)
    if len(maps) == 2:
        return ReflectionPad2DBackward0(maps, padding).run(x)
    return ReflectionPad3DBackward0(maps, padding).run(x)


def replicate(x: Value, maps: list[Array], padding: Shape) -> Value:
    if len(maps) == 1:
        return ReplicationPad1DBackward0(maps, padding).run(x)
    if len(maps) == 2:
        return ReplicationPad2DBackward0(maps, padding).run(x)
    return ReplicationPad3DBackward0(maps, padding).run(x)


from .index import check_fill  # noqa: E402
