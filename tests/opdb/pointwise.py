"""Rows of functions of one number."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .shared import clamp, one, sigmoid, two, vector
from .table import ALL, FLOATS, INTS, NUMBERS, WIDE, Make, Op, S


def pointwise(name: str, ref: Any, low: float = -2, high: float = 2, **kw: Any) -> Op:
    kw.setdefault("dtypes", ALL)
    kw.setdefault("result", "float")
    kw.setdefault("inplace", True)
    kw.setdefault("out", True)
    kw.setdefault("node", "".join(p.capitalize() for p in name.split("_")) + "Backward0")
    return Op(name, one, ref, low=low, high=high, **kw)


def clamps(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), -1, 1) if m.dtype.kind != "u" else S(m.x(3, 4), 0, 1)
    yield S(m.t(3, 4), min=0)
    yield S(m.e(3, 4), max=1)
    yield S(m.x(), 0, 1)
    yield S(m.x(0, 2), 0, 1)
    if m.floats:
        yield S(m.x(3, 4), -0.5, 0.5)


def tensor_clamps(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), m.x(3, 4, low=0, high=0.7), m.x(3, 4, low=1, high=2))
    yield S(m.x(3, 4), min=m.x(4))
    yield S(m.x(3, 4), max=m.x(3, 1))


def wheres(m: Make) -> Iterator[S]:
    yield S(m.mask(3, 4), m.x(3, 4), m.x(3, 4))
    yield S(m.mask(3, 1), m.x(4), m.t(3, 4))
    yield S(m.mask(4), m.x(3, 1), m.x())
    yield S(m.mask(3, 4), m.x(3, 4), 2)
    yield S(m.mask(3, 4), 1.5, m.x(3, 4)) if m.floats else S(m.mask(3, 4), 1, m.x(3, 4))
    yield S(m.mask(), m.x(2), m.x(2))
    yield S(m.mask(0, 2), m.x(0, 2), m.x(2))


def fills(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), m.mask(3, 4), 2)
    yield S(m.t(3, 4), m.mask(4), 0)
    yield S(m.e(3, 4), m.mask(3, 1), 1)
    yield S(m.x(), m.mask(), 1)
    if m.floats:
        yield S(m.x(2, 2), m.mask(2, 2), -math.inf).plain()


def gelus(m: Make) -> Iterator[S]:
    yield from one(m)
    yield S(m.x(3, 4), approximate="tanh")


def gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + vector(math.erf)(x / math.sqrt(2)))


KINK = {"kinks": (0.0,)}
POINTWISE = [
    pointwise("exp", np.exp),
    pointwise("log", np.log, 0.5, 3),
    pointwise("sqrt", np.sqrt, 0.5, 3),
    pointwise("abs", np.abs, result="same", dtypes=NUMBERS, exact=True, **KINK),
    pointwise("sin", np.sin),
    pointwise("cos", np.cos),
    pointwise("tanh", np.tanh),
    pointwise("sigmoid", sigmoid),
    Op("relu", one, lambda x: np.maximum(x, 0), inplace=True, node="ReluBackward0", dtypes=NUMBERS, exact=True, **KINK),
    Op("clamp", clamps, clamp, inplace=True, out=True, node="ClampBackward1", dtypes=NUMBERS,
       kinks=(-1, -0.5, 0, 0.5, 1), gap=0.01, exact=True),
    Op("clamp_tensor", tensor_clamps, clamp, path="clamp", inplace=True, out=True, node="ClampBackward0",
       dtypes=WIDE + INTS, exact=True),
    Op("where", wheres, np.where, method=None, node="WhereBackward0", dtypes=ALL, result="branches", exact=True),
    Op("masked_fill", fills, lambda x, mask, v: np.where(mask, v, x), method=True, inplace=True,
       node="MaskedFillBackward0", dtypes=NUMBERS,
       result="first", exact=True),
    pointwise("tan", np.tan, -1, 1),
    pointwise("asin", np.arcsin, -0.8, 0.8),
    pointwise("acos", np.arccos, -0.8, 0.8),
    pointwise("atan", np.arctan),
    pointwise("sinh", np.sinh),
    pointwise("cosh", np.cosh),
    pointwise("asinh", np.arcsinh),
    pointwise("acosh", np.arccosh, 1.3, 3),
    pointwise("atanh", np.arctanh, -0.8, 0.8, dtypes=FLOATS),
    pointwise("exp2", np.exp2),
    pointwise("expm1", np.expm1),
    pointwise("log2", np.log2, 0.5, 3),
    pointwise("log10", np.log10, 0.5, 3),
    pointwise("log1p", np.log1p, -0.5, 3, node="Log1PBackward0"),
    pointwise("rsqrt", lambda x: 1 / np.sqrt(x), 0.5, 3),
    pointwise("erf", vector(math.erf)),
    pointwise("erfc", vector(math.erfc)),
    pointwise("lgamma", vector(math.lgamma), 0.5, 4, dtypes=FLOATS),
    pointwise("deg2rad", np.deg2rad, node="Deg2RadBackward0", twice=True, dtypes=FLOATS),
    pointwise("rad2deg", np.rad2deg, node="Rad2DegBackward0", twice=True, dtypes=FLOATS),
    pointwise("floor", np.floor, result="same", dtypes=NUMBERS, twice=True, kinks=(-1, 0, 1), exact=True),
    pointwise("ceil", np.ceil, result="same", dtypes=NUMBERS, twice=True, kinks=(-1, 0, 1), exact=True),
    pointwise("trunc", np.trunc, result="same", dtypes=NUMBERS, twice=True, kinks=(-1, 0, 1), exact=True),
    pointwise("round", np.round, result="same", dtypes=NUMBERS, twice=True, kinks=(-1.5, -0.5, 0.5, 1.5), exact=True),
    pointwise("frac", lambda x: x - np.trunc(x), result="same", dtypes=FLOATS, twice=True, kinks=(-1, 0, 1)),
    pointwise("sign", np.sign, result="same", dtypes=NUMBERS, twice=True, exact=True, **KINK),
    pointwise("sgn", np.sign, result="same", dtypes=NUMBERS, exact=True, twice=None, **KINK),
    pointwise("sinc", np.sinc, kinks=(0.0,)),
    pointwise("signbit", np.signbit, result="bool", dtypes=WIDE + INTS, grad=False, inplace=None, node=None,
        exact=True),
    pointwise("nan_to_num", np.nan_to_num, result="same", dtypes=NUMBERS, node="NanToNumBackward0"),
    pointwise("logit", lambda x: np.log(x / (1 - x)), 0.1, 0.9, dtypes=FLOATS),
    Op("atan2", two, np.arctan2, inplace=True, out=True, node="Atan2Backward0", low=0.5, high=2),
    Op("hypot", two, np.hypot, inplace=True, out=True, node="HypotBackward0", low=0.5, high=2),
    Op("logaddexp", two, np.logaddexp, out=True, node="LogaddexpBackward0"),
    Op("logaddexp2", two, np.logaddexp2, out=True, node="Logaddexp2Backward0"),
    Op("copysign", two, np.copysign, inplace=True, out=True, node="CopysignBackward0", **KINK),
    Op("fmod", two, np.fmod, inplace=True, out=True, node="FmodBackward1", low=1, high=3, dtypes=WIDE + INTS),
    Op("fmax", two, np.fmax, out=True, node="FmaxBackward0", dtypes=ALL, exact=True),
    Op("fmin", two, np.fmin, out=True, node="FminBackward0", dtypes=ALL, exact=True),
    Op("xlogy", two, lambda a, b: a * np.log(b), inplace=True, out=True, node="XlogyBackward0", low=0.5, high=3),
    Op("heaviside", two, np.heaviside, inplace=True, out=True, grad=False, dtypes=WIDE + INTS, exact=True),
    Op("lerp", lambda m: iter([S(m.x(3, 4), m.x(3, 4), 0.3), S(m.t(3, 4), m.x(4), 0.7), S(m.x(), m.x(), 0.5)]),
       lambda a, b, w: a + w * (b - a), inplace=True, out=True, node="LerpBackward0", twice=True),
    Op("lerp_tensor", lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(4), m.x(3, 1))]), lambda a,
       b, w: a + w * (b - a),
       path="lerp", inplace=True, out=True, node="LerpBackward1"),
    Op("addcmul", lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(4)), S(m.t(3, 4), m.x(3, 1), m.x(4), value=0.5),
       S(m.x(), m.x(), m.x())]),
       lambda c, a, b, value=1: c + value * a * b, inplace=True, out=True, node="AddcmulBackward0"),
    Op("addcdiv", lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(4)), S(m.t(3, 4), m.x(3, 1), m.x(4), value=0.5),
       S(m.x(), m.x(), m.x())]),
       lambda c, a, b, value=1: c + value * a / b, inplace=True, out=True, node="AddcdivBackward0", low=1, high=3),
]


def _inverse(f: Callable[[float], float], y: float) -> float:
    low, high = -10.0, 10.0
    for _ in range(200):
        mid = (low + high) / 2
        low, high = (mid, high) if f(mid) < y else (low, mid)
    return (low + high) / 2


def _slope(f: Callable[[float], float], x: float) -> float:
    h = 1e-4
    return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h)


def _polygamma(n: int, x: float) -> float:
    """By its series, the tail as an integral (Euler-Maclaurin)."""
    if n == 0:
        total = 0.0
        while x < 30:
            total -= 1 / x
            x += 1
        return total + math.log(x) - 1 / (2 * x) - 1 / (12 * x**2) + 1 / (120 * x**4) - 1 / (252 * x**6)
    total = 0.0
    while x < 30:
        total += x ** -(n + 1)
        x += 1
    total += x**-n / n + x ** -(n + 1) / 2 + (n + 1) * x ** -(n + 2) / 12
    total -= (n + 1) * (n + 2) * (n + 3) * x ** -(n + 4) / 720
    return (-1) ** (n + 1) * math.factorial(n) * total
