"""Functions about representations: gcd, lcm, nextafter, frexp, and what is the identity for real numbers (conj, real)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes
from .._engine import names, promote
from .._engine.tensor import wrap
from .._engine.views import guard, store
from .._rules import binary, create
from .arguments import finish, tensor
from .pointwise import polygamma
from .results import named

__all__ = [
    "gcd", "gcd_", "lcm", "lcm_", "nextafter", "frexp", "conj", "conj_physical", "conj_physical_", "resolve_conj",
    "resolve_neg", "is_conj", "is_neg", "real", "fill", "fill_", "zero_", "ldexp_", "negative_", "resize_as_", "mvlgamma",
    "is_same_size",
]
METHODS = [
    "gcd", "gcd_", "lcm", "lcm_", "nextafter", "nextafter_", "frexp", "conj", "conj_physical", "conj_physical_",
    "resolve_conj", "resolve_neg", "is_conj", "is_neg", "resize_as_", "fill_diagonal_", "mvlgamma", "mvlgamma_", "polygamma_",
]
FREXP = named("frexp", "mantissa", "exponent")


def both(name: str, input: Any, other: Any, kernel: str, kinds: str) -> tuple[Any, Any]:
    """The arrays of two tensors in their common dtype, which must be of one of `kinds`."""
    a, b = tensor(input, name), tensor(other, name, "other", 2)
    dtype = promote.result_dtype([a.array, b.array])
    if dtype.kind not in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{names.SCALAR[dtype.name]}'")
    promote.check_broadcast(a.array, b.array)
    return promote.to(a.array, dtype), promote.to(b.array, dtype)


def gcd(input: Any, other: Any, *, out: Any = None) -> Any:
    """The greatest common divisor of integers, never negative; gcd(0, 0) is 0."""
    return finish(wrap(np.gcd(*both("gcd", input, other, "gcd_cpu", "iu"))), out, "gcd", input, other)


def gcd_(input: Any, other: Any) -> Any:
    """In place: gcd."""
    guard(input, False)
    store(input, np.gcd(*both("gcd_", input, other, "gcd_cpu", "iu")), False)
    return input


def lcm(input: Any, other: Any, *, out: Any = None) -> Any:
    """The least common multiple of integers."""
    return finish(wrap(np.lcm(*both("lcm", input, other, "lcm_cpu", "iu"))), out, "lcm", input, other)


def lcm_(input: Any, other: Any) -> Any:
    """In place: lcm."""
    guard(input, False)
    store(input, np.lcm(*both("lcm_", input, other, "lcm_cpu", "iu")), False)
    return input


def nextafter(input: Any, other: Any, *, out: Any = None) -> Any:
    """The next number of the dtype after input towards other."""
    both("nextafter", input, other, "nextafter_cpu", "fV")
    return finish(binary.NextafterBackward0().run(input, other), out, "nextafter", input, other)


def nextafter_(input: Any, other: Any) -> Any:
    """In place: nextafter."""
    both("nextafter_", input, other, "nextafter_cpu", "fV")
    return binary.NextafterBackward0().run_(input, other)


def frexp(input: Any, *, out: Any = None) -> Any:
    """(mantissa, exponent): input = mantissa * 2 ** exponent, 0.5 <= |mantissa| < 1."""
    x: Any = tensor(input, "frexp")
    if x.array.dtype.kind not in "fV":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    _, exponent = np.frexp(x.array.astype(np.float64) if x.array.dtype.itemsize == 2 else x.array)
    power = wrap(np.ldexp(np.ones_like(exponent, np.float64), -exponent).astype(np.float64))
    mantissa = (x.double() * power).to(x.dtype) if x.array.dtype.itemsize < 8 else x * power
    return FREXP((mantissa, wrap(np.asarray(exponent, np.int32))))


def conj(input: Any) -> Any:
    """input: all our numbers are real."""
    return tensor(input, "conj")


def conj_physical(input: Any, *, out: Any = None) -> Any:
    """input: all our numbers are real."""
    x = tensor(input, "conj_physical")
    return finish(x, out, "conj_physical", x)


def conj_physical_(input: Any) -> Any:
    """input: all our numbers are real."""
    return tensor(input, "conj_physical_")


def resolve_conj(input: Any) -> Any:
    """input: all our numbers are real."""
    return tensor(input, "resolve_conj")


def resolve_neg(input: Any) -> Any:
    """input: no tensor is negated lazily."""
    return tensor(input, "resolve_neg")


def real(input: Any) -> Any:
    """input: all our numbers are real."""
    return tensor(input, "real")


def is_conj(input: Any) -> bool:
    """False: all our numbers are real."""
    tensor(input, "is_conj")
    return False


def is_neg(input: Any) -> bool:
    """False: no tensor is negated lazily."""
    tensor(input, "is_neg")
    return False


def fill(input: Any, value: Any) -> Any:
    """A copy with value, a number or a 0-dim tensor, in every element."""
    x: Any = tensor(input, "fill")
    return x.clone().fill_(value)


def fill_(input: Any, value: Any) -> Any:
    """In place: fill."""
    x: Any = tensor(input, "fill_")
    return x.fill_(value)


def zero_(input: Any) -> Any:
    """In place: every element becomes 0."""
    return create.zero_(tensor(input, "zero_"))


def ldexp_(input: Any, other: Any) -> Any:
    """In place: input * 2 ** other."""
    x: Any = tensor(input, "ldexp_")
    return x.ldexp_(other)


def negative_(input: Any) -> Any:
    """In place: -input."""
    x: Any = tensor(input, "negative_")
    return x.neg_()


def resize_as_(input: Any, the_template: Any, *, memory_format: Any = None) -> Any:
    """In place: input gets the shape of the_template."""
    x: Any = tensor(input, "resize_as_")
    return x.resize_(tensor(the_template, "resize_as_", "the_template", 2).array.shape, memory_format=memory_format)


def is_same_size(input: Any, other: Any) -> bool:
    """Have both the same shape?"""
    a, b = tensor(input, "is_same_size"), tensor(other, "is_same_size", "other", 2)
    return bool(a.array.shape == b.array.shape)


def fill_diagonal_(input: Any, fill_value: Any, wrap: bool = False) -> Any:
    """In place: a number along the main diagonal; with wrap again and again down a tall matrix."""
    x: Any = tensor(input, "fill_diagonal_")
    sizes = x.array.shape
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and any(n != sizes[0] for n in sizes):
        raise RuntimeError("all dimensions of input must be of equal length")
    n = min(sizes)
    places = np.arange(n)
    where = tuple(indices(places) for _ in sizes)
    x[where] = fill_value
    if wrap and len(sizes) == 2 and sizes[0] > sizes[1] + 1:
        rows = np.arange(0, sizes[0] * sizes[1], sizes[1] + 1)[n:]
        x[indices(rows // sizes[1]), indices(rows % sizes[1])] = fill_value
    return x


def indices(places: Any) -> Any:
    return wrap(places.astype(np.int64))


def mvlgamma(input: Any, p: int, *, out: Any = None) -> Any:
    """log of the multivariate gamma function of order p; input > (p - 1) / 2."""
    x: Any = tensor(input, "mvlgamma")
    if x.array.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if x.array.dtype.kind not in "fV":
        x = x.to(dtypes.get_default_dtype())
    half = wrap((np.arange(-p + 1, 1) * 0.5).astype(x.array.dtype))
    y = (x.unsqueeze(-1) + half).lgamma().sum(-1) + p * (p - 1) * 0.25 * float(np.log(np.pi))
    return finish(y, out, "mvlgamma", x)


def mvlgamma_(input: Any, p: int) -> Any:
    """In place: mvlgamma."""
    x: Any = tensor(input, "mvlgamma_")
    if x.array.dtype.kind not in "fV":
        raise RuntimeError(f"mvlgamma: result type {names.SCALAR[x.array.dtype.name]} can't be cast to the desired output type "
                           "Float")
    return x.copy_(mvlgamma(x, p))


def polygamma_(input: Any, n: int) -> Any:
    """In place: the n-th derivative of digamma."""
    x: Any = tensor(input, "polygamma_")
    if x.array.dtype.kind not in "fV":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {names.SCALAR[x.array.dtype.name]}")
    return x.copy_(polygamma(n, x))
