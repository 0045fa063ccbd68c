"""Orthogonal polynomials by their recurrences (Abramowitz and Stegun 22.7), in x's precision; a degree below 0 gives 0."""
from __future__ import annotations

from typing import Any, Final

import numpy

from .._engine.node import Array

np: Final[Any] = numpy


def polynomial(kind: str, x: Array, n: Array, limit: int) -> Array:
    """x and n, of one dtype, broadcast; degrees are cut to integers.  Hermite's are nan above `limit`, as in PyTorch."""
    x, n = np.broadcast_arrays(x, n)
    degree = np.where(n == n, n, 0.0).astype(np.int64)
    z = 2.0 * x - 1.0 if kind.startswith("shifted_") else x
    kind = kind.removeprefix("shifted_")
    top = int(degree.max()) if degree.size else 0
    if kind.startswith("hermite"):
        top = min(top, limit)
    before = np.ones(z.shape, x.dtype)
    now = first(kind, z)
    out = np.where(degree == 0, 1.0, np.where(degree == 1, now, 0.0))
    closed = chebyshev(kind, z, degree)
    if closed is not None:                      # by cosines where |z| <= 1: no recurrence of any length
        inside = (np.abs(z) <= 1.0) & (degree > 1)
        out = np.where(inside, closed, out)
        outside = degree[~inside]
        top = int(outside.max()) if outside.size else 0
    for k in range(1, top):
        before, now = now, following(kind, z, k, before, now)
        hit = degree == k + 1
        if closed is not None:
            hit = hit & (np.abs(z) > 1.0)
        out = np.where(hit, now, out)
    if kind.startswith("hermite"):
        out = np.where(degree > limit, np.nan, out)
    return np.where(x == x, out, np.where(degree > 0, np.nan, out))


def first(kind: str, z: Array) -> Array:
    """The one of degree 1."""
    if kind == "chebyshev_polynomial_u" or kind == "hermite_polynomial_h":
        return z + z
    if kind == "chebyshev_polynomial_v":
        return z + z - 1.0
    if kind == "chebyshev_polynomial_w":
        return z + z + 1.0
    if kind == "laguerre_polynomial_l":
        return 1.0 - z
    return z + 0.0


def following(kind: str, z: Array, k: int, before: Array, now: Array) -> Array:
    """Degree k + 1 from k - 1 and k."""
    if kind == "hermite_polynomial_h":
        return 2.0 * z * now - 2.0 * k * before
    if kind == "hermite_polynomial_he":
        return z * now - k * before
    if kind == "laguerre_polynomial_l":
        return ((2 * k + 1 - z) * now - k * before) / (k + 1)
    if kind == "legendre_polynomial_p":
        return ((2 * k + 1) * z * now - k * before) / (k + 1)
    return 2.0 * z * now - before


def chebyshev(kind: str, z: Array, degree: Array) -> Array:
    """The four kinds at z = cos t, |z| <= 1; None for other polynomials."""
    if not kind.startswith("chebyshev"):
        return None
    t = np.arccos(np.clip(z, -1.0, 1.0))
    even = np.where(degree % 2 == 0, 1.0, -1.0)
    if kind.endswith("t"):
        y = np.where(z == 1.0, 1.0, np.where(z == -1.0, even, np.cos(degree * t)))
    elif kind.endswith("u"):
        y = np.where(z == 1.0, degree + 1.0, np.where(z == -1.0, even * (degree + 1), np.sin((degree + 1) * t) / np.sin(t)))
    elif kind.endswith("v"):
        y = np.where(z == 1.0, 1.0, np.where(z == -1.0, even * (2 * degree + 1), np.cos((degree + 0.5) * t) / np.cos(t / 2)))
    else:
        y = np.where(z == 1.0, 2.0 * degree + 1, np.where(z == -1.0, even, np.sin((degree + 0.5) * t) / np.sin(t / 2)))
    return np.where(degree < 0, 0.0, y)
