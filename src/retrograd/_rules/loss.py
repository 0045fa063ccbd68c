"""Losses that PyTorch records as one node.   N batch, C classes

`reduction` is PyTorch's number: NONE keeps every element, MEAN and SUM give one number.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .. import _kernels
from .._engine.node import Array, Shape, Value
from .._engine.op import A, B, Binary, Unary
from .._engine.tensor import TensorBase
from .._kernels import kernel
from . import activation, choose, create, moment, pointwise, reduce, shape
from .indexed import pick, place
from .inert_inputs import NOT_IMPLEMENTED, tied
from .pointwise import like, wide

np: Final[Any] = numpy
TOGETHER: Final = 1 << 18       # how many numbers of pairs of classes are looked at
NONE: Final = 0
MEAN: Final = 1
SUM: Final = 2
sub_kernel: Final[Any] = _kernels.sub
mul_kernel: Final[Any] = _kernels.mul
mean_kernel: Final[Any] = _kernels.mean
sum_kernel: Final[Any] = _kernels.sum
quick_mse_grad: Final[Any] = kernel("mse_grad")
quick_nll: Final[Any] = kernel("nll")
quick_nll_grad: Final[Any] = kernel("nll_grad")
quick_smooth_l1: Final[Any] = kernel("smooth_l1")
quick_huber: Final[Any] = kernel("huber")


def shrink(y: Array, reduction: int) -> Array:
    if reduction == NONE:
        return y
    total = np.add.reduce(y, None)
    return np.true_divide(total, y.size) if reduction == MEAN else total


class Paired(Binary):
    """A loss of input a and target b, element by element."""

    names: ClassVar[Any] = {"self": "a", "target": "b"}
    shows: ClassVar[Any] = {"reduction": "reduction"}

    def __init__(self, reduction: int) -> None:
        self.reduction = reduction
        self.count: int = 1

    def finish(self, y: Array, a: Array) -> Array:
        self.count = y.size
        return like(shrink(y, self.reduction), a)

    def each(self, g: Value) -> Value:
        """The gradient that reaches each element."""
        return g * (1.0 / self.count) if self.reduction == MEAN and self.count else g


@final
class MseLossBackward0(Paired):
    """(a - b)^2"""

    def quick(self, a: Array, b: Array) -> Array:
        if sub_kernel is None:
            return None
        d = sub_kernel(a, b)
        if d is None:
            return None
        self.count = d.size
        y = mul_kernel(d, d)
        return y if self.reduction == NONE else mean_kernel(y) if self.reduction == MEAN else sum_kernel(y)

    def share(self) -> float:
        """What of the gradient reaches each element."""
        return 1.0 / self.count if self.reduction == MEAN and self.count else 1.0

    def forward(self, a: Array, b: Array) -> Array:
        d = wide(a) - wide(b)
        return self.finish(d * d, a)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        quick = quick_mse_grad(g, a, b, self.share(), 2.0)
        return self.each(g) * ((a - b) * 2.0) if quick is None else quick

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        quick = quick_mse_grad(g, a, b, self.share(), -2.0)
        return self.each(g) * ((a - b) * -2.0) if quick is None else quick


def bounded(d: Value, bound: Any) -> Value:
    """d between -bound and bound.  At a bound its derivative is 0, that of clamp 1."""
    x = reduce.raw(d)
    return choose.where(np.abs(x) < bound, d, np.sign(x) * x.dtype.type(bound))


@final
class SmoothL1LossBackward0(Paired):
    """|a - b| - beta / 2 from beta on, a parabola below."""

    shows: ClassVar[Any] = {"reduction": "reduction", "beta": "beta"}

    def __init__(self, reduction: int, beta: Any) -> None:
        super().__init__(reduction)
        self.beta: Any = beta

    def forward(self, a: Array, b: Array) -> Array:
        quick = quick_smooth_l1(a, b, self.beta, 0.5 / self.beta, 0.5 * self.beta)
        if quick is not None:
            return self.finish(quick, a)
        d = np.abs(wide(a) - wide(b))
        return self.finish(np.where(d < self.beta, d * d * (0.5 / self.beta), d - 0.5 * self.beta), a)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return self.each(g) * bounded((a - b) * (1.0 / self.beta), 1.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return -self.each(g) * bounded((a - b) * (1.0 / self.beta), 1.0)


@final
class HuberLossBackward0(Paired):
    """delta (|a - b| - delta / 2) from delta on, a parabola below.   Huber 1964"""

    shows: ClassVar[Any] = {"reduction": "reduction", "delta": "delta"}

    def __init__(self, reduction: int, delta: Any) -> None:
        super().__init__(reduction)
        self.delta: Any = delta

    def forward(self, a: Array, b: Array) -> Array:
        quick = quick_huber(a, b, self.delta, 0.5 * self.delta)
        if quick is not None:
            return self.finish(quick, a)
        d = np.abs(wide(a) - wide(b))
        return self.finish(np.where(d <= self.delta, d * d * 0.5, (d - 0.5 * self.delta) * self.delta), a)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return self.each(g) * bounded(a - b, self.delta)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return -self.each(g) * bounded(a - b, self.delta)


@final
class BinaryCrossEntropyBackward0(Paired):
    """-(b log a + (1 - b) log(1 - a)), logarithms no smaller than -100."""

    reads_b = A | B                             # as PyTorch
    holds = True
    shows: ClassVar[Any] = {"reduction": "reduction", "weight": "weight"}

    def __init__(self, reduction: int, weight: Any) -> None:
        super().__init__(reduction)
        self.weight: Any = weight

    def drop(self) -> None:
        self.weight = None

    def forward(self, a: Array, b: Array) -> Array:
        z = wide(a)
        t = wide(b)
        if self.weight is not None:
            self.weight = like(self.weight, a)
        y = (t - 1.0) * np.maximum(np.log1p(-z), -100.0) - t * np.maximum(np.log(z), -100.0)
        return self.finish(y if self.weight is None else y * wide(self.weight), a)

    def weighted(self, g: Value) -> Value:
        g = self.each(g)
        return g if self.weight is None else g * self.weight

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return self.weighted(g) * ((a - b) / choose.clamp((1 - a) * a, 1e-12, None))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return self.weighted(g) * (pointwise.log(1 - a) - pointwise.log(a))


@final
class BinaryCrossEntropyWithLogitsBackward0(Paired):
    """binary cross entropy of sigmoid(a), without its overflow; `positive` weighs the term of the target 1."""

    reads_b = A | B                             # as PyTorch
    holds = True
    shows: ClassVar[Any] = {"reduction": "reduction", "weight": "weight", "pos_weight": "positive"}

    def __init__(self, reduction: int, weight: Any, positive: Any, dtype: Any) -> None:
        super().__init__(reduction)
        self.weight: Any = weight
        self.positive: Any = positive
        self.dtype: Any = dtype                 # the target's: (1 - target) is multiplied in place

    def drop(self) -> None:
        self.weight = None
        self.positive = None

    def forward(self, a: Array, b: Array) -> Array:
        z = wide(a)
        t = wide(b)
        if self.weight is not None:
            self.weight = like(self.weight, a)
        if self.positive is not None:
            self.positive = like(self.positive, a)
        minus_log = np.log1p(np.exp(-np.abs(z))) - np.minimum(z, 0)        # -log(sigmoid(a))
        if self.positive is not None:
            minus_log = minus_log * ((wide(self.positive) - 1) * t + 1)
        y = (1 - t) * z + minus_log
        return self.finish(y if self.weight is None else y * wide(self.weight), a).astype(self.dtype, copy=False)

    def weighted(self, g: Value) -> Value:
        g = self.each(g)
        return g if self.weight is None else g * self.weight

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        s = pointwise.sigmoid(a)
        if self.positive is None:
            return self.weighted(g) * (s - b)
        return self.weighted(g) * ((1 - b) - (b * (self.positive - 1) + 1) * (1 - s))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        if self.positive is None:
            return self.weighted(g) * -a
        return self.weighted(g) * -(a + activation.logsigmoid(a) * (self.positive - 1))


class Nll(Unary):
    """-weight[target] * x[..., target, ...]; MEAN divides by the sum of the weights.

    x (C,) with target (), or x (N, C, ...) with target (N, ...); `ignored` targets count for nothing.
    """

    holds = True
    shows: ClassVar[Any] = {
        "reduction": "reduction", "target": "target", "weight": "weight", "ignore_index": "asked",
        "total_weight": "total_shown"}

    def __init__(self, target: Array, weight: Any, reduction: int, ignored: int, whole: bool) -> None:
        self.target: Any = target
        self.whole = whole                      # no target is ignored, and none has a weight
        self.weight: Any = weight
        self.reduction = reduction
        self.ignored = ignored
        self.asked: Any = ignored               # as PyTorch shows it: unsigned
        self.where: Any = None
        self.used: Any = None                   # which targets are not ignored
        self.scale: Any = None                  # -weight of each target, 0 for ignored ones
        self.total: Any = None
        self.was: Shape = ()

    @property
    def total_shown(self) -> Any:
        return np.asarray(self.target.size, np.float32) if self.total is None else self.total

    def drop(self) -> None:
        self.target = None
        self.weight = None
        self.where = None
        self.used = None
        self.scale = None
        self.total = None

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        target = self.target
        if self.whole:
            if self.reduction != NONE:
                quick = quick_nll(x, target, self.reduction == MEAN)
                if quick is not None:
                    return quick
            self.where = places(target, x.ndim)
            self.scale = -1.0
            self.total = np.asarray(target.size, x.dtype)
            y = -x[self.where]
            return like(np.asarray(shrink(wide(y), self.reduction)), x)
        used = target != self.ignored
        self.used = used
        classes = np.where(used, target, 0).astype(np.intp)
        self.where = places(classes, x.ndim)
        if self.weight is None:
            scale = -used.astype(x.dtype)
        else:
            scale = np.where(used, -self.weight[classes], x.dtype.type(0))
        self.scale = scale
        y = np.asarray(wide(x[self.where]) * wide(np.asarray(scale)))
        y = np.where(used, y, y.dtype.type(0))
        self.total = np.asarray(-np.add.reduce(wide(np.asarray(scale)), None)).astype(x.dtype)
        if self.reduction == NONE:
            return like(y, x)
        total = np.add.reduce(y, None)
        return like(np.asarray(total / wide(self.total) if self.reduction == MEAN else total), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.total is None:                  # forward was the kernel's
            quick = quick_nll_grad(g, self.target, self.was[1], self.reduction == MEAN)
            if quick is not None:
                return quick
            self.where = places(self.target, 2)
            self.scale = -1.0
            self.total = self.total_shown
        scale = self.scale / self.total if self.reduction == MEAN else self.scale
        if isinstance(x, TensorBase):
            return NllLossBackwardBackward0(scale, self.where, self.used).run(g, x)
        return place(counted(g * scale, self.used), self.where, self.was)


def counted(g: Array, used: Any) -> Array:
    """g where targets are used (None: all are); 0, not -0. or nan, where they are ignored."""
    return g if used is None else np.where(used, g, g.dtype.type(0))


def places(classes: Array, ndim: int) -> Any:
    """The index of each target's element in x (C,) or (N, C, ...)"""
    if ndim == 1:
        return (classes,)
    if ndim == 2:
        return (np.arange(classes.shape[0]), classes)
    grid = np.ogrid[tuple([slice(n) for n in classes.shape])]
    return (grid[0], classes) + tuple(grid[1:])


@final
class NllLossBackwardBackward0(Binary):
    """a times the scales at the targets' places in zeros like b: the derivative of Nll as a node of its own.

    The gradient of b is zero, see activation.Gate.
    """

    holds = True

    def __init__(self, scale: Array, where: Any, used: Any) -> None:
        self.scale: Any = scale
        self.where: Any = where
        self.used: Any = used
        self.was: Any = None

    def drop(self) -> None:
        self.scale = None
        self.where = None
        self.used = None

    def compute(self, a: Value, b: Value, ta: Any, tb: Any) -> Array:
        xa: Array = ta.array if ta is not None else a
        xb: Array = tb.array if tb is not None else b
        self.was = (xa.shape, xb.shape)
        return self.forward(xa, xb)

    def forward(self, a: Array, b: Array) -> Array:
        out = np.zeros(b.shape, a.dtype)
        out[self.where] = counted(a * self.scale, self.used)
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        scale = self.scale if self.used is None else counted(self.scale, self.used)
        return shape.sum_to(pick(g, self.where) * scale, self.was[0])

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class NllLossBackward0(Nll):
    pass


@final
class NllLoss2DBackward0(Nll):
    pass


@final
class SoftMarginLossBackward0(Unary):
    """log(1 + exp(-target * x))"""

    holds = True
    shows: ClassVar[Any] = {"reduction": "reduction", "target": "target"}

    def __init__(self, target: Array, reduction: int) -> None:
        self.target: Any = target
        self.reduction = reduction
        self.count: int = 1

    def drop(self) -> None:
        self.target = None

    def forward(self, x: Array) -> Array:
        y = np.log1p(np.exp(-wide(x) * wide(self.target)))
        self.count = y.size
        return like(shrink(y, self.reduction), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.reduction == MEAN:
            g = g * (1.0 / max(self.count, 1))
        return g * (pointwise.sigmoid(-x * self.target) * -self.target)


@final
class MultiMarginLossBackward0(Unary):
    """The mean over the other classes j of weight[t] * max(0, margin - x[t] + x[j])^p, x (N, C) or (C,)"""

    holds = True
    shows: ClassVar[Any] = {
        "reduction": "reduction", "target": "target", "p": "p", "margin": "margin", "weight": "weight"}

    def __init__(self, target: Array, p: int, margin: Any, weight: Any, reduction: int) -> None:
        self.target: Any = target
        self.p = p
        self.margin: Any = margin
        self.weight: Any = weight
        self.reduction = reduction

    def drop(self) -> None:
        self.target = None
        self.weight = None

    def own(self, rows: Array) -> Any:
        t = self.target.reshape(-1, 1)
        return (np.arange(t.shape[0]).reshape(-1, 1), t)

    def scale(self, rows: Array) -> Array:
        """(N, C): what each class's term counts, 0 for the target's own."""
        out = np.full(rows.shape, 1.0 / rows.shape[1], rows.dtype)
        if self.weight is not None:
            out *= self.weight[self.target.reshape(-1, 1)]
        out[self.own(rows)] = 0.0
        return out

    def forward(self, x: Array) -> Array:
        rows = wide(x.reshape(-1, x.shape[-1]))
        z = np.fmax(rows - rows[self.own(rows)] + self.margin, 0.0)
        z[self.own(rows)] = 0.0                                 # it may be inf
        y = np.add.reduce((z if self.p == 1 else z * z) * self.scale(rows), 1)
        y = shrink(y.reshape(self.target.shape), self.reduction)
        return like(np.asarray(y), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        plain = reduce.raw(x)
        size: Shape = plain.shape
        rows = shape.reshape(x, (-1, size[-1]) if plain.size else size)
        scale = self.scale(reduce.raw(rows))
        own = self.own(scale)
        n = scale.shape[0]
        if self.reduction == NONE:
            g = shape.reshape(g, (n, 1))
        elif self.reduction == MEAN:
            g = g * (1.0 / n)
        z = rows - pick(rows, own) + self.margin
        slope = choose.where(z > 0, scale if self.p == 1 else z * (scale * 2), 0.0)
        each = slope * g
        back = each - place(reduce.sum_dims(each, (1,), True), own, scale.shape)
        return tied(shape.reshape(back, size), [x], NOT_IMPLEMENTED,
                    "derivative for aten::multi_margin_loss_backward is not implemented")


@final
class MultilabelMarginLossBackward0(Unary):
    """The mean over classes of max(0, 1 - x[t] + x[j]), t the targets before the first -1, j all others."""

    holds = True
    shows: ClassVar[Any] = {"reduction": "reduction", "target": "target", "is_target": "is_target"}

    def __init__(self, target: Array, reduction: int) -> None:
        self.target: Any = target
        self.reduction = reduction
        self.is_target: Any = None
        self.slope: Any = None

    def drop(self) -> None:
        self.target = None
        self.is_target = None
        self.slope = None

    def forward(self, x: Array) -> Array:
        rows = wide(x.reshape(-1, x.shape[-1]))
        target = self.target.reshape(rows.shape)
        listed = np.logical_and.accumulate(target >= 0, 1)
        times = np.zeros(rows.shape, rows.dtype)
        np.add.at(times, (np.nonzero(listed)[0], target[listed]), 1.0)
        self.is_target = (times > 0).astype(x.dtype).reshape(x.shape)
        slope = np.zeros(rows.shape, rows.dtype)
        y = np.zeros(rows.shape[0], rows.dtype)
        at, t = np.nonzero(times)
        step = max(1, TOGETHER // max(1, rows.shape[1]))
        for start in range(0, at.size, step):                                     # (a target, j)
            i, c = at[start:start + step], t[start:start + step]
            z = 1.0 - rows[i, c][:, None] + rows[i]
            active = np.where((z > 0) & (times[i] == 0), times[i, c][:, None] / rows.shape[1], 0.0)
            first = np.flatnonzero(np.diff(i, prepend=-1))                         # of each sample
            y[i[first]] += np.add.reduceat(np.add.reduce(active * z, 1), first)
            slope[i[first]] += np.add.reduceat(active, first)
            slope[i, c] -= np.add.reduce(active, 1)
        if self.reduction == MEAN:
            slope = slope / rows.shape[0]
        self.slope = like(slope.reshape(x.shape), x)
        return like(np.asarray(shrink(y.reshape(x.shape[:-1]), self.reduction)), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.reduction == NONE:
            g = shape.unsqueeze(g, -1)
        return tied(g * self.slope, [x], NOT_IMPLEMENTED,
                    "derivative for aten::multilabel_margin_loss_backward is not implemented")


@final
class NormBackward1(Unary):
    """(sum |x|^p)^(1/p) along one dim, as pairwise_distance records it."""

    shows: ClassVar[Any] = {"p": "p", "dim": "dim", "keepdim": "keepdim"}

    def __init__(self, p: Any, dim: Any, keepdim: bool) -> None:
        self.p: Any = p
        self.dim: Any = dim
        self.keepdim = keepdim

    def forward(self, x: Array) -> Array:
        return np.asarray(moment.norm_of(x, self.p, self.dim, self.keepdim))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = reduce.raw(x).shape
        g = reduce.restore(g, sizes, self.dim, self.keepdim)
        y = reduce.restore(y, sizes, self.dim, self.keepdim)
        return moment.norm_grad(g, x, y, self.p, self.dim)
