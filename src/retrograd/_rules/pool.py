"""Pooling, resampling, and the shuffles between channels and pixels.

The last dims are spatial; whatever comes before is batch.  Half precision adds up in float32.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .._kernels import kernel
from .inert_inputs import tied

np: Final[Any] = numpy
quick_maxima: Final[Any] = kernel("max_pool")
quick_maxima3: Final[Any] = kernel("max_pool3")
quick_place: Final[Any] = kernel("place_at")
quick_sums: Final[Any] = kernel("window_sums")
quick_spread: Final[Any] = kernel("spread_sums")


def count(sizes: Shape) -> int:
    n = 1
    for s in sizes:
        n *= s
    return n


def wide(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def back(y: Array, like: Array) -> Array:
    return y if y.dtype is like.dtype else y.astype(like.dtype)


def doubled(name: str) -> str:
    """PyTorch's name of the node that stands for the rule of a node."""
    return name[:-9] + "BackwardBackward0"


def following(at: list[int], sizes: Shape) -> bool:
    """The next index in row-major order, in place; False after the last."""
    i = len(sizes) - 1
    while i >= 0:
        at[i] += 1
        if at[i] < sizes[i]:
            return True
        at[i] = 0
        i -= 1
    return False


# Maxima

class MaxOver(Unary):
    """The largest element of each window.

    taps: for each spatial dim an array (P, K) of positions; positions outside repeat one inside, which changes no
    maximum.
    The first of equal elements wins; a nan wins over all.
    """

    holds = True

    def __init__(self, taps: list[Array], overlap: bool) -> None:
        self.taps: Any = taps
        self.overlap = overlap
        self.where: Array = None
        self.hollow: bool = False               # whether windows lie outside altogether: their maximum is the lowest number
        self.sizes: Shape = ()
        self.kernel: Any = None
        self.stride: Any = None
        self.padding: Any = None
        self.dilation: Any = None
        self.ceil: bool = False

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        dims = len(self.taps)
        lead = x.ndim - dims
        self.sizes = x.shape[lead:]
        if self.hollow:
            x = grown(x, self.taps)
        elif dims == 2:
            quick = quick_maxima(x, self.taps[0], self.taps[1])
            if quick is not None:
                self.where = quick[1]
                return quick[0]
        elif dims == 3:
            quick = quick_maxima3(x, self.taps[0], self.taps[1], self.taps[2])
            if quick is not None:
                self.where = quick[1]
                return quick[0]
        widths: Shape = tuple([t.shape[1] for t in self.taps])
        steps = [[along(t[:, k]) for k in range(t.shape[1])] for t in self.taps]
        at = [0] * dims
        best: Array = None
        where: Array = None
        while True:
            value = x
            flat: Array = 0
            for i in range(dims):
                t = self.taps[i]
                value = pick(value, steps[i][at[i]], lead + i)
                flat = flat * self.sizes[i] + t[:, at[i]].reshape((-1,) + (1,) * (dims - 1 - i))
            if best is None:
                best = np.array(value, order="C")
                where = np.empty(best.shape, np.int64)
                where[...] = flat
            else:
                better = ~(value <= best)       # larger, or nan on one side
                if best.dtype.kind in "fV":
                    better &= (best == best) | (value != value)
                np.copyto(best, value, where=better)
                np.copyto(where, flat, where=better)
            if not following(at, widths):
                break
        self.where = where
        return best

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = tuple(x.shape[len(x.shape) - len(self.taps):])
        where = self.where
        overlap = self.overlap
        if self.hollow:
            within: Array = True
            for i in range(len(self.taps)):
                within = within & (self.taps[i][:, 0] < sizes[i]).reshape((-1,) + (1,) * (len(self.taps) - 1 - i))
            g = choose.where(np.broadcast_to(within, where.shape), g, 0.0)
            where = np.where(within, where, 0)
            overlap = True
        return tied(PlaceAt(where, sizes, overlap, doubled(self.name())).run(g), [x], doubled(self.name()))


def grown(x: Array, taps: list[Array]) -> Array:
    """x with its dtype's lowest numbers after its ends, as far as taps reach."""
    lead = x.ndim - len(taps)
    sizes: list[int] = list(x.shape[:lead])
    inner: list[Any] = [Ellipsis]
    for i in range(len(taps)):
        n: int = x.shape[lead + i]
        sizes.append(max(n, int(taps[i].max()) + 1))
        inner.append(slice(n))
    out = np.full(tuple(sizes), np.iinfo(x.dtype).min if x.dtype.kind in "iu" else -np.inf, x.dtype)
    out[tuple(inner)] = x
    return out


def along(positions: Array) -> Any:
    """A slice, where the positions are evenly spaced and rising."""
    n = positions.shape[0]
    first = int(positions[0]) if n else 0
    step = int(positions[1]) - first if n > 1 else 1
    if n and step > 0 and int(positions[n - 1]) == first + step * (n - 1) and bool((np.diff(positions) == step).all()):
        return slice(first, first + step * (n - 1) + 1, step)
    return positions


def pick(x: Array, where: Any, axis: int) -> Array:
    return x[(slice(None),) * axis + (where,)]


@final
class MaxPool2DWithIndicesBackward0(MaxOver):
    shows: ClassVar[Any] = {
        "kernel_size": "kernel", "stride": "stride", "padding": "padding", "dilation": "dilation",
        "ceil_mode": "ceil", "result1": "where"}


@final
class MaxPool3DWithIndicesBackward0(MaxOver):
    shows: ClassVar[Any] = {
        "kernel_size": "kernel", "stride": "stride", "padding": "padding", "dilation": "dilation",
        "ceil_mode": "ceil", "result1": "where"}


@final
class AdaptiveMaxPool2DBackward0(MaxOver):
    shows: ClassVar[Any] = {"result1": "where"}


@final
class AdaptiveMaxPool3DBackward0(MaxOver):
    shows: ClassVar[Any] = {"result1": "where"}


@final
class PlaceAt(Unary):
    """Zeros of some spatial sizes with x added at flat positions; without `overlap` no two are the same."""

    holds = True

    def __init__(self, where: Array, sizes: Shape, overlap: bool, title: str) -> None:
        self.where: Array = where
        self.sizes = sizes
        self.overlap = overlap
        self.title = title

    def name(self) -> str:
        return self.title

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        return placed(x, self.where, self.sizes, self.overlap)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return TakeAt(self.where, self.sizes, self.overlap, self.title).run(g)


def placed(x: Array, where: Array, sizes: Shape, overlap: bool) -> Array:
    if len(sizes) == 2:
        quick = quick_place(x, where, sizes[0], sizes[1])
        if quick is not None:
            return quick
    lead = x.shape[:x.ndim - len(sizes)]
    n = count(lead)
    m = count(sizes)
    at = where.reshape(n, where.size // n if n else 0)
    flat = x.reshape(at.shape)
    if not overlap:
        out = np.zeros((n, m), x.dtype)
        if out.size:
            np.put_along_axis(out, at, flat, 1)
    else:
        every = (at + np.arange(n)[:, None] * m).reshape(-1)
        out = np.bincount(every, flat.reshape(-1).astype(np.float64), n * m).astype(x.dtype)
    return out.reshape(lead + sizes)


@final
class TakeAt(Unary):
    """The elements of x at flat positions: the adjoint of PlaceAt."""

    holds = True

    def __init__(self, where: Array, sizes: Shape, overlap: bool, title: str) -> None:
        self.where: Array = where
        self.sizes = sizes
        self.overlap = overlap
        self.title = title                      # of the PlaceAt

    def name(self) -> str:
        return "ViewBackward0"                  # the last of several steps in PyTorch

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        n = count(x.shape[:x.ndim - len(self.sizes)])
        at = self.where.reshape(n, self.where.size // n if n else 0)
        if at.size and at.max() >= count(self.sizes):
            raise RuntimeError(f"index {at[at >= count(self.sizes)][0]} is out of bounds for dimension "
                               f"{x.ndim - len(self.sizes)} with size {count(self.sizes)}")
        return np.take_along_axis(x.reshape(n, count(self.sizes)), at, 1).reshape(self.where.shape)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return PlaceAt(self.where, self.sizes, self.overlap, self.title).run(g)


class Unpool(Unary):
    holds = True
    shows: ClassVar[Any] = {"indices": "where"}

    def __init__(self, where: Array, sizes: Shape) -> None:
        self.where: Array = where
        self.sizes = sizes

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        lead = x.shape[:x.ndim - len(self.sizes)]
        n = count(lead)
        at = self.where.reshape(n, self.where.size // n if n else 0)
        out = np.zeros((n, count(self.sizes)), x.dtype)
        if out.size:
            np.put_along_axis(out, at, x.reshape(at.shape), 1)  # of windows that overlap the last one stays
        return out.reshape(lead + self.sizes)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return TakeAt(self.where, self.sizes, True, doubled(self.name())).run(g)


@final
class MaxUnpool2DBackward0(Unpool):
    pass


@final
class MaxUnpool3DBackward0(Unpool):
    pass


# Means over windows

class Windows:
    """Where the windows of an average lie, and what each sum is divided by."""

    def __init__(self, kernel: Shape, stride: Shape, padding: Shape, sizes: Shape, out: Shape, divisor: Any) -> None:
        self.kernel = kernel
        self.stride = stride
        self.padding = padding
        self.sizes = sizes
        self.out = out
        self.divisor: Any = divisor
        self.flat: Any = None       # of three dims the first, and of the others all that lies there
        self.pairs: Any = None      # for kernels, which know two dims
        if len(kernel) == 3:
            self.flat = (sizes[0], out[1] * out[2], kernel[0], 1, stride[0], 1, padding[0], 0, 1, 1, out[0], out[1] * out[2])
        if len(kernel) > 1:
            self.pairs = sizes[-2:] + kernel[-2:] + stride[-2:] + padding[-2:] + (1, 1) + out[-2:]

    def taps(self, i: int) -> list[int]:
        """The steps within a window along dim i that meet x somewhere; of a huge window that is few."""
        n, k, s, p, m = self.sizes[i], self.kernel[i], self.stride[i], self.padding[i], self.out[i]
        if s <= n:
            return list(range(max(0, p - (m - 1) * s), min(k, p + n)))
        return [t for q in range(m - 1, -1, -1) for t in range(max(0, p - q * s), min(k, p - q * s + n))]

    def pieces(self) -> list[Any]:
        """For every step within a window: which windows meet x there, and where."""
        steps = [self.taps(i) for i in range(len(self.kernel))]
        found: list[Any] = []
        if 0 in [len(t) for t in steps]:
            return found
        at = [0] * len(steps)
        while True:
            windows: list[Any] = [Ellipsis]
            places: list[Any] = [Ellipsis]
            for i in range(len(at)):
                s = self.stride[i]
                start = steps[i][at[i]] - self.padding[i]
                first = max(0, -(start // s))
                stop = min(self.out[i], (self.sizes[i] - 1 - start) // s + 1)
                windows.append(slice(first, stop))
                places.append(slice(start + first * s, start + (stop - 1) * s + 1, s))
            found.append((tuple(windows), tuple(places)))
            if not following(at, tuple([len(t) for t in steps])):
                return found

    def average(self, x: Array) -> Array:
        lead = x.shape[:x.ndim - len(self.kernel)]
        own = x
        if self.pairs is not None:
            quick = quick_sums(x, self.pairs)
            if quick is not None and self.flat is not None:
                quick = quick_sums(quick.reshape(lead + self.flat[:2]), self.flat).reshape(lead + self.out)
            if quick is not None:
                quick /= self.divisor
                return quick
        x = wide(x)
        y = np.zeros(lead + self.out, x.dtype)
        for windows, places in self.pieces():
            y[windows] += x[places]
        if own.dtype.kind in "iu":
            return np.trunc(y / self.divisor).astype(own.dtype)
        y /= self.divisor
        return back(y, own)

    def spread(self, g: Array) -> Array:
        lead = g.shape[:g.ndim - len(self.kernel)]
        part = wide(g) / self.divisor
        if self.pairs is not None:
            if self.flat is None:
                quick = quick_spread(part, self.pairs)
            else:
                quick = quick_spread(part.reshape(lead + self.flat[-2:]), self.flat)
                if quick is not None:
                    quick = quick_spread(quick.reshape(lead + self.sizes[:1] + self.out[1:]), self.pairs)
            if quick is not None:
                return quick
        out = np.zeros(lead + self.sizes, part.dtype)
        for windows, places in self.pieces():
            out[places] += part[windows]
        return back(out, g)


class AverageOver(Unary):
    shows: ClassVar[Any] = {
        "kernel_size": "kernel", "stride": "stride", "padding": "padding", "ceil_mode": "ceil",
        "count_include_pad": "include", "divisor_override": "override"}

    def __init__(self, windows: Windows, ceil: bool, include: bool, override: Optional[int]) -> None:
        self.windows: Windows = windows
        self.kernel: Shape = windows.kernel
        self.stride: Shape = windows.stride
        self.padding: Shape = windows.padding
        self.ceil = ceil
        self.include = include
        self.override = override

    def forward(self, x: Array) -> Array:
        return self.windows.average(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return tied(SpreadOver(self.windows, self.name()).run(g), [x], doubled(self.name()))


@final
class AvgPool2DBackward0(AverageOver):
    pass


@final
class AvgPool3DBackward0(AverageOver):
    pass


@final
class SpreadOver(Unary):
    """The adjoint of an average pool."""

    def __init__(self, windows: Windows, title: str) -> None:
        self.windows: Windows = windows
        self.title = title                      # of the pool

    def name(self) -> str:
        return doubled(self.title)

    def forward(self, x: Array) -> Array:
        return self.windows.spread(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return AverageAgain(self.windows, self.title).run(g)


@final
class AverageAgain(Unary):
    """An average pool as the adjoint of its adjoint."""

    def __init__(self, windows: Windows, title: str) -> None:
        self.windows: Windows = windows
        self.title = title

    def name(self) -> str:
        return self.title

    def forward(self, x: Array) -> Array:
        return self.windows.average(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return SpreadOver(self.windows, self.title).run(g)


# Resampling: every output is a weighted sum of a few inputs, one spatial dim at a time

class Axis:
    """One spatial dim: `taps` (P, K) positions, `weights` (P, K) or None for 1, `divisor` (P,) or None."""

    def __init__(self, taps: Array, weights: Array, divisor: Array, size: int) -> None:
        self.taps: Array = taps
        self.weights: Array = weights
        self.divisor: Array = divisor
        self.size = size

    def shaped(self, numbers: Array, x: Array, after: int) -> Array:
        return numbers.astype(x.dtype).reshape((-1,) + (1,) * after)

    def gather(self, x: Array, axis: int) -> Array:
        after = x.ndim - 1 - axis
        y: Array = None
        for k in range(self.taps.shape[1]):
            part = x.take(self.taps[:, k], axis)
            if self.weights is not None:
                part *= self.shaped(self.weights[:, k], x, after)
            if y is None:
                y = part
            else:
                y += part
        if self.divisor is not None:
            y /= self.shaped(self.divisor, x, after)
        return y

    def scatter(self, g: Array, axis: int) -> Array:
        after = g.ndim - 1 - axis
        head = (slice(None),) * axis
        out = np.zeros(g.shape[:axis] + (self.size,) + g.shape[axis + 1:], g.dtype)
        if g.size == 0:
            return out
        if self.divisor is not None:
            g = g / self.shaped(self.divisor, g, after)
        for k in range(self.taps.shape[1]):
            positions = self.taps[:, k]         # never falls: equal neighbours form groups
            starts = np.concatenate([np.zeros(1, np.intp), np.flatnonzero(np.diff(positions)) + 1])
            part = g if self.weights is None else g * self.shaped(self.weights[:, k], g, after)
            out[head + (positions[starts],)] += np.add.reduceat(part, starts, axis)
        return out


def resample(x: Array, axes: list[Axis]) -> Array:
    y = wide(x)
    for i in range(len(axes) - 1, -1, -1):
        y = axes[i].gather(y, x.ndim - len(axes) + i)
    return back(y, x)


class Resampled(Unary):
    def __init__(self, axes: list[Axis], scales: Any, align: Any) -> None:
        self.axes: Any = axes
        self.out: Shape = tuple([a.taps.shape[0] for a in axes])
        self.was: Shape = ()
        self.align: Any = align
        self.width: Any = scales[-1] if scales else None
        self.height: Any = scales[-2] if len(scales) > 1 else None
        self.depth: Any = scales[-3] if len(scales) > 2 else None

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return resample(x, self.axes)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return ResampledBack(self.axes, self.name()).run(g)


@final
class ResampledBack(Unary):
    """The adjoint of Resampled."""

    def __init__(self, axes: Any, title: str) -> None:
        self.axes: Any = axes
        self.title = title                      # of the Resampled

    def name(self) -> str:
        return doubled(self.title)

    def forward(self, x: Array) -> Array:
        y = wide(x)
        for i in range(len(self.axes)):
            y = self.axes[i].scatter(y, x.ndim - len(self.axes) + i)
        return back(y, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        again = ResampledAgain(self.axes, (), None)
        again.title = self.title
        return again.run(g)


@final
class ResampledAgain(Resampled):
    """The adjoint of the adjoint."""

    title: str = ""

    def name(self) -> str:
        return self.title


class AdaptiveAverage(Resampled):
    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return tied(ResampledBack(self.axes, self.name()).run(g), [x], doubled(self.name()))


@final
class AdaptiveAvgPool2DBackward0(AdaptiveAverage):
    pass


@final
class AdaptiveAvgPool3DBackward0(AdaptiveAverage):
    pass


@final
class UpsampleNearest1DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was",
        "scales": "width"}


@final
class UpsampleNearest2DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was",
        "scales_h": "height", "scales_w": "width"}


@final
class UpsampleNearest3DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was",
        "scales_d": "depth", "scales_h": "height", "scales_w": "width"}


@final
class UpsampleNearestExact1DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was",
        "scales": "width"}


@final
class UpsampleNearestExact2DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was",
        "scales_h": "height", "scales_w": "width"}


@final
class UpsampleNearestExact3DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was",
        "scales_d": "depth", "scales_h": "height", "scales_w": "width"}


@final
class UpsampleLinear1DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was", "align_corners": "align",
        "scales": "width"}


@final
class UpsampleBilinear2DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was", "align_corners": "align",
        "scales_h": "height", "scales_w": "width"}


@final
class UpsampleTrilinear3DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was", "align_corners": "align",
        "scales_d": "depth", "scales_h": "height", "scales_w": "width"}


@final
class UpsampleBicubic2DBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was", "align_corners": "align",
        "scales_h": "height", "scales_w": "width"}


@final
class UpsampleBilinear2DAaBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was", "align_corners": "align",
        "scales_h": "height", "scales_w": "width"}


@final
class UpsampleBicubic2DAaBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was", "align_corners": "align",
        "scales_h": "height", "scales_w": "width"}


@final
class UpsampleLanczos2DAaBackward0(Resampled):
    shows: ClassVar[Any] = {
        "output_size": "out", "self_sym_sizes": "was", "align_corners": "align",
        "scales_h": "height", "scales_w": "width"}


RESAMPLED: Final[Any] = {
    ("nearest", 1): UpsampleNearest1DBackward0, ("nearest", 2): UpsampleNearest2DBackward0,
    ("nearest", 3): UpsampleNearest3DBackward0, ("nearest-exact", 1): UpsampleNearestExact1DBackward0,
    ("nearest-exact", 2): UpsampleNearestExact2DBackward0, ("nearest-exact", 3): UpsampleNearestExact3DBackward0,
    ("linear", 1): UpsampleLinear1DBackward0, ("bilinear", 2): UpsampleBilinear2DBackward0,
    ("trilinear", 3): UpsampleTrilinear3DBackward0, ("bicubic", 2): UpsampleBicubic2DBackward0,
    ("bilinear-aa", 2): UpsampleBilinear2DAaBackward0, ("bicubic-aa", 2): UpsampleBicubic2DAaBackward0,
    ("lanczos-aa", 2): UpsampleLanczos2DAaBackward0,
    ("adaptive", 2): AdaptiveAvgPool2DBackward0, ("adaptive", 3): AdaptiveAvgPool3DBackward0,
}


# Shuffles

def lead_of(x: Array) -> int:
    """How many images, also when they have no channels."""
    n = 1
    for size in x.shape[:-3]:
        n *= size
    return n


@final
class PixelShuffleBackward0(Unary):
    """(*, C r r, H, W) -> (*, C, H r, W r)"""

    shows: ClassVar[Any] = {"upscale_factor": "factor"}

    def __init__(self, factor: int) -> None:
        self.factor = factor

    def forward(self, x: Array) -> Array:
        r = self.factor
        c, h, w = x.shape[-3:]
        y = x.reshape((lead_of(x), c // (r * r), r, r, h, w)).transpose((0, 1, 4, 2, 5, 3))
        return y.reshape(x.shape[:-3] + (c // (r * r), h * r, w * r))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return PixelUnshuffleBackward0(self.factor).run(g)


@final
class PixelUnshuffleBackward0(Unary):
    shows: ClassVar[Any] = {"downscale_factor": "factor"}

    def __init__(self, factor: int) -> None:
        self.factor = factor
        self.by: int = factor                   # for the gradient

    def forward(self, x: Array) -> Array:
        if not x.size:
            self.by = 1
            return x.copy()                                 # as in PyTorch: of the same shape
        r = self.factor
        c, h, w = x.shape[-3:]
        y = x.reshape((lead_of(x), c, h // r, r, w // r, r)).transpose((0, 1, 3, 5, 2, 4))
        return y.reshape(x.shape[:-3] + (c * r * r, h // r, w // r))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return PixelShuffleBackward0(self.by).run(g)


@final
class ChannelShuffleBackward0(Unary):
    """Channels (dim 1) dealt out from `groups` piles in turn."""

    shows: ClassVar[Any] = {"groups": "groups"}

    def __init__(self, groups: int) -> None:
        self.groups = groups
        self.other: int = 1

    def forward(self, x: Array) -> Array:
        n, c = x.shape[:2]
        self.other = c // self.groups
        y = x.reshape((n, self.groups, self.other) + x.shape[2:]).swapaxes(1, 2)
        return y.reshape(x.shape)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return ChannelShuffleBackward0(max(self.other, 1)).run(g)


from . import choose  # noqa: E402
