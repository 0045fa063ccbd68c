"""Functions of one number, applied to every element, and of two or three that are neither arithmetic nor choices.

Where PyTorch computes half precision in float32 and rounds once, so do we: `wide`, `like`.
"""

from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .. import _kernels
from .._engine.modes import modes
from .._engine.node import Array, Value
from .._engine.op import Binary, Unary, is_complex, once
from .._engine.tensor import TensorBase
from .._kernels import kernel
from . import by_parts, erf_gamma
from .by_parts import LN2, LN10
from .cast import floating

np: Final[Any] = numpy
PI: Final = 3.141592653589793
TWO_OVER_ROOT_PI: Final = 1.1283791670955126
quick_sigmoid: Final[Any] = kernel("sigmoid")
quick_sigmoid_grad: Final[Any] = kernel("sigmoid_grad")
quick_tanh_grad: Final[Any] = kernel("tanh_grad")
quick_erf: Final[Any] = kernel("erf")
quick_erfc: Final[Any] = kernel("erfc")
quick_erfinv: Final[Any] = kernel("erfinv")
quick_lgamma: Final[Any] = kernel("lgamma")
quick_digamma: Final[Any] = kernel("digamma")
quick_trigamma: Final[Any] = kernel("trigamma")
quick_sign: Final[Any] = kernel("sign")
quick_rsqrt: Final[Any] = kernel("rsqrt")
quick_mul: Final[Any] = _kernels.absent if _kernels.mul is None else _kernels.mul


def wide(x: Array) -> Array:
    """Half precision as float32, all else as it is."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x


def like(y: Array, x: Array) -> Array:
    """y in x's dtype."""
    return y if y.dtype is x.dtype else y.astype(x.dtype)


class OneUfunc(Unary):
    """An op that is one ufunc."""

    def ufunc(self) -> Any:
        raise NotImplementedError

    def quick(self, x: Array) -> Array:
        return once(self.ufunc(), x)

    def forward(self, x: Array) -> Array:
        return by_parts.of(self.ufunc(), x) if modes.imaginary else self.ufunc()(x)


def floats(op: Any, x: TensorBase) -> Value:
    """op, a class, on x in floating point."""
    node: Unary = op()
    return node.run(floating(x))


@final
class ExpBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.exp

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        quick = quick_mul(g, y)
        return g * y if quick is None else quick


@final
class Exp2Backward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.exp2

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * y * LN2


@final
class Expm1Backward0(OneUfunc):
    """exp(x) - 1, exact near 0"""

    def ufunc(self) -> Any:
        return np.expm1

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (y + 1)


@final
class LogBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.log

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / x


@final
class Log2Backward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.log2

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x * LN2)


@final
class Log10Backward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.log10

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x * LN10)


@final
class Log1PBackward0(OneUfunc):
    """log(1 + x), exact near 0"""

    def ufunc(self) -> Any:
        return np.log1p

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x + 1)


@final
class SqrtBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.sqrt

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (y * 2)


@final
class RsqrtBackward0(Unary):
    def quick(self, x: Array) -> Array:
        return quick_rsqrt(x)

    def forward(self, x: Array) -> Array:
        return like(1.0 / by_parts.of(np.sqrt, wide(x)), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * -0.5 * (y * y * y)


@final
class AbsBackward0(OneUfunc):
    conjugates = False

    def ufunc(self) -> Any:
        return np.abs

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (complexes.sgn(x) if is_complex(x) else sign(x))


@final
class SinBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.sin

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * cos(x)


@final
class CosBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.cos

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return -g * sin(x)


@final
class TanBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.tan

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (y * y + 1)


@final
class AsinBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.arcsin

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * rsqrt(1 - x * x)


@final
class AcosBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.arccos

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return -g * rsqrt(1 - x * x)


@final
class AtanBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.arctan

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (x * x + 1)


@final
class SinhBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.sinh

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * cosh(x)


@final
class CoshBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.cosh

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * sinh(x)


@final
class TanhBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.tanh

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(y, TensorBase):
            return TanhBackwardBackward0().run(g, y)
        quick = quick_tanh_grad(g, y)
        if quick is not None:
            return quick
        exact = wide(y)                         # 1 - y * y cancels
        return like(wide(g) * (1 - exact * exact), g)


@final
class TanhBackwardBackward0(Binary):
    """a (1 - b^2), b = tanh(x): the derivative of tanh as a node of its own"""

    names: ClassVar[Any] = {"grad_output": "a", "output": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return a * (1 - b * b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return TanhBackwardBackward0().run(g, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (a * b * -2)


@final
class AsinhBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.arcsinh

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * rsqrt(x * x + 1)


@final
class AcoshBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.arccosh

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * rsqrt(x * x - 1)


@final
class AtanhBackward0(OneUfunc):
    def ufunc(self) -> Any:
        return np.arctanh

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / (1 - x * x)


@final
class SigmoidBackward0(Unary):
    """1 / (1 + exp(-x)); exp may overflow to inf, which gives the right 0"""

    def quick(self, x: Array) -> Array:
        return quick_sigmoid(x)

    def forward(self, x: Array) -> Array:
        return like(1.0 / (by_parts.of(np.exp, -wide(x)) + 1.0), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if isinstance(y, TensorBase):
            return SigmoidBackwardBackward0().run(g, y)
        quick = quick_sigmoid_grad(g, y)
        return g * ((1 - y) * y) if quick is None else quick


@final
class SigmoidBackwardBackward0(Binary):
    """a (1 - b) b, b = sigmoid(x): the derivative of sigmoid as a node of its own"""

    names: ClassVar[Any] = {"grad_output": "a", "output": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return a * ((1 - b) * b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return SigmoidBackwardBackward0().run(g, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (a * (b * -2 + 1))


@final
class ErfBackward0(Unary):
    def quick(self, x: Array) -> Array:
        return quick_erf(x)

    def forward(self, x: Array) -> Array:
        return erf_of(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (exp(-(x * x)) * TWO_OVER_ROOT_PI)


@final
class ErfcBackward0(Unary):
    """1 - erf(x), exact for large x"""

    def quick(self, x: Array) -> Array:
        return quick_erfc(x)

    def forward(self, x: Array) -> Array:
        return like(erf_gamma.erfc(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (exp(-(x * x)) * -TWO_OVER_ROOT_PI)


@final
class ErfinvBackward0(Unary):
    def quick(self, x: Array) -> Array:
        return quick_erfinv(x)

    def forward(self, x: Array) -> Array:
        return like(erf_gamma.erfinv(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (exp(square(erfinv(x))) / TWO_OVER_ROOT_PI)


@final
class LgammaBackward0(Unary):
    """log |gamma(x)|"""

    def quick(self, x: Array) -> Array:
        return quick_lgamma(x)

    def forward(self, x: Array) -> Array:
        return like(erf_gamma.lgamma(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * digamma(x)


@final
class DigammaBackward0(Unary):
    def quick(self, x: Array) -> Array:
        return quick_digamma(x)

    def forward(self, x: Array) -> Array:
        return like(erf_gamma.digamma(x), x)

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


def sign_of(x: Array) -> Array:
    """-1, 0 or 1; 0 for nan."""
    if x.dtype.kind == "b":
        return x.copy()
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


class SignOf(Unary):
    def quick(self, x: Array) -> Array:
        return quick_sign(x)

    def forward(self, x: Array) -> Array:
        return sign_of(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class SignBackward0(SignOf):
    pass


@final
class PolygammaBackward0(Unary):
    """The n-th derivative of digamma."""

    shows: ClassVar[Any] = {"n": "n"}

    def __init__(self, n: int) -> None:
        self.n = n

    def quick(self, x: Array) -> Array:
        return quick_trigamma(x) if self.n == 1 else None

    def forward(self, x: Array) -> Array:
        return like(erf_gamma.polygamma(self.n, x), x) if self.n else DigammaBackward0().forward(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * polygamma(self.n + 1, x)


@final
class LogitBackward0(Unary):
    """log(x / (1 - x)), x first clamped to [eps, 1 - eps] unless eps is None."""

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

    def forward(self, x: Array) -> Array:
        z = wide(x) * PI
        return like(np.where(z == 0, z.dtype.type(1), by_parts.of(np.sin, z) / z), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        z = x * PI
        return choose.where(x == 0, 0.0, g * ((z * cos(z) - sin(z)) / (z * x)))


def erf_of(x: Array) -> Array:
    return erf_gamma.erf(x) if x.dtype.itemsize == 8 else like(erf_gamma.erf_single(wide(x)), x)


def exp(x: Value) -> Value:
    return ExpBackward0().run(floating(x))


def exp2(x: Value) -> Value:
    return Exp2Backward0().run(floating(x))


def log(x: Value) -> Value:
    return LogBackward0().run(floating(x))


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


def sinh(x: Value) -> Value:
    return SinhBackward0().run(floating(x))


def cosh(x: Value) -> Value:
    return CoshBackward0().run(floating(x))


def tanh(x: Value) -> Value:
    return TanhBackward0().run(floating(x))


def sigmoid(x: Value) -> Value:
    return SigmoidBackward0().run(floating(x))


def erf(x: Value) -> Value:
    return ErfBackward0().run(floating(x))


def erfinv(x: Value) -> Value:
    return ErfinvBackward0().run(floating(x))


def lgamma(x: Value) -> Value:
    return LgammaBackward0().run(floating(x))


def digamma(x: Value) -> Value:
    return DigammaBackward0().run(floating(x))


def sign(x: Value) -> Value:
    return SignBackward0().run(x)


def polygamma(n: int, x: Value) -> Value:
    return PolygammaBackward0(n).run(floating(x))


def square(x: Value) -> Value:
    return x * x


from . import choose, complexes, create  # noqa: E402  rules of other families
