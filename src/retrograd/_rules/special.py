"""Rarer special functions: modified Bessel functions, the normal distribution, incomplete gamma functions.

Computed in float64.  Sources: the Bessel functions' integral (Abramowitz and Stegun 9.6.19) by the midpoint rule, which
converges exponentially for periodic functions, and their asymptotic series (9.7.1); the gamma functions' series and continued
fraction (6.5.29, 6.5.31).
"""
from __future__ import annotations

from typing import Any, Final, final

import numpy

from .._engine import promote
from .._engine.node import Array, Value
from .._engine.op import Binary, Unary
from .._kernels import kernel
from . import choose, erf_gamma, pointwise
from .cast import cast_like
from .pointwise import like

np: Final[Any] = numpy
DOUBLE: Final[Any] = numpy.dtype("float64")
ROOT_2: Final = 1.4142135623730951
ROOT_2PI: Final = 2.5066282746310002
ANGLES: Final = 64
quick_igamma: Final[Any] = kernel("igamma")
quick_igammac: Final[Any] = kernel("igammac")
quick_i0: Final[Any] = kernel("i0")
quick_i0e: Final[Any] = kernel("i0e")
quick_i1: Final[Any] = kernel("i1")
quick_i1e: Final[Any] = kernel("i1e")
quick_entropy: Final[Any] = kernel("entropy")
quick_ndtri: Final[Any] = kernel("ndtri")
quick_log_ndtr: Final[Any] = kernel("log_ndtr")
quick_erfcx: Final[Any] = kernel("erfcx")
quick_xlog1py: Final[Any] = kernel("xlog1py")


def scaled_bessel(n: int, x: Array) -> Array:
    """exp(-|x|) I_n(x), n 0 or 1"""
    flat = np.asarray(x, DOUBLE).reshape(-1)
    size = np.abs(flat)
    out = np.empty_like(flat)
    near = size <= 30.0
    small = size <= 2.0                         # where the integral of order 1 would be a difference of ones
    angles = (np.arange(ANGLES) + 0.5) * (erf_gamma.PI / ANGLES)
    for start in range(0, flat.size, 4096):     # a block at a time: each number takes ANGLES
        block = slice(start, start + 4096)
        waves = np.exp(np.minimum(size[block], 30.0)[:, None] * (np.cos(angles) - 1.0))
        out[block] = (waves * np.cos(n * angles)).mean(1)
    w = size[small]
    term = np.exp(-w) * (w / 2.0 if n == 1 else 1.0)
    total = term
    for k in range(1, 16):                      # Abramowitz and Stegun 9.6.10
        term = term * (w * w) / (4.0 * k * (k + n))
        total = total + term
    out[small] = total
    far = ~near
    z = size[far]
    total = np.ones_like(z)
    term = np.ones_like(z)
    for k in range(1, 26):
        term = term * ((2 * k - 1) ** 2 - 4.0 * n * n) / (8.0 * k * z)
        total = total + term
    out[far] = np.where(z == np.inf, 0.0, total / np.sqrt(2.0 * erf_gamma.PI * z))
    if n == 1:
        out = np.copysign(out, flat)
        out[flat == 0] = flat[flat == 0]
    out[flat != flat] = np.nan
    return out.reshape(np.shape(x))


def bessel(n: int, x: Array) -> Array:
    return scaled_bessel(n, x) * np.exp(np.abs(np.asarray(x, DOUBLE)))


def erfcx_of(x: Array) -> Array:
    """exp(x^2) erfc(x)"""
    flat = np.asarray(x, DOUBLE).reshape(-1)
    size = np.abs(flat)
    y = np.exp(size * size) * erf_gamma.erfc(size)
    middle = (size > 0.46875) & (size <= 4.0)
    y[middle] = erf_gamma.quotient(size[middle], erf_gamma.MIDDLE)
    far = size > 4.0
    z = 1.0 / (size[far] * size[far])
    y[far] = (1.0 / np.sqrt(erf_gamma.PI) - z * erf_gamma.quotient(z, erf_gamma.FAR)) / size[far]
    y = np.where(flat < 0, 2.0 * np.exp(flat * flat) - y, y)
    return np.where(flat == np.inf, 0.0, y).reshape(np.shape(x))


def log_ndtr_of(x: Array) -> Array:
    """log of the normal distribution's integral up to x"""
    x = np.asarray(x, DOUBLE)
    low = np.minimum(x, 0.0)
    tail = np.log(erfcx_of(-low / ROOT_2) / 2.0) - low * low / 2.0
    return np.where(x < -1.0, tail, np.log1p(-erf_gamma.erfc(np.maximum(x, -1.0) / ROOT_2) / 2.0))


def ndtri_of(p: Array) -> Array:
    """Up to where the normal distribution's integral is p."""
    p = np.asarray(p, DOUBLE)
    small = np.minimum(p, 1.0 - p)
    log = np.log(small)
    x = np.where(small < 0.1, -np.sqrt(np.maximum(-2.0 * log, 0.0)), ROOT_2 * erf_gamma.erfinv(2.0 * small - 1.0))
    for _ in range(6):                          # Newton on the logarithm, which is nearly a parabola
        reached = log_ndtr_of(x)
        step = (reached - log) * np.exp(reached + x * x / 2.0) * ROOT_2PI
        x = np.where(np.isfinite(step), x - step, x)
    x = np.where(p > 0.5, -x, x)
    x = np.where(p == 0.0, -np.inf, np.where(p == 1.0, np.inf, x))
    return np.where((p < 0.0) | (p > 1.0), np.nan, x)


def incomplete_gamma(a: Array, x: Array, upper: bool) -> Array:
    """The lower (upper) incomplete gamma function over gamma(a), between 0 and 1."""
    a, x = np.broadcast_arrays(np.asarray(a, DOUBLE), np.asarray(x, DOUBLE))
    to = a.shape
    a, x = a.reshape(-1), x.reshape(-1)
    wrong = (a < 0) | (x < 0) | (a != a) | (x != x) | ((a == 0) & (x == 0)) | ((a == np.inf) & (x == np.inf))
    easy = wrong | (a == 0) | (x == 0) | (a == np.inf) | (x == np.inf)
    p = np.where((x == 0) | (a == np.inf), 0.0, 1.0)       # the lower one where it is easy
    q = 1.0 - p
    hard = ~easy
    b, z = a[hard], x[hard]
    factor = np.exp(b * np.log(z) - z - erf_gamma.lgamma(b))
    low = np.zeros_like(b)
    high = np.zeros_like(b)
    near = z < b + 1.0
    if np.any(near):
        c, w = b[near], z[near]
        term = 1.0 / c
        total = term
        k = 0
        while k < 10000 and np.any(np.abs(term) > np.abs(total) * 1e-17):
            k += 1
            term = term * w / (c + k)
            total = total + term
        low[near] = total * factor[near]
        high[near] = 1.0 - low[near]
    far = ~near
    if np.any(far):                             # Lentz
        c, w = b[far], z[far]
        tiny = 1e-300
        beta = w + 1.0 - c
        ratio = np.full_like(w, 1.0 / tiny)
        inverse = 1.0 / np.where(beta == 0, tiny, beta)
        total = inverse
        k = 0
        change = np.full_like(w, 2.0)
        while k < 10000 and np.any(np.abs(change - 1.0) > 1e-16):
            k += 1
            alpha = -k * (k - c)
            beta = beta + 2.0
            inverse = alpha * inverse + beta
            inverse = 1.0 / np.where(inverse == 0, tiny, inverse)
            ratio = beta + alpha / ratio
            ratio = np.where(ratio == 0, tiny, ratio)
            change = inverse * ratio
            total = total * change
        high[far] = total * factor[far]
        low[far] = 1.0 - high[far]
    p[hard] = low
    q[hard] = high
    return np.where(wrong, np.nan, q if upper else p).reshape(to)


@final
class I0Backward0(Unary):
    """The modified Bessel function I_0."""

    def quick(self, x: Array) -> Array:
        return quick_i0(x)

    def forward(self, x: Array) -> Array:
        return like(bessel(0, x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * SpecialI1Backward0().run(x)


@final
class SpecialI0EBackward0(Unary):
    """exp(-|x|) I_0(x)"""

    def quick(self, x: Array) -> Array:
        return quick_i0e(x)

    def forward(self, x: Array) -> Array:
        return like(scaled_bessel(0, x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (SpecialI1EBackward0().run(x) - pointwise.sign(x) * y)


@final
class SpecialI1Backward0(Unary):
    """The modified Bessel function I_1."""

    def quick(self, x: Array) -> Array:
        return quick_i1(x)

    def forward(self, x: Array) -> Array:
        return like(bessel(1, x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        over = choose.where(x == 0, 0.5, y / choose.where(x == 0, 1.0, x))
        return g * (I0Backward0().run(x) - over)


@final
class SpecialI1EBackward0(Unary):
    """exp(-|x|) I_1(x)"""

    def quick(self, x: Array) -> Array:
        return quick_i1e(x)

    def forward(self, x: Array) -> Array:
        return like(scaled_bessel(1, x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        over = choose.where(x == 0, 0.5, y / choose.where(x == 0, 1.0, x))
        return g * (SpecialI0EBackward0().run(x) - over - pointwise.sign(x) * y)


@final
class SpecialEntrBackward0(Unary):
    """-x log(x), 0 at 0, -inf below"""

    def quick(self, x: Array) -> Array:
        return quick_entropy(x)

    def forward(self, x: Array) -> Array:
        z = pointwise.wide(x)
        return like(np.where(z > 0, -z * np.log(np.where(z > 0, z, 1)), np.where(z == 0, 0.0, np.where(z < 0, -np.inf, z))), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (-pointwise.log(x) - 1)


@final
class SpecialNdtriBackward0(Unary):
    """The inverse of the normal distribution's integral."""

    def quick(self, x: Array) -> Array:
        return quick_ndtri(x)

    def forward(self, x: Array) -> Array:
        return like(ndtri_of(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (pointwise.exp(y * y * 0.5) * ROOT_2PI)


@final
class SpecialLogNdtrBackward0(Unary):
    """log of the normal distribution's integral"""

    def quick(self, x: Array) -> Array:
        return quick_log_ndtr(x)

    def forward(self, x: Array) -> Array:
        return like(log_ndtr_of(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / SpecialErfcxBackward0().run(x * (-1 / ROOT_2)) * (2 / ROOT_2PI)


@final
class SpecialErfcxBackward0(Unary):
    """exp(x^2) erfc(x)"""

    def quick(self, x: Array) -> Array:
        return quick_erfcx(x)

    def forward(self, x: Array) -> Array:
        return like(erfcx_of(x), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * (x * y * 2 - pointwise.TWO_OVER_ROOT_PI)


@final
class SpecialXlog1PyBackward0(Binary):
    """a log(1 + b), 0 where a is"""

    kind = promote.FLOAT

    def quick(self, a: Array, b: Array) -> Array:
        return quick_xlog1py(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        y = np.asarray(a * np.log1p(b))
        return np.where((a == 0) & (b == b), y.dtype.type(0), y)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a == 0) & (b <= -1), 0.0, g * pointwise.Log1PBackward0().run(cast_like(b, g)))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * a / (b + 1)


class Incomplete(Binary):
    """Its first argument has no derivative."""

    kind = promote.FLOAT
    upper: bool = False
    sign: float = 1.0

    def forward(self, a: Array, b: Array) -> Array:
        if np.shape(a) != np.shape(b):
            a, b = np.broadcast_arrays(a, b)
            a = np.array(a, order="C")
            b = np.array(b, order="C")
        quick = quick_igammac(a, b) if self.upper else quick_igamma(a, b)
        if quick is not None:
            return quick
        y = incomplete_gamma(a, b, self.upper)
        return y.astype(a.dtype if isinstance(a, np.ndarray) else b.dtype)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        raise NotImplementedError(f"the derivative for '{self.name()[:-9].lower()}: input' is not implemented.")

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        density = pointwise.exp((a - 1) * pointwise.log(b) - b - pointwise.lgamma(a))
        return g * density * self.sign


@final
class IgammaBackward0(Incomplete):
    """The lower incomplete gamma function over gamma(a)."""


@final
class IgammacBackward0(Incomplete):
    """The upper incomplete gamma function over gamma(a)."""

    upper = True
    sign = -1.0
