"""erf and gamma families on arrays: NumPy has none of them.

Everything is computed in float64 and is good to a few units in the last place; the callers cast back.
Sources: Cody 1969 (erf, erfc: rational Chebyshev approximations), Giles 2012 (erfinv: the first guess), Stirling's
series and Euler-Maclaurin summation (Abramowitz and Stegun 6.1.40, 6.3.18, 23.2).
"""
from __future__ import annotations

from typing import Any, Final

import numpy

from .._engine.node import Array

np: Final[Any] = numpy
DOUBLE: Final[Any] = numpy.dtype("float64")
PI: Final = 3.141592653589793
EULER: Final = 0.5772156649015329

# Cody's quotients, highest power first: erf below 0.46875, erfc up to 4, erfc beyond
NEAR: Final[Any] = (
    (1.85777706184603153e-1, 3.16112374387056560e0, 1.13864154151050156e2, 3.77485237685302021e2,
     3.20937758913846947e3),
    (1.0, 2.36012909523441209e1, 2.44024637934444173e2, 1.28261652607737228e3, 2.84423683343917062e3))
MIDDLE: Final[Any] = (
    (2.15311535474403846e-8, 5.64188496988670089e-1, 8.88314979438837594e0, 6.61191906371416295e1,
     2.98635138197400131e2, 8.81952221241769090e2, 1.71204761263407058e3, 2.05107837782607147e3,
     1.23033935479799725e3),
    (1.0, 1.57449261107098347e1, 1.17693950891312499e2, 5.37181101862009858e2, 1.62138957456669019e3,
     3.29079923573345963e3, 4.36261909014324716e3, 3.43936767414372164e3, 1.23033935480374942e3))
FAR: Final[Any] = (
    (1.63153871373020978e-2, 3.05326634961232344e-1, 3.60344899949804439e-1, 1.25781726111229246e-1,
     1.60837851487422766e-2, 6.58749161529837803e-4),
    (1.0, 2.56852019228982242e0, 1.87295284992346725e0, 5.27905102951428412e-1, 6.05183413124413191e-2,
     2.33520497626869185e-3))

# Giles' polynomials in w - 2.5 and sqrt(w) - 3, w = -log(1 - x^2)
CENTRE: Final[Any] = (
    2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503, -0.00417768164,
    0.246640727, 1.50140941)
TAIL: Final[Any] = (
    -0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613, 0.00943887047,
    1.00167406, 2.83297682)

BERNOULLI: Final[Any] = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)   # B2, B4, ...


def polynomial(x: Array, factors: Any) -> Array:
    """Horner; highest power first."""
    y = x * factors[0] + factors[1]
    for i in range(2, len(factors)):
        y = y * x + factors[i]
    return y


def quotient(x: Array, over: Any) -> Array:
    return polynomial(x, over[0]) / polynomial(x, over[1])


def decay(x: Array) -> Array:
    """exp(-x^2) without the rounding error of x^2."""
    x = np.minimum(x, 30.0)
    near = np.trunc(x * 16.0) / 16.0
    return np.exp(-near * near) * np.exp(-(x - near) * (x + near))


def erfc_beyond(x: Array) -> Array:
    """erfc for x >= 0.46875, a flat array."""
    y = decay(x)
    middle = x <= 4.0
    y[middle] *= quotient(x[middle], MIDDLE)
    far = ~middle
    x = x[far]
    z = 1.0 / (x * x)
    y[far] *= np.where(x > 30.0, 0.0, (1.0 / np.sqrt(PI) - z * quotient(z, FAR)) / x)
    return y


def erf(x: Array) -> Array:
    """x any float array -> float64"""
    flat = np.asarray(x, DOUBLE).reshape(-1)
    out = np.empty_like(flat)
    small = np.abs(flat) <= 0.46875
    s = flat[small]
    out[small] = s * quotient(s * s, NEAR)
    big = ~small
    b = flat[big]
    out[big] = np.copysign(1.0 - erfc_beyond(np.abs(b)), b)
    return out.reshape(x.shape)


# erf(x) / x in x^2 below 4, highest power first: our own fit, relative error 2e-9 before rounding
SINGLE: Final[Any] = (
    (-1.3202228e-08, 4.68477681e-06, 0.000379608866, 0.00384961263, 0.0543169155, 0.185203245, 1.12837917),
    (6.31105733e-05, 0.00130757009, 0.0154620921, 0.113958427, 0.497465516, 1.0))


def erf_single(x: Array) -> Array:
    """erf of float32, in float32: 6 units in the last place."""
    z = np.minimum(np.maximum(x, -4.0), 4.0)
    return np.minimum(np.maximum(z * quotient(z * z, SINGLE), -1.0), 1.0)


def erfc(x: Array) -> Array:
    flat = np.asarray(x, DOUBLE).reshape(-1)
    out = np.empty_like(flat)
    small = np.abs(flat) <= 0.46875
    s = flat[small]
    out[small] = 1.0 - s * quotient(s * s, NEAR)
    big = ~small
    b = flat[big]
    tail = erfc_beyond(np.abs(b))
    out[big] = np.where(b < 0.0, 2.0 - tail, tail)
    return out.reshape(x.shape)


def erfinv(x: Array) -> Array:
    x = np.asarray(x, DOUBLE)
    size = np.abs(x)
    w = -np.log((1.0 - size) * (1.0 + size))
    root = np.sqrt(w)
    y = np.where(w < 5.0, polynomial(w - 2.5, CENTRE), polynomial(root - 3.0, TAIL)) * size
    far = np.sqrt(-np.log(1.0 - size))
    y = np.where(w > 14.0, np.sqrt(far * far - np.log(np.sqrt(PI) * far)), y)       # from erfc's asymptotics
    for _ in range(2):                          # Halley; erfc keeps the digits that erf loses near 1
        error = np.where(size < 0.5, erf(y) - size, (1.0 - size) - erfc(y))
        step = error / (2.0 / np.sqrt(PI) * np.exp(-y * y))
        y = y - step / (1.0 + y * step)
    y = np.where(size == 1.0, np.inf, y)
    return np.copysign(np.where(size > 1.0, np.nan, y), x)


def zeta_less_one(k: int) -> float:
    """The sum of n^-k from n = 2."""
    total = 0.0
    for n in range(60, 1, -1):
        total += float(n) ** -k
    m = 61.0
    tail = m ** (1 - k) / (k - 1) + 0.5 * m ** -k + k / 12.0 * m ** (-k - 1)
    rising = k * (k + 1) * (k + 2)
    return total + tail - rising / 720.0 * m ** (-k - 3) + rising * (k + 3) * (k + 4) / 30240.0 * m ** (-k - 5)


def lgamma_series() -> list[float]:
    """lgamma(2 + z) as a polynomial in z, |z| <= 0.5; highest power first."""
    factors = [0.0, 1.0 - EULER]
    for k in range(2, 28):
        factors.append((-1.0) ** k * zeta_less_one(k) / k)
    factors.reverse()
    return factors


NEAR_TWO: Final[Any] = lgamma_series()


def lgamma(x: Array) -> Array:
    """log |gamma(x)|; inf at 0, -1, -2, ..."""
    x = np.asarray(x, DOUBLE)
    left = x < -0.5
    z = np.where(left, 1.0 - x, x)              # reflected: gamma(x) gamma(1 - x) = pi / sin(pi x)
    tiny = z < 0.5
    over = np.where(tiny, z, 1.0)
    z = np.where(tiny, z + 1.0, z)
    large = z >= 9.0
    s = np.where(large, 2.0, z)
    product = np.ones_like(s)
    for _ in range(7):
        high = s > 2.5
        s = np.where(high, s - 1.0, s)
        product = np.where(high, product * s, product)
    low = s < 1.5
    t = np.where(low, s - 1.0, s - 2.0)
    y = polynomial(t, NEAR_TWO) + np.log(product) - np.where(low, np.log1p(t), 0.0)
    y = np.where(large, stirling(np.where(large, z, 9.0)), y)
    y = y - np.log(np.abs(over))
    y = np.where(left, np.log(PI / np.abs(sin_pi(x))) - y, y)
    return np.where((x <= 0.0) & (x == np.floor(x)), np.inf, y)


def stirling(x: Array) -> Array:
    z = 1.0 / (x * x)
    rest = np.zeros_like(x)
    for k in range(len(BERNOULLI), 0, -1):
        rest = rest * z + BERNOULLI[k - 1] / (2 * k * (2 * k - 1))
    y = (x - 0.5) * np.log(x) - x + 0.9189385332046728 + rest / x
    return np.where(x == np.inf, np.inf, y)


def sin_pi(x: Array) -> Array:
    """sin(pi x), exact in the reduction."""
    r = x - 2.0 * np.round(x / 2.0)             # in [-1, 1]
    r = np.where(r > 0.5, 1.0 - r, np.where(r < -0.5, -1.0 - r, r))
    return np.sin(PI * r)


def digamma(x: Array) -> Array:
    """The derivative of lgamma; nan at -1, -2, ..., infinite at 0."""
    x = np.asarray(x, DOUBLE)
    left = x < 0.0
    z = np.where(left, 1.0 - x, x)
    y = np.zeros_like(z)
    for _ in range(10):
        low = z < 10.0
        y = np.where(low, y - 1.0 / z, y)
        z = np.where(low, z + 1.0, z)
    q = 1.0 / (z * z)
    rest = np.zeros_like(z)
    for k in range(len(BERNOULLI), 0, -1):
        rest = (rest + BERNOULLI[k - 1] / (2 * k)) * q
    y = y + np.log(z) - 0.5 / z - rest
    fraction = x - np.round(x)
    y = np.where(left, y - PI / np.tan(PI * np.where(left, fraction, 0.25)), y)
    y = np.where(left & (fraction == 0.0), np.nan, y)
    return np.where(x == 0.0, -np.copysign(np.inf, x), y)


def polygamma(n: int, x: Array) -> Array:
    """The n-th derivative of digamma, n >= 0."""
    if n == 0:
        return digamma(x)
    x = np.asarray(x, DOUBLE)
    factorial = 1.0
    for k in range(2, n + 1):
        factorial *= k
    if n == 1:                                  # reflected: far left, the sum below would be long
        left = x < 0.0
        y = zeta(2, np.where(left, 1.0 - x, x))
        return np.where(left, (PI / sin_pi(x)) ** 2 - y, y)
    return (-1.0) ** (n + 1) * factorial * zeta(n + 1, x)


def zeta(s: float, x: Array) -> Array:
    """Hurwitz zeta: the sum of (x + k)^-s over k = 0, 1, ..."""
    y = np.zeros_like(x)
    z = x + 0.0                                 # -0.0 would give the wrong infinity
    low = z < 12.0
    while np.any(low):
        low = low & (z > -1e6)
        y = np.where(low, y + z ** -float(s), y)
        z = np.where(low, z + 1.0, z)
        low = low & (z < 12.0)
    y = y + z ** (1.0 - s) / (s - 1.0) + 0.5 * z ** -float(s)
    term = s * z ** (-s - 1.0)                  # s (s+1) ... z^(-s-2k+1), step by step
    even = 2.0
    for k in range(1, len(BERNOULLI) + 1):
        y = y + BERNOULLI[k - 1] / even * term
        term = term * (s + 2 * k - 1) * (s + 2 * k) / (z * z)
        even *= (2 * k + 1) * (2 * k + 2)
    return np.where(x == np.inf, 0.0, y)
