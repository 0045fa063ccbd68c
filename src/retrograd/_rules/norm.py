"""Normalisation: layer, batch and group norm.

Each takes x, a weight and a bias (or None), subtracts a mean and divides by sqrt(variance + eps) over some
elements, and scales.  With n = (x - mean) * r, r = 1/sqrt(var + eps) and h = g * weight, the gradient of x is
r * (h - mean(h) - n * mean(h n)).  For a second derivative mean and r are formed again from x, as ops.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Nary
from .._engine.node import Array, Shape, Value
from .._engine.tensor import TensorBase
from .._kernels import kernel
from .inert_inputs import tied
from .packed import packed

np: Final[Any] = numpy
SINGLE: Final[Any] = numpy.dtype("float32")
quick_norm: Final[Any] = kernel("layer_norm")
quick_norm_grad: Final[Any] = kernel("layer_norm_grad")
quick_stats: Final[Any] = kernel("channel_stats")
quick_affine: Final[Any] = kernel("channel_affine")


def is_half(x: Value) -> bool:
    dtype = x.array.dtype if isinstance(x, TensorBase) else x.dtype
    return dtype.itemsize == 2


def up(x: Value) -> Value:
    """Half precision to float32; None stays None."""
    if x is None or not is_half(x):
        return x
    return cast.cast(x, SINGLE)


def moments(x: Array, dims: Shape, eps: float) -> Any:
    """Mean, 1/sqrt(variance + eps), and the variance (biased); dims are kept."""
    mean = x.mean(dims, keepdims=True)
    off = x - mean
    var = np.mean(off * off, dims, keepdims=True)
    return mean, 1 / np.sqrt(var + np.asarray(eps, x.dtype)), var


class Normalised(Nary):
    """What the three share.  `dims`: over which to average; `scale`: the shape in which weight and bias broadcast."""

    holds: bool = True
    lends = False
    names: ClassVar[Any] = {}

    def __init__(self, eps: float) -> None:
        super().__init__()
        self.eps = eps
        self.dims: Shape = ()
        self.scale: Shape = ()
        self.mean: Array = None
        self.rstd: Array = None

    def drop(self) -> None:
        self.mean = None
        self.rstd = None

    def affine(self, y: Array, xs: list[Array]) -> Array:
        if xs[1] is not None:
            y *= xs[1].reshape(self.scale)
        if xs[2] is not None:
            y += xs[2].reshape(self.scale)
        return y

    def finish(self, y: Array, x: Array) -> Array:
        return packed(y if y.dtype is x.dtype else y.astype(x.dtype))

    def normal(self, x: Value) -> tuple[Value, Value]:
        """(n, r) as above, differentiable in x."""
        if isinstance(x, TensorBase):
            off = x - reduce.mean_dims(x, self.dims, True)
            r = arith.pow(reduce.mean_dims(off * off, self.dims, True) + self.eps, -0.5)
            return off * r, r
        r2: Array = self.rstd
        return (x - self.mean) * r2, r2

    def common(self, g: Value, x: Value, w: Value, want: list[bool], kept: Shape) -> list[Value]:
        """The three gradients, x and g in the shape that `dims` refer to; `kept`: dims of weight and bias."""
        n, r = self.normal(x)
        out: list[Value] = [None, None, None]
        if want[0]:
            h = g if w is None else g * shape.reshape(w, self.scale)
            out[0] = r * (
                h - reduce.mean_dims(h, self.dims, True) - n * reduce.mean_dims(h * n, self.dims, True))
        if want[1]:
            out[1] = reduce.sum_dims(g * n, kept, False)
        if want[2]:
            out[2] = reduce.sum_dims(g, kept, False)
        return out


def others(ndim: int, kept: Shape) -> Shape:
    return tuple([i for i in range(ndim) if i not in kept])


@final
class NativeLayerNormBackward0(Normalised):
    """Over the last `count` dims, which are also those of weight and bias."""

    reads = 1 | 2 | 4                           # as PyTorch
    names: ClassVar[Any] = {"input": 0, "weight": 1, "bias": 2}
    shows: ClassVar[Any] = {"normalized_shape": "over", "result1": "mean", "result2": "rstd"}

    def __init__(self, over: Shape, eps: float) -> None:
        super().__init__(eps)
        self.over = over

    def forward(self, xs: list[Array]) -> Array:
        x = xs[0]
        self.dims = tuple(range(x.ndim - len(self.over), x.ndim))
        self.scale = self.over
        quick = quick_norm(x, xs[1], xs[2], len(self.over), self.eps)
        if quick is not None:
            self.mean = quick[1]
            self.rstd = quick[2]
            return quick[0]
        wide: Array = up(x)
        mean = wide.mean(self.dims, keepdims=True)
        y = wide - mean
        var = np.mean(y * y, self.dims, keepdims=True)
        rstd = 1 / np.sqrt(var + np.asarray(self.eps, wide.dtype))
        y *= rstd
        self.mean = mean
        self.rstd = rstd
        return self.finish(self.affine(y, xs), x)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        quick = quick_norm_grad(
            g, xs[0], xs[1], self.mean, self.rstd, len(self.over), want[0], want[1], want[2])
        if quick is not None:
            return list(quick)
        if not isinstance(g, TensorBase) and is_half(g) and (xs[1] is None or is_half(xs[1])):
            return self.rounded(g, xs[0], xs[1], want)
        lead = len(linalg.sizes(g)) - len(self.over)
        out = self.common(up(g), up(xs[0]), up(xs[1]), want, tuple(range(lead)))
        out[2] = tied(out[2], xs[:2], "NativeLayerNormBackwardBackward0")
        return out

    def rounded(self, g: Array, x: Array, w: Array, want: list[bool]) -> list[Value]:
        """The gradients in half precision: mean and rstd were rounded to it, and the sums over rows are after each row."""
        n = linalg.count(self.over)
        rows = x.reshape(-1, n).astype(SINGLE)
        gs = g.reshape(-1, n).astype(SINGLE)
        mean = self.mean.astype(x.dtype).astype(SINGLE).reshape(-1, 1)
        rstd = self.rstd.astype(x.dtype).astype(SINGLE).reshape(-1, 1)
        out: list[Value] = [None, None, None]
        if want[0]:
            h = gs if w is None else gs * w.reshape(n).astype(SINGLE)
            whole = h.sum(1, keepdims=True)
            slope = (whole * mean - (h * rows).sum(1, keepdims=True)) * rstd * rstd * rstd / np.float32(n)
            rest = -slope * mean - whole * rstd / np.float32(n)
            out[0] = (rstd * h + slope * rows + rest).astype(x.dtype).reshape(x.shape)
        if want[1]:
            out[1] = in_turn(gs * (rows * rstd - rstd * mean), x.dtype).reshape(self.over)
        if want[2]:
            out[2] = in_turn(gs, x.dtype).reshape(self.over)
        return out


def in_turn(rows: Array, dtype: Any) -> Array:
    """The sum of the rows (float32), rounded to dtype after each."""
    total = np.zeros(rows.shape[1], dtype)
    for row in rows:
        total = (total.astype(SINGLE) + row).astype(dtype)
    return total


@final
class NativeBatchNormBackward0(Normalised):
    """Over all dims but the second: statistics of the batch in training, else the running ones (constants)."""

    names: ClassVar[Any] = {"input": 0, "weight": 1}
    shows: ClassVar[Any] = {
        "eps": "eps", "training": "training", "result1": "saved_mean", "result2": "saved_rstd",
        "running_mean": "running_mean", "running_var": "running_var"}

    def __init__(self, running_mean: Array, running_var: Array, training: bool, eps: float) -> None:
        super().__init__(eps)
        self.running_mean: Array = running_mean
        self.running_var: Array = running_var
        self.training = training
        self.var: Array = None

    @property
    def saved_mean(self) -> Any:
        return self.mean.reshape(-1) if self.training else np.zeros(0, self.mean.dtype)

    @property
    def saved_rstd(self) -> Any:
        return self.rstd.reshape(-1) if self.training else np.zeros(0, self.rstd.dtype)

    def forward(self, xs: list[Array]) -> Array:
        x = xs[0]
        self.dims = others(x.ndim, (1,))
        self.scale = (-1,) + (1,) * (x.ndim - 2)
        wide: Array = up(x)
        to = (1,) + self.scale
        if self.training:
            found = quick_stats(wide)
            if found is None:
                self.mean, self.rstd, self.var = moments(wide, self.dims, self.eps)
            else:
                self.mean = found[0].reshape(to)
                self.var = found[1].reshape(to)
                self.rstd = 1 / np.sqrt(self.var + np.asarray(self.eps, wide.dtype))
            if self.eps == 0:                       # what does not vary is 0 then
                self.rstd = np.where(self.var == 0, self.var, self.rstd)
        else:
            self.mean = self.running_mean.reshape(to).astype(wide.dtype)
            rstd = 1 / np.sqrt(self.running_var + np.asarray(self.eps, wide.dtype))
            self.rstd = rstd.reshape(to).astype(wide.dtype)
        quick = quick_affine(x, self.mean, self.rstd, xs[1], xs[2])
        if quick is not None:
            return quick
        y = (wide - self.mean) * self.rstd
        return self.finish(self.affine(y, xs), x)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        x = up(xs[0])
        g = up(g)
        w = up(xs[1])
        if self.training:
            all_three = self.common(g, x, w, want, self.dims)
            all_three[2] = tied(all_three[2], xs[:2], "NativeBatchNormBackwardBackward0")
            return all_three
        r: Array = self.rstd
        out: list[Value] = [None, None, None]
        if want[0]:
            out[0] = tied(g * r if w is None else g * (shape.reshape(w, self.scale) * r), xs[:2],
                          "NativeBatchNormBackwardBackward0")
        if want[1]:
            out[1] = reduce.sum_dims(g * ((x - self.mean) * r), self.dims, False)
        if want[2]:
            out[2] = tied(reduce.sum_dims(g, self.dims, False), xs[:2], "NativeBatchNormBackwardBackward0")
        return out


@final
class NativeGroupNormBackward0(Normalised):
    """Over the channels of a group and all spatial dims."""

    names: ClassVar[Any] = {"input": 0, "weight": 1}
    shows: ClassVar[Any] = {
        "N": "batch", "C": "channels", "HxW": "space", "group": "groups", "eps": "eps", "result1": "mean2",
        "result2": "rstd2"}

    def __init__(self, groups: int, eps: float) -> None:
        super().__init__(eps)
        self.groups = groups
        self.batch: int = 0
        self.channels: int = 0
        self.space: int = 0

    @property
    def mean2(self) -> Any:
        return self.mean.reshape(self.batch, self.groups)

    @property
    def rstd2(self) -> Any:
        return self.rstd.reshape(self.batch, self.groups)

    def grouped(self) -> Shape:
        return (self.batch, self.groups, self.channels // self.groups, self.space)

    def forward(self, xs: list[Array]) -> Array:
        x = xs[0]
        self.batch = x.shape[0]
        self.channels = x.shape[1]
        self.space = linalg.count(x.shape[2:])
        self.dims = (2, 3)
        self.scale = (1, self.groups, self.channels // self.groups, 1)
        wide: Array = up(x).reshape(self.grouped())
        quick = quick_norm(wide, None, None, 2, self.eps)
        if quick is not None:
            self.mean = quick[1]
            self.rstd = quick[2]
            return self.finish(self.affine(quick[0], xs).reshape(x.shape), x)
        self.mean, self.rstd, _ = moments(wide, self.dims, self.eps)
        y = (wide - self.mean) * self.rstd
        return self.finish(self.affine(y, xs).reshape(x.shape), x)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        to = self.grouped()
        was = linalg.sizes(g)
        out = self.common(
            shape.fold(up(g), to), shape.fold(up(xs[0]), to), up(xs[1]), want, (0, 3))
        if out[0] is not None:
            out[0] = shape.reshape(out[0], was)
        for i in range(1, 3):
            if out[i] is not None:
                out[i] = shape.reshape(out[i], (self.channels,))
        return out


def layer_norm(x: Value, w: Value, b: Value, over: Shape, eps: float) -> Any:
    """(y, mean, rstd)"""
    op = NativeLayerNormBackward0(over, eps)
    return op.run([x, w, b]), op.mean, op.rstd


def batch_norm(
    x: Value, w: Value, b: Value, running_mean: Array, running_var: Array, training: bool, eps: float,
) -> Any:
    """(y, mean, variance (biased), rstd); mean and variance None unless training"""
    op = NativeBatchNormBackward0(running_mean, running_var, training, eps)
    y = op.run([x, w, b])
    return y, op.mean, op.var, op.rstd


def group_norm(x: Value, w: Value, b: Value, groups: int, eps: float) -> Any:
    """(y, mean, rstd)"""
    op = NativeGroupNormBackward0(groups, eps)
    return op.run([x, w, b]), op.mean, op.rstd


from . import arith, cast, linalg, reduce, shape  # noqa: E402
