"""Functions about representations: gcd, lcm, nextafter, frexp."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.mirror import bits_of
from .._engine.tensor import wrap
from .._rules import binary
from .._tensor import dtypes
from .outs import warn_resized
from .pointwise import polygamma
from .results import named
from .rows import both, replacing

FREXP = named("frexp", "mantissa", "exponent")


def in_common(input: Any, other: Any, kernel: str, kinds: str) -> tuple[Any, Any]:
    """The arrays of two tensors in their common dtype, which must be of one of `kinds`."""
    a, b = input.array, other.array
    dtype = promote.result_dtype([a, b])
    promote.check_broadcast(a, b)
    if dtype.kind not in kinds:
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{names.SCALAR[dtype.name]}'")
    return promote.to(a, dtype), promote.to(b, dtype)


@replacing
def gcd(input: Any, other: Any, *, out: Any = None) -> Any:
    """The greatest common divisor of integers, never negative; gcd(0, 0) is 0."""
    return wrap(np.gcd(*in_common(input, other, "gcd_cpu", "iu")))


@replacing
def lcm(input: Any, other: Any, *, out: Any = None) -> Any:
    """The least common multiple of integers."""
    return wrap(np.lcm(*in_common(input, other, "lcm_cpu", "iu")))


@both
def nextafter(input: Any, other: Any, *, out: Any = None) -> Any:
    """The next number of the dtype after input towards other."""
    in_common(input, other, "nextafter_cpu", "fV")
    return binary.NextafterBackward0(), input, other


def frexp(input: Any, *, out: Any = None) -> Any:
    """(mantissa, exponent): input = mantissa * 2 ** exponent, 0.5 <= |mantissa| < 1."""
    if input.array.dtype.kind not in "fV":
        raise RuntimeError("torch.frexp() only supports floating-point dtypes")
    _, exponent = np.frexp(input.array.astype(np.float64) if input.array.dtype.itemsize == 2 else input.array)
    power = wrap(np.ldexp(np.ones_like(exponent, np.float64), -exponent).astype(np.float64))
    mantissa = (input.double() * power).to(input.dtype) if input.array.dtype.itemsize < 8 else input * power
    return FREXP((mantissa, wrap(np.asarray(exponent, np.int32))))


def fill(input: Any, value: Any) -> Any:
    """A copy with value, a number or a 0-dim tensor, in every element."""
    return input.clone().fill_(value)


def resize_as_(input: Any, the_template: Any, *, memory_format: Any = None) -> Any:
    """In place: input gets the shape of the_template."""
    to = the_template.array.shape
    if to == input.array.shape or not any(bits_of(input)):
        return input.resize_(to, memory_format=memory_format)
    copy = input.clone().resize_(to, memory_format=memory_format)       # PyTorch resizes one, as if it wrote an out=
    warn_resized(input, to)
    return input.resize_(to).copy_(copy)


def is_same_size(input: Any, other: Any) -> bool:
    """Have both the same shape?"""
    return bool(input.array.shape == other.array.shape)


def fill_diagonal_(input: Any, fill_value: Any, wrap: bool = False) -> Any:
    """In place: fill_value, a number, along the main diagonal; with wrap again and again down a tall matrix."""
    sizes = input.array.shape
    if len(sizes) < 2:
        raise RuntimeError("dimensions must larger than 1")
    if len(sizes) > 2 and any(n != sizes[0] for n in sizes):
        raise RuntimeError("all dimensions of input must be of equal length")
    n, steps, start = min(sizes), input.stride(), input.storage_offset()
    input.as_strided((n,), (sum(steps),), start).fill_(fill_value)
    if wrap and len(sizes) == 2 and sizes[0] > sizes[1] + 1:
        row = sizes[1] + 1
        count = -(-input.numel() // row) - n
        input.as_strided((count,), (sum(steps),), start + row * steps[0]).fill_(fill_value)
    return input


def mvlgamma(input: Any, p: int, *, out: Any = None) -> Any:
    """log of the multivariate gamma function of order p; input > (p - 1) / 2."""
    x: Any = input
    if x.array.dtype.kind == "b":
        raise RuntimeError("The input tensor may not be a boolean tensor.")
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    if x.array.dtype.kind not in "fV":
        x = x.to(dtypes.get_default_dtype())
    half = wrap((np.arange(-p + 1, 1) * 0.5).astype(x.array.dtype))
    y = (x.unsqueeze(-1) + half).lgamma().sum(-1) + p * (p - 1) * 0.25 * float(np.log(np.pi))
    return y


def mvlgamma_(input: Any, p: int) -> Any:
    """In place: mvlgamma."""
    if input.array.dtype.kind not in "fV":
        raise RuntimeError(
            f"mvlgamma: result type {names.SCALAR[input.array.dtype.name]} can't be cast to the desired output type Float")
    return input.copy_(mvlgamma(input, p))


def polygamma_(input: Any, n: int) -> Any:
    """In place: the n-th derivative of digamma."""
    if input.array.dtype.kind not in "fV":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {names.SCALAR[input.array.dtype.name]}")
    return input.copy_(polygamma(n, input))
