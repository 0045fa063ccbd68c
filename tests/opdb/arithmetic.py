"""Rows of arithmetic and comparisons."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .shared import int_twos, number_first, one, two, two_or_number
from .table import ALL, BOOL, INTS, NUMBERS, WIDE, Make, Op, S


def true_or_floor(a: Any, b: Any, rounding_mode: Any = None) -> Any:
    if rounding_mode is None:
        return np.true_divide(a, b)
    q = np.true_divide(a, b)
    q = np.floor(q) if rounding_mode == "floor" else np.trunc(q)
    return q if "f" in (np.result_type(a).kind, np.result_type(b).kind) else q.astype(np.int64)


def rounded_divs(m: Make) -> Iterator[S]:
    for mode in ("floor", "trunc"):
        yield S(m.x(3, 4), m.x(4), rounding_mode=mode)
        yield S(m.t(3, 4), 2, rounding_mode=mode)


def compared_in_place(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 2)
    yield S(m.x(3, 4), m.x(4))


def trapezoids(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4)).by("MulBackward1", True)
    yield S(m.x(3, 4), dx=0.5, dim=0).by("MulBackward1", True)
    yield S(m.x(3, 4), m.x(4)).by("DivBackward1")
    yield S(m.x(3, 4), m.x(3, 4), dim=0).by("DivBackward1")


def trapezoid(y: Any, x: Any = None, dx: float = 1, dim: int = -1) -> Any:
    y = np.moveaxis(y, dim, -1)
    if x is not None:
        dx = np.diff(x if x.ndim == 1 else np.moveaxis(x, dim, -1))
    return ((y[..., 1:] + y[..., :-1]) * dx).sum(-1) / 2


def scaled(m: Make) -> Iterator[S]:
    yield from two_or_number(m)
    yield S(m.x(3, 4), m.x(4), alpha=2 if m.dtype.kind in "iu" else 0.5)
    yield S(m.x(3, 4), 3, alpha=2)


def powers(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 2)
    yield S(m.t(3, 4), 3)
    yield S(m.x(2, 3), 1)
    yield S(m.x(2, 3), 0)
    yield S(m.x(), 2)
    if m.floats:
        yield S(m.e(2, 3), -1)
        yield S(m.x(2, 3), 0.5)
        yield S(m.x(4), -1.5)


ARITHMETIC = [
    Op("add", scaled, lambda a, b, alpha=1: a + alpha * b, inplace=True, out=True, node="AddBackward0", dtypes=NUMBERS,
       twice=True),
    Op("sub", scaled, lambda a, b, alpha=1: a - alpha * b, inplace=True, out=True, node="SubBackward0", dtypes=NUMBERS,
       twice=True),
    Op("mul", two_or_number, lambda a, b: a * b, inplace=True, out=True, node="MulBackward0", dtypes=ALL),
    Op("div", two_or_number, np.true_divide, inplace=True, out=True, node="DivBackward0", dtypes=NUMBERS,
       result="float", kinks=(0,), gap=0.3, low=1),
    Op("div_rounded", rounded_divs, true_or_floor, path="div", inplace=True, out=True, node="DivBackward2",
       dtypes=WIDE + INTS,
       kinks=(0,), gap=0.3, low=1),
    Op("true_divide", two_or_number, np.true_divide, inplace=True, out=True, node="DivBackward0", dtypes=NUMBERS,
       result="float", low=1, high=3),
    Op("floor_divide", two_or_number, np.floor_divide, inplace=True, out=True, dtypes=WIDE + INTS, low=1, high=9,
       grad=False),
    Op("remainder", two_or_number, np.remainder, inplace=True, out=True, dtypes=WIDE + INTS,
       low=1, high=9,
       twice=None),
    Op("neg", one, np.negative, inplace=True, out=True, node="NegBackward0", dtypes=NUMBERS, twice=True),
    Op("reciprocal", one, lambda x: 1 / x, inplace=True, out=True, node="ReciprocalBackward0", dtypes=NUMBERS,
       result="float", low=1, high=3),
    Op("square", one, np.square, inplace=True, out=True, node="PowBackward0", dtypes=NUMBERS),
    Op("pow", powers, lambda a, b: np.power(a, b), inplace=True, out=True, node="PowBackward0", dtypes=NUMBERS, low=1,
       high=3),
    Op("pow_tensor", two, np.power, path="pow", inplace=True, out=True, node="PowBackward1", dtypes=NUMBERS, low=1,
       high=3),
    Op("pow_number", number_first, np.power, path="pow", method=None, node="PowBackward2", dtypes=NUMBERS, low=1,
       high=3),
    Op("rsub", two_or_number, lambda a, b: b - a, dtypes=WIDE + INTS, method=None, twice=True),
    Op("subtract", two, np.subtract, inplace=True, out=True, node="SubBackward0", twice=True),
    Op("multiply", two, np.multiply, inplace=True, out=True, node="MulBackward0"),
    Op("divide", two, np.divide, inplace=True, out=True, node="DivBackward0", low=1, high=3),
    Op("negative", one, np.negative, inplace=True, out=True, node="NegBackward0", twice=True),
    Op("float_power", powers, lambda a, b: np.power(a.astype(float), b), out=True, result="float64", low=1, high=3,
       method=None),
    # operators
    Op("operator.add", two_or_number, np.add, node="AddBackward0", dtypes=NUMBERS, twice=True),
    Op("operator.sub", two_or_number, np.subtract, node="SubBackward0", dtypes=NUMBERS, twice=True),
    Op("operator.mul", two_or_number, np.multiply, node="MulBackward0", dtypes=NUMBERS),
    Op("operator.truediv", two_or_number, np.true_divide, node="DivBackward0", dtypes=NUMBERS, result="float", low=1,
       high=3),
    Op("operator.pow", two_or_number, np.power, dtypes=NUMBERS, low=1, high=3),
    Op("operator.mod", two_or_number, np.remainder, dtypes=WIDE + INTS, low=1, high=9,
       twice=None),
    Op("operator.floordiv", two_or_number, np.floor_divide, dtypes=WIDE + INTS, low=1, high=9, grad=False),
    Op("operator.neg", one, np.negative, node="NegBackward0", dtypes=NUMBERS, twice=True),
    Op("number + x", number_first, np.add, path="operator.add", node="AddBackward0", dtypes=NUMBERS, twice=True),
    Op("number - x", number_first, np.subtract, path="operator.sub", node="RsubBackward1", dtypes=WIDE + INTS,
       twice=True),
    Op("number * x", number_first, np.multiply, path="operator.mul", node="MulBackward0", dtypes=NUMBERS),
    Op("number / x", number_first, np.true_divide, path="operator.truediv", node="MulBackward0", dtypes=WIDE + INTS,
       result="float", low=1, high=3),
    Op("number ** x", number_first, np.power, path="operator.pow", node="PowBackward2", dtypes=NUMBERS, low=1, high=3),
    Op("number % x", number_first, np.remainder, path="operator.mod", dtypes=WIDE + INTS,
       low=1, high=9, grad=False),
    Op("number // x", number_first, np.floor_divide, path="operator.floordiv", dtypes=WIDE + INTS, low=1, high=9,
       grad=False),
]

COMPARISONS = [
    Op(name, two_or_number, ref, out=True, inplace=name + "_", result="bool", grad=False, dtypes=ALL, exact=True)
    for name, ref in [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
                      ("gt", np.greater), ("ge", np.greater_equal)]
] + [
    Op(f"operator.{name}", two_or_number, ref, result="bool", grad=False, dtypes=WIDE + INTS, exact=True)
    for name, ref in [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
                      ("gt", np.greater), ("ge", np.greater_equal)]
] + [
    Op(f"number {symbol} x", number_first, ref, path=f"operator.{name}", result="bool", grad=False, dtypes=WIDE + INTS,
       exact=True)
    for symbol, name, ref in [("==", "eq", np.equal), ("<", "lt", np.less), (">=", "ge", np.greater_equal)]
] + [
    Op(f"operator.{name}", int_twos, ref, grad=False, dtypes=INTS + BOOL, exact=True)
    for name, ref in [("and_", np.bitwise_and), ("or_", np.bitwise_or), ("xor", np.bitwise_xor)]
] + [
    Op("operator.invert", one, np.invert, grad=False, dtypes=INTS + BOOL, exact=True),
    *[Op(name, int_twos, ref, grad=False, dtypes=INTS + BOOL, exact=True, out=True, inplace=True)
      for name, ref in [("bitwise_and", np.bitwise_and), ("bitwise_or", np.bitwise_or),
          ("bitwise_xor", np.bitwise_xor)]],
    Op("bitwise_not", one, np.invert, grad=False, dtypes=INTS + BOOL, exact=True, out=True, inplace=True),
    *[Op(name, two, ref, grad=False, result="bool", dtypes=WIDE + INTS + BOOL, exact=True, out=True, inplace=True)
      for name, ref in [("logical_and", np.logical_and), ("logical_or", np.logical_or),
          ("logical_xor", np.logical_xor)]],
    Op("logical_not", one, np.logical_not, grad=False, result="bool", dtypes=WIDE + INTS + BOOL, exact=True, out=True,
       inplace=True),
    *[Op(name, one, ref, grad=False, result="bool", dtypes=WIDE + INTS, exact=True)
      for name, ref in [("isnan", np.isnan), ("isinf", np.isinf), ("isfinite", np.isfinite)]],
    Op("maximum", two, np.maximum, out=True, node="MaximumBackward0", dtypes=ALL, exact=True),
    Op("minimum", two, np.minimum, out=True, node="MinimumBackward0", dtypes=ALL, exact=True),
]
