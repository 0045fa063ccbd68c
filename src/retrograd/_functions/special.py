"""Rarer special functions: torch.i0, torch.igamma, and those of torch.special that have no other name."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names
from .._engine.tensor import TensorBase, wrap
from .._engine.views import check_cast
from .._rules import erf_gamma, number
from .._rules import special as rarer
from .._rules.cast import floating
from .arguments import finish, operand, refused, tensor
from .pointwise import floats_only


def of_one(name: str, op: Callable[[], Any], doc: str) -> Any:
    def function(input: Any, *, out: Any = None) -> Any:
        x = tensor(input, name)
        return finish(op().run(floating(x)), out, name, x)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"{doc}; integers give the default float."
    return function


i0 = of_one("i0", rarer.I0Backward0, "The modified Bessel function of order 0")
i0e = of_one("special_i0e", rarer.SpecialI0EBackward0, "exp(-|input|) i0(input)")
i1 = of_one("special_i1", rarer.SpecialI1Backward0, "The modified Bessel function of order 1")
i1e = of_one("special_i1e", rarer.SpecialI1EBackward0, "exp(-|input|) i1(input)")
entr = of_one("special_entr", rarer.SpecialEntrBackward0, "-input log(input), 0 at 0 and -inf below")
ndtri = of_one("special_ndtri", rarer.SpecialNdtriBackward0, "The inverse of ndtr")
log_ndtr = of_one("special_log_ndtr", rarer.SpecialLogNdtrBackward0, "log of ndtr, exact far below 0")
erfcx = of_one("special_erfcx", rarer.SpecialErfcxBackward0, "exp(input ** 2) erfc(input)")


def i0_(input: Any) -> Any:
    """In place: i0."""
    floats_only(input)
    return rarer.I0Backward0().run_(input)


def ndtr(input: Any, *, out: Any = None) -> Any:
    """The integral of the standard normal distribution up to input."""
    x: Any = floating(input)
    y: Any = number.mul_number(x, 1 / rarer.ROOT_2)
    return number.mul_number(number.add_number(y.erf(), 1.0), 0.5)


def gamma_part(name: str, op: Any, doc: str) -> tuple[Any, Any]:
    def check(input: Any, other: Any, function: str) -> tuple[Any, Any]:
        a, b = tensor(input, function), tensor(other, function, "other", 2)
        if a.array.dtype.kind not in "fV" and b.array.dtype.kind not in "fV":
            raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{names.SCALAR[a.array.dtype.name]}'")
        return a, b

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        a, b = check(input, other, name)
        return finish(op().run(a, b), out, name, a, b)

    def function_(input: Any, other: Any) -> Any:
        a, b = check(input, other, name + "_")
        check_cast(b.array.dtype, a.array.dtype)
        return op().run_(a, b)

    function.__name__ = function.__qualname__ = name
    function_.__name__ = function_.__qualname__ = name + "_"
    function.__doc__, function_.__doc__ = doc, f"In place: {name}."
    return function, function_


igamma, igamma_ = gamma_part("igamma", rarer.IgammaBackward0, "The lower incomplete gamma function of order input up to other, "
                             "over gamma(input).")
igammac, igammac_ = gamma_part("igammac", rarer.IgammacBackward0, "1 - igamma(input, other), exact where that is small.")


def one_of_two(name: str, input: Any, other: Any) -> tuple[Any, Any]:
    """Operands of which one may be a number."""
    if not isinstance(input, TensorBase) and not isinstance(other, TensorBase):
        raise refused(name, (input, other), *(f"({one}, *, Tensor out = None)" for one in (
            "Tensor input, Tensor other", "Number self, Tensor other", "Tensor input, Number other")))
    return operand(input, name, "input", 1), operand(other, name)


def xlog1py(input: Any, other: Any, *, out: Any = None) -> Any:
    """input * log(1 + other), 0 where input is 0; either may be a number."""
    a, b = one_of_two("special_xlog1py", input, other)
    pair = [x if isinstance(x, TensorBase) else wrap(np.asarray(x, np.float64 if isinstance(x, float) else None)) for x in (a, b)]
    if not isinstance(a, TensorBase):
        pair[0] = wrap(np.asarray(a, pair[1].array.dtype if pair[1].array.dtype.kind in "fV" else np.float32))
    if not isinstance(b, TensorBase):
        pair[1] = wrap(np.asarray(b, pair[0].array.dtype if pair[0].array.dtype.kind in "fV" else np.float32))
    return rarer.SpecialXlog1PyBackward0().run(*pair)


def zeta(input: Any, other: Any, *, out: Any = None) -> Any:
    """Hurwitz' zeta function: the sum of (k + other) ** -input over k = 0, 1, ...; without a derivative."""
    a, b = one_of_two("special_zeta", input, other)
    x, q = (np.asarray(v.array if isinstance(v, TensorBase) else v) for v in (a, b))
    found = [v.array.dtype for v in (a, b) if isinstance(v, TensorBase) and v.array.dtype.kind in "fV"]
    dtype = max(found, key=lambda d: d.itemsize) if found else np.dtype(np.float32)
    if any(isinstance(v, TensorBase) and v.requires_grad for v in (a, b)):  # type: ignore[attr-defined]
        raise NotImplementedError("the derivative for 'special_zeta' is not implemented.")
    x, q = np.broadcast_arrays(x.astype(np.float64), q.astype(np.float64))
    with np.errstate(all="ignore"):
        y = np.vectorize(hurwitz, otypes=[np.float64])(x, q) if x.size else np.zeros(x.shape)
    return wrap(np.asarray(y).astype(dtype))


def hurwitz(s: float, q: float) -> float:
    if s != s or q != q or s < 1:
        return float("nan")
    if s == 1:
        return float("inf")
    if q <= 0:
        if q == np.floor(q):
            return float("inf")
        if s != np.floor(s):
            return float("nan")
    if q == float("inf"):
        return 0.0
    total = 0.0
    while q < 12.0:
        total += abs(q) ** -s * (-1.0 if q < 0 and s % 2 else 1.0)
        q += 1.0
    return total + float(erf_gamma.zeta(s, np.asarray(q)))
