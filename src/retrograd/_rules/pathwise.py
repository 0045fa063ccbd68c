"""Gamma numbers in the graph: how they, and points of the simplex made of them, move with their parameters.

A number x with distribution function F(x; a) moves by dx/da = -(dF/da) / (dF/dx) when its chance F stays what it is (Figurnov,
Mohamed, Mnih 2018; Jankowiak and Obermeyer 2018).  With p = dF/dx the numerator is the integral of p(t) (log t - E log t) up to
x, or less that of the rest; of the two the one is taken in which log t - E log t keeps its sign, so nothing cancels, and where p
is nearly a power of t its series (a power times exp or a binomial, integrated term by term).
"""
from __future__ import annotations

from functools import lru_cache
from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Value
from .._engine.op import Binary, Unary
from . import erf_gamma

np: Final[Any] = numpy
DOUBLE: Final[Any] = numpy.dtype("float64")
SMALLEST: Final = -40.0                         # logarithm of what an integrand may be cut off at
BELOW_ONE: Final = 1.0 - 2.0**-53
LARGE: Final = 1e5                              # from here on digamma and log differ in their last digits
ROWS: Final = 4096                              # integrals at a time


@final
class StandardGammaBackward0(Unary):
    """Numbers with gamma distributions of shapes x and rate 1."""

    def __init__(self, numbers: Array) -> None:
        self.numbers: Array = numbers

    def forward(self, x: Array) -> Array:
        y = self.numbers
        self.numbers = None
        return y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * StandardGammaGradBackward0().run(x, y)


@final
class StandardGammaGradBackward0(Binary):
    """The derivative of such numbers b by their shapes a."""

    names: ClassVar[Any] = {}

    def forward(self, a: Array, b: Array) -> Array:
        return gamma_path(a, b).astype(a.dtype)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        raise NotImplementedError("the derivative for '_standard_gamma_grad' is not implemented.")


def gamma_path(shape: Array, x: Array) -> Array:
    """dx/da of gamma numbers x of shape a, rate 1; nan outside a > 0, x > 0."""
    a, x = np.broadcast_arrays(np.asarray(shape, DOUBLE), np.asarray(x, DOUBLE))
    out = np.full(a.shape, np.nan)
    fine = np.isfinite(a) & np.isfinite(x) & (a > 0) & (x > 0)
    out[(x == 0) & (a > 0)] = 0.0
    a, x = a[fine], x[fine]
    c = np.where(a > LARGE, digamma_rest(a) - np.log1p((x - a) / a), erf_gamma.digamma(a) - np.log(x))
    found = np.empty_like(a)
    near = x <= 1.0
    found[near] = gamma_series(a[near], x[near])
    upper = ~near & (c <= 0)
    found[upper] = in_parts(gamma_upper, [a[upper], x[upper], c[upper]])
    lower = ~near & (c > 0)
    found[lower] = in_parts(gamma_lower, [a[lower], x[lower], c[lower]])
    out[fine] = found
    return out


def digamma_rest(z: Array) -> Array:
    """digamma(z) - log(z), without cancellation for large z"""
    return np.where(z > LARGE, (-0.5 - 1.0 / (12.0 * z)) / z, erf_gamma.digamma(z) - np.log(z))


def gamma_series(a: Array, x: Array) -> Array:
    """x <= 1: x exp(x) times the integral of exp(-a s - x exp(-s)) (c + s) over s = log(x / t), c = digamma(a) - log x"""
    first = (erf_gamma.digamma(a + 1.0) - np.log(x)) / a      # c / a + 1 / a^2
    c = erf_gamma.digamma(a) - np.log(x)
    total = first
    term = np.ones_like(x)
    for k in range(1, 26):
        term = term * (-x / k)
        total = total + term * (c / (a + k) + 1.0 / (a + k) ** 2)
    return x * np.exp(x) * total


def gamma_upper(a: Array, x: Array, c: Array) -> Array:
    def slope(s: Array) -> Array:
        return a * s - x * np.expm1(s)

    s, w = points(slope, 2.0 * np.sqrt(-2.0 * SMALLEST / x), 3)
    return x * (w * np.exp(slope(s)) * (s - c)).sum(0)


def gamma_lower(a: Array, x: Array, c: Array) -> Array:
    def slope(s: Array) -> Array:
        return -a * s - x * np.expm1(-s)

    s, w = points(slope, (x - SMALLEST) / a, 3)
    return x * (w * np.exp(slope(s)) * (s + c)).sum(0)


def beta_path(x: Array, alpha: Array, total: Array) -> Array:
    """dx/da / (1 - x) of beta numbers x in (0, 1) of shapes a = alpha and b = total - alpha, by a alone; nan outside."""
    x, a, total = np.broadcast_arrays(np.asarray(x, DOUBLE), np.asarray(alpha, DOUBLE), np.asarray(total, DOUBLE))
    b = np.maximum(total - a, 0.0)              # 0: rounded away
    out = np.full(a.shape, np.nan)
    fine = (x > 0) & (x <= 1) & (a > 0) & np.isfinite(a) & np.isfinite(b)
    out[(x == 0) & (a > 0)] = 0.0
    a, b, x = a[fine], b[fine], np.minimum(x[fine], BELOW_ONE)
    mean_log = erf_gamma.digamma(a) - erf_gamma.digamma(a + b)
    apart = digamma_rest(a) - digamma_rest(a + b) - np.log1p(x * b / a - (1.0 - x))
    c = np.where((a > LARGE) & (x > 0.1), apart, mean_log - np.log(x))
    found = np.empty_like(a)
    near = (x <= 0.5) & (x * b <= 1.0)
    found[near] = beta_series(a[near], b[near], x[near])
    alone = ~near & (b < 1e-9)                  # nearly all chance lies at 1: the limit for b -> 0
    found[alone] = erf_gamma.polygamma(1, a[alone])
    upper = ~near & ~alone & (c <= 0)
    found[upper] = in_parts(beta_upper, [a[upper], b[upper], x[upper], c[upper]])
    lower = ~near & ~alone & (c > 0)
    found[lower] = in_parts(beta_lower, [a[lower], b[lower], x[lower], c[lower]])
    out[fine] = found
    return out


def beta_series(a: Array, b: Array, x: Array) -> Array:
    """x <= 1/2, b x <= 1: the integral of beta_lower with (1 - t)^(b - 1) as a power series in t"""
    c = erf_gamma.digamma(a) - erf_gamma.digamma(a + b) - np.log(x)
    total = (erf_gamma.digamma(a + 1.0) - erf_gamma.digamma(a + b) - np.log(x)) / a
    term = np.ones_like(x)
    for k in range(1, 56):
        term = term * x * (k - b) / k
        total = total + term * (c / (a + k) + 1.0 / (a + k) ** 2)
    return x * np.exp(-b * np.log1p(-x)) * total


def beta_lower(a: Array, b: Array, x: Array, c: Array) -> Array:
    """t = x exp(-s)"""
    rest = np.log1p(-x)

    def slope(s: Array) -> Array:
        return (b - 1.0) * np.log1p(x / (1.0 - x) * -np.expm1(-s)) - a * s

    s, w = points(slope, (np.maximum(1.0 - b, b - 1.0) * -rest - SMALLEST) / a, 9)
    return x / (1.0 - x) * (w * np.exp(slope(s)) * (s + c)).sum(0)


def beta_upper(a: Array, b: Array, x: Array, c: Array) -> Array:
    """t = 1 - (1 - x) exp(-s)"""
    def ratio(s: Array) -> Array:
        return np.log1p((1.0 - x) / x * -np.expm1(-s))      # log(t / x)

    def slope(s: Array) -> Array:
        return (a - 1.0) * ratio(s) - b * s

    s, w = points(slope, (np.abs(a - 1.0) * -np.log(x) - SMALLEST) / b, 9)
    return (w * np.exp(slope(s)) * (ratio(s) - c)).sum(0)


def points(slope: Any, far: Array, pieces: int) -> tuple[Array, Array]:
    """Nodes (20 pieces, n) and weights for integrals of exp(slope(s)) from 0 to where that is cut off, which is below `far`.

    Each piece is three times as long as all before it: integrands of small shapes bend near 0 and are long.
    """
    low, high = np.zeros_like(far), far
    for _ in range(24):
        middle = np.where(low > 0, np.sqrt(low * high), high * 2.0**-30)
        beyond = slope(middle) < SMALLEST
        high = np.where(beyond, middle, high)
        low = np.where(beyond, low, middle)
    s, w = cut(pieces)
    return s * high, w * high


@lru_cache(2)
def cut(pieces: int) -> tuple[Array, Array]:
    """Gauss and Legendre's nodes in pieces of [0, 1], and their weights: (K, 1) each"""
    ends = 4.0 ** np.arange(1 - pieces, 1)
    begins = np.concatenate([[0.0], ends[:-1]])
    nodes, weights = np.polynomial.legendre.leggauss(20)
    long = (ends - begins)[:, None] / 2.0
    return (begins[:, None] + (nodes + 1.0) * long).reshape(-1, 1), (weights * long).reshape(-1, 1)


def in_parts(integral: Any, xs: list[Array]) -> Array:
    """integral(*xs), some rows at a time: each needs up to 180 numbers."""
    parts = [integral(*[x[i:i + ROWS] for x in xs]) for i in range(0, len(xs[0]), ROWS)]
    return np.concatenate(parts) if parts else np.zeros(0)
