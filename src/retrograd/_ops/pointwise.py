"""Functions of one number, applied to every element, and of two or three that are neither arithmetic nor choices.

Where PyTorch computes half precision in float32 and rounds once, so do we: `wide`, `like`.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine import promote
from .._engine.nary import Nary
from .._engine.node import Array, Value
from .._engine.op import A, B, Binary, Unary, X, Y, watch
from .._engine.tensor import TensorBase
from . import special
from .cast import floating

np: Final[Any] = numpy
PI: Final = 3.141592653589793
LN2: Final = 0.6931471805599453
LN10: Final = 2.302585092994046
TWO_OVER_ROOT_PI: Final = 1.1283791670955126


def wide(x: Array) -> Array:
    """Half precision as float32, all else as it is."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def like(y: Array, x: Array) -> Array:
    """y in x's dtype."""
    return y if y.dtype is x.dtype else y.astype(x.dtype)


@final
class ExpBackward0(Unary):
    keep = Y

    def forward(self, x: Array) -> Array:
        return np.exp(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * y


@final
class Exp2Backward0(Unary):
    keep = Y

    def forward(self, x: Array) -> Array:
        return np.exp2(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * y * LN2


@final
class Expm1Backward0(Unary):
    """exp(x) - 1, exact near 0"""

    keep = Y

    def forward(self, x: Array) -> Array:
        return np.expm1(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (y + 1)


@final
class LogBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.log(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / x


@final
class Log2Backward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.log2(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x * LN2)


@final
class Log10Backward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.log10(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x * LN10)


@final
class Log1PBackward0(Unary):
    """log(1 + x), exact near 0"""

    keep = X

    def forward(self, x: Array) -> Array:
        return np.log1p(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x + 1)


@final
class SqrtBackward0(Unary):
    keep = Y

    def forward(self, x: Array) -> Array:
        return np.sqrt(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (y * 2)


@final
class RsqrtBackward0(Unary):
    keep = Y

    def forward(self, x: Array) -> Array:
        return like(1.0 / np.sqrt(wide(x)), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * -0.5 * (y * y * y)


@final
class AbsBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.abs(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * sign(x)


@final
class SinBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.sin(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * cos(x)


@final
class CosBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.cos(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return -g * sin(x)


@final
class TanBackward0(Unary):
    keep = Y

    def forward(self, x: Array) -> Array:
        return np.tan(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (y * y + 1)


@final
class AsinBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.arcsin(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * rsqrt(1 - x * x)


@final
class AcosBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.arccos(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return -g * rsqrt(1 - x * x)


@final
class AtanBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.arctan(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x * x + 1)


@final
class SinhBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.sinh(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * cosh(x)


@final
class CoshBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.cosh(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * sinh(x)


@final
class TanhBackward0(Unary):
    keep = Y

    def forward(self, x: Array) -> Array:
        return np.tanh(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return TanhBackwardBackward0().run(g, y) if isinstance(y, TensorBase) else g * (1 - y * y)


@final
class TanhBackwardBackward0(Binary):
    """a (1 - b^2), b = tanh(x): the derivative of tanh as a node of its own"""

    reads_a = B
    reads_b = A | B
    names: ClassVar[Any] = {"grad_output": "a", "output": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return a * (1 - b * b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return TanhBackwardBackward0().run(g, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (a * b * -2)


@final
class AngleBackward0(Unary):
    """pi where x < 0, else 0: the angle of a real number"""

    keep = X

    def forward(self, x: Array) -> Array:
        return np.where(x != x, x, np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0)))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * 0


@final
class LdexpBackward0(Binary):
    """a * 2 ** b"""

    kind = promote.FLOAT
    reads_a = B
    reads_b = Y

    def forward(self, a: Array, b: Array) -> Array:
        return a * np.exp2(b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * exp2(b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (y * LN2)


@final
class AsinhBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.arcsinh(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * rsqrt(x * x + 1)


@final
class AcoshBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.arccosh(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * rsqrt(x * x - 1)


@final
class AtanhBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.arctanh(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (1 - x * x)


@final
class SigmoidBackward0(Unary):
    """1 / (1 + exp(-x)); exp may overflow to inf, which gives the right 0"""

    keep = Y

    def forward(self, x: Array) -> Array:
        return like(1.0 / (np.exp(-wide(x)) + 1.0), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return SigmoidBackwardBackward0().run(g, y) if isinstance(y, TensorBase) else g * ((1 - y) * y)


@final
class SigmoidBackwardBackward0(Binary):
    """a (1 - b) b, b = sigmoid(x): the derivative of sigmoid as a node of its own"""

    reads_a = B
    reads_b = A | B
    names: ClassVar[Any] = {"grad_output": "a", "output": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return a * ((1 - b) * b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return SigmoidBackwardBackward0().run(g, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (a * (b * -2 + 1))


@final
class ErfBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return erf_of(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (exp(-(x * x)) * TWO_OVER_ROOT_PI)


@final
class ErfcBackward0(Unary):
    """1 - erf(x), exact for large x"""

    keep = X

    def forward(self, x: Array) -> Array:
        return like(special.erfc(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (exp(-(x * x)) * -TWO_OVER_ROOT_PI)


@final
class ErfinvBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return like(special.erfinv(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (exp(square(erfinv(x))) / TWO_OVER_ROOT_PI)


@final
class LgammaBackward0(Unary):
    """log |gamma(x)|"""

    keep = X

    def forward(self, x: Array) -> Array:
        return like(special.lgamma(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * digamma(x)


@final
class DigammaBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return like(special.digamma(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * polygamma(1, x)


@final
class Deg2RadBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return like(wide(x) * (PI / 180), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (PI / 180)


@final
class Rad2DegBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return like(wide(x) * (180 / PI), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (180 / PI)


@final
class FloorBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.floor(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class CeilBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.ceil(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class TruncBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.trunc(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class RoundBackward0(Unary):
    """To the nearest integer, halves to even."""

    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.rint(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class RoundBackward1(Unary):
    """To a number of decimals; negative ones round to tens, hundreds, ..."""

    def __init__(self, decimals: int) -> None:
        self.decimals = decimals

    def forward(self, x: Array) -> Array:
        z = wide(x)
        if self.decimals >= 0:
            return like(np.rint(z * 10.0 ** self.decimals) / 10.0 ** self.decimals, x)
        return like(np.rint(z / 10.0 ** -self.decimals) * 10.0 ** -self.decimals, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class FracBackward0(Unary):
    """x - trunc(x)"""

    def forward(self, x: Array) -> Array:
        return x - np.trunc(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


def sign_of(x: Array) -> Array:
    """-1, 0 or 1; 0 for nan."""
    if x.dtype.kind == "b":
        return x.copy()
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


@final
class SignBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return sign_of(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class SgnBackward0(Unary):
    keep = X | Y

    def forward(self, x: Array) -> Array:
        return sign_of(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class PolygammaBackward0(Unary):
    """The n-th derivative of digamma."""

    keep = X
    shows: ClassVar[Any] = {"n": "n"}

    def __init__(self, n: int) -> None:
        self.n = n

    def forward(self, x: Array) -> Array:
        return like(special.polygamma(self.n, x), x) if self.n else DigammaBackward0().forward(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * polygamma(self.n + 1, x)


@final
class NanToNumBackward0(Unary):
    """nan, inf and -inf replaced by numbers."""

    keep = X

    def __init__(self, nan: Any, posinf: Any, neginf: Any) -> None:
        self.nan: Any = nan
        self.posinf: Any = posinf
        self.neginf: Any = neginf

    def forward(self, x: Array) -> Array:
        if x.dtype.kind in "iub":
            return x.copy()
        y = np.array(x)
        y[x != x] = self.nan
        y[x == np.inf] = self.posinf
        y[x == -np.inf] = self.neginf
        return y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return choose.where((x == x) & (x != float("inf")) & (x != float("-inf")), g, 0.0)


@final
class LogitBackward0(Unary):
    """log(x / (1 - x)), x first clamped to [eps, 1 - eps] unless eps is None."""

    keep = X
    shows: ClassVar[Any] = {"eps": "eps"}

    def __init__(self, eps: Any) -> None:
        self.eps: Any = eps

    def forward(self, x: Array) -> Array:
        z = wide(x)
        if self.eps is not None:
            z = np.minimum(np.maximum(z, self.eps), 1.0 - self.eps)
        return like(np.log(z / (1.0 - z)), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        low = 0.0 if self.eps is None else self.eps
        outside = float("nan") if self.eps is None else 0.0
        return choose.where((x >= low) & (x <= 1.0 - low), g / (x * (1 - x)), outside)


@final
class SincBackward0(Unary):
    """sin(pi x) / (pi x), 1 at 0."""

    keep = X

    def forward(self, x: Array) -> Array:
        z = wide(x) * PI
        return like(np.where(z == 0, z.dtype.type(1), np.sin(z) / z), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        z = x * PI
        return choose.where(x == 0, 0.0, g * ((z * cos(z) - sin(z)) / (z * x)))


@final
class ClampMinBackward0(Unary):
    """max(x, number)"""

    keep = X
    shows: ClassVar[Any] = {"min": "bound"}

    def __init__(self, bound: Any) -> None:
        self.bound: Any = bound

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.bound, x, promote.SAME)
        return np.maximum(n, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return choose.where(x >= self.bound, g, 0.0)


@final
class ClampMaxBackward0(Unary):
    """min(x, number)"""

    keep = X
    shows: ClassVar[Any] = {"max": "bound"}

    def __init__(self, bound: Any) -> None:
        self.bound: Any = bound

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.bound, x, promote.SAME)
        return np.minimum(n, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return choose.where(x <= self.bound, g, 0.0)


@final
class FmodBackward0(Unary):
    """Remainder of x / number, with the sign of x."""

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.SAME)
        arith.refuse_zero(x, n)
        return np.fmod(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


@final
class CopysignBackward1(Unary):
    """|x| with the sign of a number."""

    keep = X | Y

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.FLOAT)
        return np.copysign(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * choose.where(x == 0, 0.0, y / x)


def xlogy_of(a: Array, b: Array) -> Array:
    """a log b, 0 where a is 0 unless b is nan."""
    y = a * np.log(b)
    return np.where((np.equal(a, 0)) & (b == b), np.zeros((), y.dtype), y)


@final
class XlogyBackward1(Unary):
    """number * log(x)"""

    keep = X
    names: ClassVar[Any] = {"other": "x"}
    shows: ClassVar[Any] = {"self": "number"}

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.number, x, promote.FLOAT)
        return xlogy_of(np.asarray(n, x.dtype), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * self.number / x


@final
class XlogyBackward2(Unary):
    """x * log(number)"""

    keep = X
    shows: ClassVar[Any] = {"other": "number"}

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.number, x, promote.FLOAT)
        return xlogy_of(x, np.asarray(n, x.dtype))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        slope = float(np.log(self.number))
        return choose.where(x == 0, 0.0, g * slope) if self.number <= 0 else g * slope


@final
class XlogyBackward0(Binary):
    """a * log(b)"""

    kind = promote.FLOAT
    reads_a = A | B
    reads_b = A | B

    def forward(self, a: Array, b: Array) -> Array:
        return xlogy_of(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a == 0) & (b <= 0), 0.0, g * log(b))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * a / b


@final
class Atan2Backward0(Binary):
    """The angle of the point (b, a)."""

    kind = promote.FLOAT
    reads_a = A | B
    reads_b = A | B

    def forward(self, a: Array, b: Array) -> Array:
        return np.arctan2(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * b * per_square(a, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * -a * per_square(a, b)


def per_square(a: Value, b: Value) -> Value:
    """1 / (a^2 + b^2), 0 at the origin."""
    s = a * a + b * b
    return choose.where(s == 0, 0.0, 1.0 / s)


@final
class HypotBackward0(Binary):
    """sqrt(a^2 + b^2) without overflow."""

    kind = promote.FLOAT
    reads_a = A | Y
    reads_b = B | Y

    def forward(self, a: Array, b: Array) -> Array:
        return np.hypot(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (a / y)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (b / y)


@final
class LogaddexpBackward0(Binary):
    """log(exp(a) + exp(b))"""

    kind = promote.FLOAT
    reads_a = A | B
    reads_b = A | B

    def forward(self, a: Array, b: Array) -> Array:
        return np.logaddexp(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp(b - a) + 1)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp(a - b) + 1)


@final
class Logaddexp2Backward0(Binary):
    """log2(2^a + 2^b)"""

    kind = promote.FLOAT
    reads_a = A | B
    reads_b = A | B

    def forward(self, a: Array, b: Array) -> Array:
        return np.logaddexp2(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp2(b - a) + 1)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp2(a - b) + 1)


@final
class CopysignBackward0(Binary):
    """|a| with the sign of b."""

    kind = promote.FLOAT
    reads_a = A | Y

    def forward(self, a: Array, b: Array) -> Array:
        return np.copysign(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * choose.where(a == 0, 0.0, y / a)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class FmodBackward1(Binary):
    """Remainder of a / b, with the sign of a."""

    reads_b = A | B

    def forward(self, a: Array, b: Array) -> Array:
        arith.refuse_zero(a, b)
        return np.fmod(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return -g * arith.div_rounded(a, b, "trunc")


@final
class FmaxBackward0(Binary):
    """The larger; a number wins against nan."""

    reads_a = A | B
    reads_b = A | B

    def forward(self, a: Array, b: Array) -> Array:
        return np.fmax(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a >= b) | (b != b), g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a >= b) | (b != b), 0.0, g)


@final
class FminBackward0(Binary):
    """The smaller; a number wins against nan."""

    reads_a = A | B
    reads_b = A | B

    def forward(self, a: Array, b: Array) -> Array:
        return np.fmin(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a <= b) | (b != b), g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a <= b) | (b != b), 0.0, g)


@final
class Heaviside(Binary):
    """0 below zero, 1 above, b at zero.  PyTorch records it without a derivative."""

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def forward(self, a: Array, b: Array) -> Array:
        return np.where(a == 0, b, (a > 0).astype(a.dtype))

    def rules(self, g: Value, graph: bool, want_a: bool, want_b: bool) -> tuple[Value, Value]:
        raise RuntimeError("derivative for aten::heaviside is not implemented")


@final
class ClampMinBackward1(Binary):
    """max(a, b) of a tensor and its lower bound, which passes the gradient at equality."""

    reads_a = A | B
    reads_b = A | B
    names: ClassVar[Any] = {"self": "a", "min": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a >= b, g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a < b, g, 0.0)


@final
class ClampMaxBackward1(Binary):
    """min(a, b) of a tensor and its upper bound, which passes the gradient at equality."""

    reads_a = A | B
    reads_b = A | B
    names: ClassVar[Any] = {"self": "a", "max": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a <= b, g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a > b, g, 0.0)


@final
class MaskedFillBackward1(Binary):
    """a, but b (0-dim) where the mask holds."""

    holds = True
    names: ClassVar[Any] = {}
    shows: ClassVar[Any] = {"mask": "mask"}

    def __init__(self, mask: Value) -> None:
        self.mask: Any = watch(self, mask)

    def drop(self) -> None:
        self.mask = None

    def compute(self, a: Value, b: Value, ta: Any, tb: Any) -> Array:
        xa: Array = ta.array if ta is not None else a
        xb: Array = tb.array if tb is not None else b
        self.unlike = (xa.shape, xa.dtype, xb.shape, xb.dtype)
        return self.forward(xa, xb)

    def forward(self, a: Array, b: Array) -> Array:
        return np.where(self.mask, b.astype(a.dtype), a)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(self.mask, 0.0, g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(self.mask, g, 0.0)


def mix(a: Array, b: Array, w: Any) -> Array:
    """From a to b; written so that w = 1 gives b exactly."""
    own = a
    a = wide(a)
    b = wide(b)
    d = b - a
    if isinstance(w, float):
        return like(a + d * w if abs_of(w) < 0.5 else b - d * (1.0 - w), own)
    w = wide(w)
    return like(np.where(np.abs(w) < 0.5, a + d * w, b - d * (1 - w)), own)


def abs_of(w: float) -> float:
    return -w if w < 0 else w


@final
class LerpBackward0(Binary):
    """a + weight * (b - a)"""

    names: ClassVar[Any] = {}
    shows: ClassVar[Any] = {"weight": "weight"}

    def __init__(self, weight: float) -> None:
        self.weight = weight

    def forward(self, a: Array, b: Array) -> Array:
        return mix(a, b, self.weight)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (1.0 - self.weight)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * self.weight


def together(xs: list[Array]) -> list[Array]:
    """All in the common dtype; None stays None."""
    some = [x for x in xs if x is not None]
    dtype = promote.result_dtype(some)
    for x in some[1:]:
        if x.shape != some[0].shape:
            promote.check_broadcast(some[0], x)
    return [None if x is None else promote.to(x, dtype) for x in xs]


@final
class LerpBackward1(Nary):
    """a + w * (b - a), w a tensor"""

    reads = 1 | 2 | 4
    names: ClassVar[Any] = {"self": 0, "end": 1, "weight": 2}

    def forward(self, xs: list[Array]) -> Array:
        return mix(xs[0], xs[1], xs[2])

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = [None, None, None]
        if want[0]:
            outs[0] = g * (1 - xs[2])
        if want[1]:
            outs[1] = g * xs[2]
        if want[2]:
            outs[2] = g * (xs[1] - xs[0])
        return outs


@final
class AddcmulBackward0(Nary):
    """x + value * a * b"""

    reads = 2 | 4
    names: ClassVar[Any] = {"tensor1": 1, "tensor2": 2}
    shows: ClassVar[Any] = {"value": "value"}

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value: Any = value

    def forward(self, xs: list[Array]) -> Array:
        xs = together(xs)
        product = xs[1] * xs[2]
        return xs[0] + (product if self.value == 1 else promote.times(product, self.value))

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = [None, None, None]
        if want[0]:
            outs[0] = g
        if want[1]:
            outs[1] = g * (xs[2] * self.value)
        if want[2]:
            outs[2] = g * (xs[1] * self.value)
        return outs


@final
class AddcdivBackward0(Nary):
    """x + value * a / b"""

    reads = 2 | 4
    names: ClassVar[Any] = {"tensor1": 1, "tensor2": 2}
    shows: ClassVar[Any] = {"value": "value"}

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value: Any = value

    def forward(self, xs: list[Array]) -> Array:
        xs = together(xs)
        return xs[0] + promote.times(xs[1] / xs[2], self.value)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = [None, None, None]
        if want[0]:
            outs[0] = g
        if want[1]:
            outs[1] = g * (self.value / xs[2])
        if want[2]:
            outs[2] = -g * ((xs[1] * self.value) / (xs[2] * xs[2]))
        return outs


@final
class ClampBackward0(Nary):
    """x between two tensors, either of which may be None; passes the gradient at both bounds."""

    reads = 1 | 2 | 4
    names: ClassVar[Any] = {"self": 0, "min": 1, "max": 2}

    def forward(self, xs: list[Array]) -> Array:
        xs = together(xs)
        y = xs[0]
        if xs[1] is not None:
            y = np.maximum(y, xs[1])
        return y if xs[2] is None else np.minimum(y, xs[2])

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        x, low, high = xs
        outs: list[Value] = [None, None, None]
        if low is None:
            under: Any = None
            over: Any = x > high
            inside: Any = x <= high
        elif high is None:
            under = x < low
            over = None
            inside = x >= low
        else:
            under = (low < high) & (x < low)
            over = (x > high) | (high < low)
            inside = (x >= low) & (x <= high)
        if want[0]:
            outs[0] = choose.where(inside, g, 0.0)
        if want[1]:
            outs[1] = choose.where(under, g, 0.0)
        if want[2]:
            outs[2] = choose.where(over, g, 0.0)
        return outs


def erf_of(x: Array) -> Array:
    return special.erf(x) if x.dtype.itemsize == 8 else like(special.erf_single(wide(x)), x)


def exp(x: Value) -> Value:
    return ExpBackward0().run(floating(x))


def exp2(x: Value) -> Value:
    return Exp2Backward0().run(floating(x))


def expm1(x: Value) -> Value:
    return Expm1Backward0().run(floating(x))


def log(x: Value) -> Value:
    return LogBackward0().run(floating(x))


def log2(x: Value) -> Value:
    return Log2Backward0().run(floating(x))


def log10(x: Value) -> Value:
    return Log10Backward0().run(floating(x))


def log1p(x: Value) -> Value:
    return Log1PBackward0().run(floating(x))


def sqrt(x: Value) -> Value:
    return SqrtBackward0().run(floating(x))


def rsqrt(x: Value) -> Value:
    return RsqrtBackward0().run(floating(x))


def abs(x: Value) -> Value:
    return AbsBackward0().run(x)


def sin(x: Value) -> Value:
    return SinBackward0().run(floating(x))


def cos(x: Value) -> Value:
    return CosBackward0().run(floating(x))


def tan(x: Value) -> Value:
    return TanBackward0().run(floating(x))


def asin(x: Value) -> Value:
    return AsinBackward0().run(floating(x))


def acos(x: Value) -> Value:
    return AcosBackward0().run(floating(x))


def atan(x: Value) -> Value:
    return AtanBackward0().run(floating(x))


def sinh(x: Value) -> Value:
    return SinhBackward0().run(floating(x))


def cosh(x: Value) -> Value:
    return CoshBackward0().run(floating(x))


def tanh(x: Value) -> Value:
    return TanhBackward0().run(floating(x))


def asinh(x: Value) -> Value:
    return AsinhBackward0().run(floating(x))


def acosh(x: Value) -> Value:
    return AcoshBackward0().run(floating(x))


def atanh(x: Value) -> Value:
    return AtanhBackward0().run(floating(x))


def sigmoid(x: Value) -> Value:
    return SigmoidBackward0().run(floating(x))


def erf(x: Value) -> Value:
    return ErfBackward0().run(floating(x))


def erfc(x: Value) -> Value:
    return ErfcBackward0().run(floating(x))


def erfinv(x: Value) -> Value:
    return ErfinvBackward0().run(floating(x))


def lgamma(x: Value) -> Value:
    return LgammaBackward0().run(floating(x))


def digamma(x: Value) -> Value:
    return DigammaBackward0().run(floating(x))


def deg2rad(x: Value) -> Value:
    return Deg2RadBackward0().run(floating(x))


def rad2deg(x: Value) -> Value:
    return Rad2DegBackward0().run(floating(x))


def exp_(x: TensorBase) -> TensorBase:
    return ExpBackward0().run_(x)


def log_(x: TensorBase) -> TensorBase:
    return LogBackward0().run_(x)


def sign(x: Value) -> Value:
    return SignBackward0().run(x)


def polygamma(n: int, x: Value) -> Value:
    return PolygammaBackward0(n).run(floating(x))


def square(x: Value) -> Value:
    return x * x


from . import arith, choose, create  # noqa: E402  rules of other families
