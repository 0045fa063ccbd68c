"""Bessel and Airy functions and orthogonal polynomials of torch.special: values without derivatives, as in PyTorch."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names
from .._engine.modes import hush, unhush
from .._engine.promote import check_broadcast, result_dtype
from .._engine.tensor import TensorBase, wrap
from .._rules import bessel, polynomials
from .._rules.cast import floating
from .._tensor.dtypes import get_default_dtype
from .arguments import OPERANDS, finish, refused, tensor

ONE = {
    "airy_ai": (bessel.airy_ai, "The Airy function Ai"),
    "bessel_j0": (lambda x: bessel.bessel_j(0, x), "The Bessel function of the first kind of order 0"),
    "bessel_j1": (lambda x: bessel.bessel_j(1, x), "The Bessel function of the first kind of order 1"),
    "bessel_y0": (lambda x: bessel.bessel_y(0, x), "The Bessel function of the second kind of order 0"),
    "bessel_y1": (lambda x: bessel.bessel_y(1, x), "The Bessel function of the second kind of order 1"),
    "modified_bessel_i0": (lambda x: finite(0, x), "The modified Bessel function of the first kind of order 0"),
    "modified_bessel_i1": (lambda x: finite(1, x), "The modified Bessel function of the first kind of order 1"),
    "modified_bessel_k0": (lambda x: bessel.bessel_k(0, x, False), "The modified Bessel function of the second kind of order 0"),
    "modified_bessel_k1": (lambda x: bessel.bessel_k(1, x, False), "The modified Bessel function of the second kind of order 1"),
    "scaled_modified_bessel_k0": (lambda x: bessel.bessel_k(0, x, True), "exp(input) modified_bessel_k0(input)"),
    "scaled_modified_bessel_k1": (lambda x: bessel.bessel_k(1, x, True), "exp(input) modified_bessel_k1(input)"),
    "spherical_bessel_j0": (bessel.spherical_j0, "sin(input) / input, 1 at 0"),
}
TWO = {f"{name}_polynomial_{letter}": f"The {kind} polynomial of degree n at input" for name, letter, kind in (
    *((f"{shift}chebyshev", letter, f"{shift.replace('_', ' ')}Chebyshev") for shift in ("", "shifted_") for letter in "tuvw"),
    ("hermite", "h", "physicist's Hermite"), ("hermite", "he", "probabilist's Hermite"), ("laguerre", "l", "Laguerre"),
    ("legendre", "p", "Legendre"))}
MOST = {4: 128, 8: 512}                                     # degrees of Hermite polynomials, by bytes


def finite(n: int, x: Any) -> Any:
    return np.where(np.isinf(x), np.nan, bessel.bessel_i(n, x))


def of_one(name: str) -> Any:
    work, doc = ONE[name]

    def function(input: Any, *, out: Any = None) -> Any:
        x: Any = floating(tensor(input, f"special_{name}"))
        check(name, x.array.dtype)
        token = hush()
        try:
            y = np.asarray(work(x.array)).astype(x.array.dtype)
        finally:
            unhush(token)
        return finish(wrap(y), out, f"special_{name}")
    function.__name__ = function.__qualname__ = f"special_{name}"
    function.__doc__ = f"{doc}; without a derivative."
    return function


def check(name: str, dtype: Any) -> None:
    if dtype.itemsize == 2 or dtype.kind == "c":
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{names.SCALAR[dtype.name]}'")


def of_two(name: str) -> Any:
    def function(input: Any, n: Any, *, out: Any = None) -> Any:
        if not any(isinstance(v, TensorBase) for v in (input, n)) or not all(isinstance(v, OPERANDS) for v in (input, n)):
            raise refused(f"special_{name}", (input, n), "(Tensor input, Number n, *, Tensor out = None)",
                          "(Number x, Tensor n, *, Tensor out = None)", "(Tensor input, Tensor n, *, Tensor out = None)")
        dtype = result_dtype([v.array if isinstance(v, TensorBase) else v for v in (input, n)])
        dtype = dtype if dtype.kind in "fcV" else get_default_dtype().numpy
        check_broadcast(*(getattr(v, "array", None) for v in (input, n)))
        check(name, dtype)
        x, degree = (np.asarray(v.array if isinstance(v, TensorBase) else v).astype(dtype) for v in (input, n))
        token = hush()
        try:
            y = np.asarray(polynomials.polynomial(name, x, degree, MOST[dtype.itemsize])).astype(dtype)
        finally:
            unhush(token)
        return finish(wrap(y), out, f"special_{name}")
    function.__name__ = function.__qualname__ = f"special_{name}"
    function.__doc__ = f"{TWO[name]}, a tensor or a number; without a derivative."
    return function


for name in ONE:
    globals()[name] = of_one(name)
for name in TWO:
    globals()[name] = of_two(name)
