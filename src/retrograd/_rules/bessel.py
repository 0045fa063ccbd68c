"""Bessel functions of order 0 and 1, of both kinds, modified and not, and the Airy function Ai; in float64.

Near 0 by power series (Abramowitz and Stegun 9.1.10, 9.6.10-13), further out by integrals whose trapezoidal sums converge
exponentially (9.1.21, 9.6.24), far out by Hankel's series (9.2.5-10).  Y by Neumann's series of J (9.1.89), Ai by 10.4.14
and Taylor steps of its equation y'' = x y, far out by 10.4.60.
"""
from __future__ import annotations

from typing import Any, Final

import numpy

from .._engine.node import Array
from . import erf_gamma, special

np: Final[Any] = numpy
DOUBLE: Final[Any] = numpy.dtype("float64")
ANGLES: Final = 160
FAR: Final = 25.0


def harmonics(x: Array, orders: int) -> Array:
    """(orders, size): J_0, J_1, ... of flat x, 0 <= x <= 25."""
    angle = (np.arange(ANGLES) + 0.5) * (2.0 * erf_gamma.PI / ANGLES)
    k = np.arange(orders)[:, None]
    waves = x[:, None] * np.sin(angle)
    return np.cos(k * angle) @ np.cos(waves).T / ANGLES + np.sin(k * angle) @ np.sin(waves).T / ANGLES


def series(n: int, x: Array) -> Array:
    """J_n, |x| <= 3"""
    z = -x * x / 4.0
    term = x / 2.0 if n == 1 else np.ones_like(x)
    total = term
    for k in range(1, 22):
        term = term * z / (k * (k + n))
        total = total + term
    return total


def hankel(n: int, x: Array) -> Any:
    """(P, Q, phase) of 9.2.5 for x > 25"""
    mu = 4.0 * n * n
    p = np.ones_like(x)
    q = np.zeros_like(x)
    term = np.ones_like(x)
    for k in range(1, 30):
        term = term * (mu - (2 * k - 1) ** 2) / (k * 8.0 * x)
        if k % 2:
            q = q + term * (1 if k % 4 == 1 else -1)
        else:
            p = p + term * (1 if k % 4 == 0 else -1)
    return p, q, x - (0.5 * n + 0.25) * erf_gamma.PI


def bessel_j(n: int, x: Array) -> Array:
    x = np.asarray(x, DOUBLE)
    flat = x.reshape(-1)
    size = np.abs(flat)
    out = np.full_like(flat, np.nan)
    near = size <= 3.0
    out[near] = series(n, size[near])
    middle = (size > 3.0) & (size <= FAR)
    out[middle] = harmonics(size[middle], 2)[n]
    far = size > FAR
    z = size[far]
    p, q, phase = hankel(n, z)
    out[far] = np.where(z == np.inf, np.nan, np.sqrt(2.0 / (erf_gamma.PI * z)) * (p * np.cos(phase) - q * np.sin(phase)))
    if n == 1:
        out = np.where(flat < 0, -out, out)
    return out.reshape(x.shape)


def bessel_y(n: int, x: Array) -> Array:
    """-inf at 0, nan below."""
    x = np.asarray(x, DOUBLE)
    flat = x.reshape(-1)
    out = np.where(flat == 0, -np.inf, np.nan)
    near = (flat > 0) & (flat <= FAR)
    z = flat[near]
    orders = 64
    j = harmonics(z, orders)
    small = z <= 3.0
    j[0][small] = series(0, z[small])
    j[1][small] = series(1, z[small])
    log = np.log(z / 2.0) + erf_gamma.EULER
    total = np.zeros_like(z)
    for k in range(1, orders // 2 - 1):
        part = j[2 * k] * 2.0 if n == 0 else j[2 * k - 1] - j[2 * k + 1]
        total = total + (-1) ** k * part / k
    scale = 2.0 / erf_gamma.PI
    out[near] = scale * (log * j[0] - total) if n == 0 else scale * (log * j[1] + total - j[0] / z)
    far = flat > FAR
    z = flat[far]
    p, q, phase = hankel(n, z)
    out[far] = np.where(z == np.inf, np.nan, np.sqrt(2.0 / (erf_gamma.PI * z)) * (p * np.sin(phase) + q * np.cos(phase)))
    return out.reshape(x.shape)


def scaled_k(order: float, z: Array) -> Array:
    """exp(z) K_order(z) of flat z >= 1"""
    step = 0.2 / np.sqrt(z)[:, None]
    t = np.arange(0, 46) * step
    waves = np.exp(-2.0 * z[:, None] * np.sinh(t / 2.0) ** 2) * np.cosh(order * t) * step
    return waves.sum(1) - waves[:, 0] / 2.0


def bessel_k(n: int, x: Array, scaled: bool) -> Array:
    """Of the second kind, modified: inf at 0, nan below; `scaled` by exp(x)."""
    x = np.asarray(x, DOUBLE)
    flat = x.reshape(-1)
    out = np.where(flat == 0, np.inf, np.nan)
    near = (flat > 0) & (flat < 1.0)
    z = flat[near]
    w = z * z / 4.0
    log = np.log(z / 2.0)
    term = np.ones_like(z)
    total = (-log - erf_gamma.EULER) * term if n == 0 else 1.0 / z + z / 2.0 * (log + erf_gamma.EULER - 0.5)
    harmonic = 0.0
    for k in range(1, 14):
        harmonic += 1.0 / k
        term = term * w / (k * (k + n))
        if n == 0:
            total = total + term * (harmonic - log - erf_gamma.EULER)
        else:
            total = total + z / 2.0 * term * (log + erf_gamma.EULER - harmonic - 0.5 / (k + 1))
    out[near] = total * np.exp(z) if scaled else total
    far = flat >= 1.0
    z = flat[far]
    y = np.where(z == np.inf, 0.0, scaled_k(n, np.minimum(z, 1e300)))
    out[far] = y if scaled else y * np.exp(-z)
    return out.reshape(x.shape)


def bessel_i(n: int, x: Array) -> Array:
    return special.bessel(n, x)


def spherical_j0(x: Array) -> Array:
    """sin(x) / x"""
    x = np.asarray(x, DOUBLE)
    z = np.where((x == 0) | np.isinf(x), 1.0, x)
    return np.where(np.isinf(x), 0.0, np.where(x == 0, 1.0, np.sin(z) / z))


AT_0: Final = (0.35502805388781723926, -0.25881940379280679840)     # Ai and its derivative at 0


def taylor(centre: float, value: float, slope: float, h: Array) -> Any:
    """(y, y') at centre + h, |h| <= 1, of y'' = x y"""
    c = [value, slope, centre * value / 2.0]
    for k in range(1, 40):
        c.append((centre * c[k] + c[k - 1]) / ((k + 1) * (k + 2)))
    y = np.zeros_like(h)
    dy = np.zeros_like(h)
    for k in range(len(c) - 1, 0, -1):
        dy = dy * h + k * c[k]
    for k in range(len(c) - 1, -1, -1):
        y = y * h + c[k]
    return y, dy


def airy_ai(x: Array) -> Array:
    """0 beyond 103.892, nan at infinity: so PyTorch's."""
    x = np.asarray(x, DOUBLE)
    flat = x.reshape(-1)
    out = np.full_like(flat, np.nan)
    tiny = np.abs(flat) <= 1.0
    out[tiny] = taylor(0.0, AT_0[0], AT_0[1], flat[tiny])[0]
    right = (flat > 1.0) & np.isfinite(flat)
    z = flat[right]
    zeta = 2.0 / 3.0 * z * np.sqrt(z)
    third = np.zeros_like(z)
    small = zeta < 1.0
    third[~small] = scaled_k(1.0 / 3.0, zeta[~small])
    y = np.sqrt(z / 3.0) / erf_gamma.PI * third * np.exp(-zeta)
    y[small] = taylor(1.0, 0.13529241631288141552, -0.15914744129679321279, z[small] - 1.0)[0]
    out[right] = np.where(z > 103.892, 0.0, y)
    value, slope = AT_0
    centre = 0.0
    while centre > -12.0:
        here = (flat < centre - 0.0) & (flat >= centre - 1.0) & ~tiny
        out[here] = taylor(centre, value, slope, flat[here] - centre)[0]
        y, dy = taylor(centre, value, slope, np.array(-1.0))
        value, slope = float(y), float(dy)
        centre -= 1.0
    left = (flat < -12.0) & np.isfinite(flat)
    z = -flat[left]
    zeta = 2.0 / 3.0 * z * np.sqrt(z)
    p = np.ones_like(z)
    q = np.zeros_like(z)
    term = np.ones_like(z)
    for k in range(1, 20):
        term = term * (6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216.0 * k * (2 * k - 1)) / zeta
        if k % 2:
            q = q + term * (1 if k % 4 == 1 else -1)
        else:
            p = p + term * (1 if k % 4 == 0 else -1)
    phase = zeta + erf_gamma.PI / 4.0
    out[left] = (np.sin(phase) * p - np.cos(phase) * q) / np.sqrt(erf_gamma.PI * np.sqrt(z))
    return out.reshape(x.shape)
