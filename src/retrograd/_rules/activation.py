"""Activation functions of one element."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine import promote
from .._engine.node import Array, Value
from .._engine.op import Binary, Unary
from .._engine.tensor import TensorBase
from .._kernels import kernel
from . import by_parts, choose, create, pointwise, reduce, slices
from .inert_inputs import NOT_IMPLEMENTED, tied
from .packed import packed
from .pointwise import like, wide
from .select import select

np: Final[Any] = numpy
ROOT_HALF: Final = 0.7071067811865476
PER_ROOT_TWO_PI: Final = 0.3989422804014327
ROOT_TWO_OVER_PI: Final = 0.7978845608028654
CUBE: Final = 0.044715                          # of the tanh form of gelu: Hendrycks and Gimpel 2016

quick_relu: Final[Any] = kernel("relu")
quick_relu_grad: Final[Any] = kernel("relu_grad")
quick_gelu: Final[Any] = kernel("gelu")
quick_gelu_grad: Final[Any] = kernel("gelu_grad")
quick_silu: Final[Any] = kernel("silu")
quick_silu_grad: Final[Any] = kernel("silu_grad")
quick_prelu: Final[Any] = kernel("prelu")
quick_leaky: Final[Any] = kernel("leaky")
quick_elu: Final[Any] = kernel("elu")
quick_mish: Final[Any] = kernel("mish")
quick_softplus: Final[Any] = kernel("softplus")
quick_log_sigmoid: Final[Any] = kernel("log_sigmoid")
quick_clamp: Final[Any] = kernel("clamp")
quick_hard_swish: Final[Any] = kernel("hard_swish")
quick_hard_sigmoid: Final[Any] = kernel("hard_sigmoid")
quick_soft_shrink: Final[Any] = kernel("soft_shrink")
quick_hard_shrink: Final[Any] = kernel("hard_shrink")
quick_threshold: Final[Any] = kernel("threshold")


class Gate(Binary):
    """g where b passes, else slope * g: the derivative of a piecewise linear function, as a node of its own.

    b is the input of that function, or its result.  Its gradient is zero, yet it is an input: in PyTorch the second derivative
    of relu is a zero, not an error.
    """

    def __init__(self, slope: Any = 0.0, edge: Any = 0.0) -> None:
        self.slope: Any = slope
        self.edge: Any = edge

    def passes(self, x: Array) -> Array:
        return x > self.edge

    def forward(self, a: Array, b: Array) -> Array:
        return select(self.passes(b), a, a * self.slope if self.slope else 0.0)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        x = b.array if isinstance(b, TensorBase) else b
        return choose.where(self.passes(x), g, g * self.slope if self.slope else 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class ThresholdBackwardBackward0(Gate):
    def passes(self, x: Array) -> Array:
        return ~(x <= self.edge)


@final
class LeakyReluBackwardBackward0(Gate):
    pass


@final
class HardtanhBackwardBackward0(Gate):
    def __init__(self, low: Any, high: Any) -> None:
        super().__init__()
        self.low: Any = low
        self.high: Any = high

    def passes(self, x: Array) -> Array:
        return ~((x <= self.low) | (x >= self.high))


class Shrinks(Gate):
    def passes(self, x: Array) -> Array:
        return ~((x >= -self.edge) & (x <= self.edge))


@final
class HardshrinkBackwardBackward0(Shrinks):
    pass


@final
class SoftshrinkBackwardBackward0(Shrinks):
    pass


@final
class RreluWithNoiseBackwardBackward0(Gate):
    pass


@final
class ReluBackward0(Unary):
    """max(x, 0); the derivative at 0 is 0."""

    def quick(self, x: Array) -> Array:
        return quick_relu(x)

    def forward(self, x: Array) -> Array:
        if x.dtype.kind == "b":
            raise RuntimeError("Boolean inputs not supported for relu")
        return np.maximum(0, x)                 # in this order -0.0 stays, as in PyTorch

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(y, TensorBase):
            return ThresholdBackwardBackward0().run(g, y)
        quick = quick_relu_grad(g, y)
        return choose.where(y <= 0, 0.0, g) if quick is None else quick


def leaky_of(x: Array, slope: Any) -> Array:
    return like(select(x > 0, x, promote.times(x, slope)), x)


class Leaky(Unary):
    """x where positive, else slope * x"""

    shows: ClassVar[Any] = {"negative_slope": "slope"}

    def __init__(self, slope: Any) -> None:
        self.slope: Any = slope

    def quick(self, x: Array) -> Array:
        return quick_leaky(x, self.slope)

    def forward(self, x: Array) -> Array:
        return leaky_of(x, self.slope)


@final
class LeakyReluBackward0(Leaky):
    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(x, TensorBase):
            return LeakyReluBackwardBackward0(self.slope).run(g, x)
        return choose.where(x > 0, g, g * self.slope)


@final
class LeakyReluBackward1(Leaky):
    """In place: the sign of the result tells that of the input, for slopes >= 0."""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.slope < 0:
            raise RuntimeError(
                "In-place leakyReLu backward calculation is triggered with a negative slope which is not supported. "
                "This is caused by calling in-place forward function with a negative slope, please call out-of-place "
                "version instead. File an issue at https://github.com/pytorch/pytorch if you do require supporting "
                "in-place leakRelu backward calculation with negative slope")
        if isinstance(y, TensorBase):
            return LeakyReluBackwardBackward0(self.slope).run(g, y)
        return choose.where(y > 0, g, g * self.slope)


def elu_of(x: Array, alpha: Any, scale: Any, input_scale: Any) -> Array:
    z = wide(x)
    negative = np.expm1(z * input_scale) * (alpha * scale)
    return like(select(z <= 0, negative, z if scale == 1 else z * scale), x)


class Elu(Unary):
    """scale * x where positive, else scale * alpha * (exp(input_scale * x) - 1)"""

    shows: ClassVar[Any] = {"alpha": "alpha", "scale": "scale", "input_scale": "input_scale"}

    def __init__(self, alpha: Any, scale: Any, input_scale: Any) -> None:
        self.alpha: Any = alpha
        self.scale: Any = scale
        self.input_scale: Any = input_scale

    def quick(self, x: Array) -> Array:
        return quick_elu(x, self.alpha * self.scale, self.scale, self.input_scale)

    def forward(self, x: Array) -> Array:
        return elu_of(x, self.alpha, self.scale, self.input_scale)


@final
class EluBackward0(Elu):
    def grad(self, g: Value, x: Value, y: Value) -> Value:
        below = pointwise.exp(choose.where(x < 0, x, 0.0) * self.input_scale)
        below = below * (self.alpha * self.scale * self.input_scale)
        return choose.where(x <= 0, g * below, g * self.scale)


@final
class EluBackward1(Elu):
    """In place: from the result, for alpha >= 0."""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.alpha < 0:
            raise RuntimeError(
                "In-place elu backward calculation is triggered with a negative slope which is not supported. This is "
                "caused by calling in-place forward function with a negative slope, please call out-of-place version "
                "instead.")
        below = (y + self.alpha * self.scale) * self.input_scale
        return choose.where(y <= 0, g * below, g * self.scale)


class Celu(Unary):
    """x where positive, else alpha * (exp(x / alpha) - 1)"""

    shows: ClassVar[Any] = {"alpha": "alpha"}

    def __init__(self, alpha: Any) -> None:
        self.alpha: Any = alpha

    def quick(self, x: Array) -> Array:
        return quick_elu(x, self.alpha, 1.0, 1.0 / self.alpha)

    def forward(self, x: Array) -> Array:
        return elu_of(x, self.alpha, 1.0, 1.0 / self.alpha)


@final
class CeluBackward0(Celu):
    def grad(self, g: Value, x: Value, y: Value) -> Value:
        below = pointwise.exp(choose.where(x < 0, x, 0.0) * (1.0 / self.alpha))
        return choose.where(x <= 0, g * below, g)


@final
class CeluBackward1(Celu):
    """In place: from the result."""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        below = (y + self.alpha) * (1.0 / self.alpha)
        return choose.where(y <= 0, g * below, g)


@final
class GeluBackward0(Unary):
    """x times the normal distribution function of x; approximate="tanh": its tanh form."""

    shows: ClassVar[Any] = {"approximate": "approximate"}

    def __init__(self, approximate: str) -> None:
        self.approximate = approximate

    def quick(self, x: Array) -> Array:
        return quick_gelu(x, self.approximate == "tanh")

    def forward(self, x: Array) -> Array:
        z = wide(x)
        if self.approximate == "tanh":
            t = np.tanh((z + z * z * z * CUBE) * ROOT_TWO_OVER_PI)
        else:
            t = pointwise.erf_of(z * ROOT_HALF)
        return like(z * 0.5 * (t + 1.0), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        quick = quick_gelu_grad(g, x, self.approximate == "tanh")
        if quick is not None:
            return quick
        if self.approximate == "tanh":
            t = pointwise.tanh((x + x * x * x * CUBE) * ROOT_TWO_OVER_PI)
            slope = (x * x * (3.0 * CUBE) + 1.0) * ROOT_TWO_OVER_PI
            return g * ((t + 1.0) * 0.5 + x * 0.5 * (1.0 - t * t) * slope)
        whole = (pointwise.erf(x * ROOT_HALF) + 1.0) * 0.5
        return g * (whole + x * (pointwise.exp(x * x * -0.5) * PER_ROOT_TWO_PI))


def sigmoid_of(x: Array) -> Array:
    return 1.0 / (by_parts.of(np.exp, -x) + 1.0)


@final
class SiluBackward0(Unary):
    """x * sigmoid(x)"""

    def quick(self, x: Array) -> Array:
        return quick_silu(x)

    def forward(self, x: Array) -> Array:
        z = wide(x)
        return like(z * sigmoid_of(z), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        quick = quick_silu_grad(g, x)
        if quick is not None:
            return quick
        s = pointwise.sigmoid(x)
        return g * (s * (x * (1 - s) + 1))


@final
class MishBackward0(Unary):
    """x * tanh(softplus(x))"""

    def quick(self, x: Array) -> Array:
        return quick_mish(x)

    def forward(self, x: Array) -> Array:
        z = wide(x)
        return like(z * np.tanh(softplus_of(z, 1.0, 1e30)), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        z: Value = x if isinstance(x, TensorBase) else wide(x)      # in half precision each step would round
        t = pointwise.tanh(softplus(z, 1.0, 20.0))
        slope = t + z * pointwise.sigmoid(z) * (1 - t * t)
        return g * slope if isinstance(x, TensorBase) else like(wide(g) * slope, x)


def softplus_of(x: Array, beta: Any, threshold: Any) -> Array:
    z = x * beta
    bent = np.maximum(z, 0) + np.log1p(np.exp(-np.abs(z)))
    return select(z > threshold, x, bent / beta)


@final
class SoftplusBackward0(Unary):
    """log(1 + exp(beta x)) / beta; x itself where beta x > threshold"""

    shows: ClassVar[Any] = {"beta": "beta", "threshold": "threshold"}

    def __init__(self, beta: Any, threshold: Any) -> None:
        self.beta: Any = beta
        self.threshold: Any = threshold

    def quick(self, x: Array) -> Array:
        return quick_softplus(x, self.beta, self.threshold)

    def forward(self, x: Array) -> Array:
        return like(softplus_of(wide(x), self.beta, self.threshold), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        z = x * self.beta
        over = z > self.threshold
        if reduce.raw(z).dtype.itemsize <= 2:
            return choose.where(over, g, g * pointwise.sigmoid(z))
        e = pointwise.exp(choose.where(over, 0.0, z))       # not sigmoid(z), which is 0 where e is denormal
        return choose.where(over, g, g * (e / (e + 1.0)))


@final
class LogSigmoidBackward0(Unary):
    """-log(1 + exp(-x))"""

    shows: ClassVar[Any] = {"buffer": "buffer"}
    buffer: Any = None                          # PyTorch keeps exp(-|x|) here when it vectorises

    def quick(self, x: Array) -> Array:
        return quick_log_sigmoid(x)

    def forward(self, x: Array) -> Array:
        z = wide(x)
        return packed(like(np.minimum(0, z) - np.log1p(np.exp(-np.abs(z))), x))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * pointwise.sigmoid(-x)


@final
class HardtanhBackward0(Unary):
    """x between two numbers; the derivative at both is 0."""

    shows: ClassVar[Any] = {"min_val": "low", "max_val": "high"}

    def __init__(self, low: Any, high: Any) -> None:
        self.low: Any = low
        self.high: Any = high

    def quick(self, x: Array) -> Array:
        return quick_clamp(x, self.low, self.high)

    def forward(self, x: Array) -> Array:
        low = np.asarray(self.low).astype(x.dtype)
        return np.minimum(np.asarray(self.high).astype(x.dtype), np.maximum(low, x))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(x, TensorBase):
            return HardtanhBackwardBackward0(self.low, self.high).run(g, x)
        return choose.where((x <= self.low) | (x >= self.high), 0.0, g)


@final
class HardswishBackward0(Unary):
    """x * clamp(x + 3, 0, 6) / 6"""

    def quick(self, x: Array) -> Array:
        return quick_hard_swish(x)

    def forward(self, x: Array) -> Array:
        z = wide(x)
        return like(z * np.minimum(np.maximum(z + 3.0, 0.0), 6.0) / 6.0, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        inner = choose.where(x < 3.0, g * (x / 3.0 + 0.5), g)
        return choose.where(x <= -3.0, 0.0, inner)


SIXTH: Final = float(np.float32(1.0 / 6.0))     # of float32 in PyTorch's derivative, for float64 too


@final
class HardsigmoidBackward0(Unary):
    """clamp(x + 3, 0, 6) / 6"""

    def quick(self, x: Array) -> Array:
        return quick_hard_sigmoid(x)

    def forward(self, x: Array) -> Array:
        z = wide(x)
        return like(np.minimum(np.maximum(z + 3.0, 0.0), 6.0) / 6.0, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return tied(choose.where((x > -3.0) & (x < 3.0), g * SIXTH, 0.0), [x], NOT_IMPLEMENTED,
                    "derivative for aten::hardsigmoid_backward is not implemented")


@final
class SoftshrinkBackward0(Unary):
    """x moved towards 0 by lambd, 0 where that would cross 0"""

    shows: ClassVar[Any] = {"lambd": "lambd"}

    def __init__(self, lambd: Any) -> None:
        self.lambd: Any = lambd

    def quick(self, x: Array) -> Array:
        return quick_soft_shrink(x, self.lambd)

    def forward(self, x: Array) -> Array:
        z = wide(x)
        return like(select(z > self.lambd, z - self.lambd, select(z < -self.lambd, z + self.lambd, z * 0.0)), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(x, TensorBase):
            return SoftshrinkBackwardBackward0(0.0, self.lambd).run(g, x)
        return choose.where((x >= -self.lambd) & (x <= self.lambd), 0.0, g)


@final
class HardshrinkBackward0(Unary):
    """x, but 0 in [-lambd, lambd]"""

    shows: ClassVar[Any] = {"lambd": "lambd"}

    def __init__(self, lambd: Any) -> None:
        self.lambd: Any = lambd

    def quick(self, x: Array) -> Array:
        return quick_hard_shrink(x, self.lambd)

    def forward(self, x: Array) -> Array:
        return select((x >= -self.lambd) & (x <= self.lambd), 0.0, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(x, TensorBase):
            return HardshrinkBackwardBackward0(0.0, self.lambd).run(g, x)
        return choose.where((x >= -self.lambd) & (x <= self.lambd), 0.0, g)


def threshold_of(x: Array, threshold: Any, value: Any) -> Array:
    return select(x <= threshold, np.asarray(value).astype(x.dtype), x)


class Threshold(Unary):
    """x, but `value` where x <= threshold"""

    shows: ClassVar[Any] = {"threshold": "threshold"}

    def __init__(self, threshold: Any, value: Any) -> None:
        self.threshold: Any = threshold
        self.value: Any = value

    def quick(self, x: Array) -> Array:
        return quick_threshold(x, self.threshold, self.value)

    def forward(self, x: Array) -> Array:
        return threshold_of(x, self.threshold, self.value)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(x, TensorBase):
            return ThresholdBackwardBackward0(0.0, self.threshold).run(g, x)
        return choose.where(x <= self.threshold, 0.0, g)


@final
class ThresholdBackward0(Threshold):
    pass


@final
class ThresholdBackward1(Threshold):
    """In place."""

    def overlapped(self) -> Optional[str]:
        return ""


@final
class GluBackward0(Unary):
    """The first half of a dim times the sigmoid of the second."""

    shows: ClassVar[Any] = {"dim": "asked"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.asked: Any = dim
        self.was: Any = ()

    def half(self, second: bool) -> Any:
        n = self.was[self.dim] // 2
        return (slice(None),) * self.dim + (slice(n, 2 * n) if second else slice(0, n),)

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return like(wide(x[self.half(False)]) * sigmoid_of(wide(x[self.half(True)])), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        first = self.half(False)
        second = self.half(True)
        s = pointwise.sigmoid(slices.take(x, second))
        a = slices.take(x, first)
        return slices.put(g * s, first, self.was) + slices.put(g * (a * (s * (1 - s))), second, self.was)


@final
class PreluKernelBackward0(Binary):
    """a where positive, else b * a; b is shaped to broadcast along the channels."""

    names: ClassVar[Any] = {"self": "a", "weight": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        quick = quick_prelu(a, b)
        return select(a > 0, a, a * b) if quick is None else quick

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a > 0, g, g * b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a > 0, 0.0, g * a)


class RreluWithNoise(Unary):
    """Leaky relu whose slopes were drawn by the caller (`noise`, 1 where x > 0)."""

    holds = True
    shows: ClassVar[Any] = {"lower": "lower", "upper": "upper", "noise": "noise", "training": "training"}

    def __init__(self, noise: Array, lower: Any, upper: Any, training: bool) -> None:
        self.noise: Any = noise
        self.lower: Any = lower
        self.upper: Any = upper
        self.training = training

    def drop(self) -> None:
        self.noise = None

    def quick(self, x: Array) -> Array:
        return None if self.training else quick_leaky(x, (self.lower + self.upper) / 2)

    def forward(self, x: Array) -> Array:
        return packed(select(x <= 0, x * self.noise, x) if self.training else leaky_of(x, (self.lower + self.upper) / 2))


@final
class RreluWithNoiseBackward0(RreluWithNoise):
    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.training and self.upper - self.lower > 1e-6:
            return g * self.noise
        slope = (self.lower + self.upper) / 2
        if isinstance(x, TensorBase):
            return RreluWithNoiseBackwardBackward0(slope).run(g, x)
        return choose.where(x > 0, g, g * slope)


@final
class RreluWithNoiseBackward1(RreluWithNoise):
    """In place: from the result."""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.training and self.upper - self.lower > 1e-6:
            return g * self.noise
        slope = (self.lower + self.upper) / 2
        if isinstance(y, TensorBase):
            return RreluWithNoiseBackwardBackward0(slope).run(g, y)
        return choose.where(y > 0, g, g * slope)


def relu(x: Value) -> Value:
    return ReluBackward0().run(x)


def softplus(x: Value, beta: Any, threshold: Any) -> Value:
    return SoftplusBackward0(beta, threshold).run(x)


def logsigmoid(x: Value) -> Value:
    return LogSigmoidBackward0().run(x)
