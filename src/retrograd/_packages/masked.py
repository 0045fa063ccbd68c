"""torch.masked: reductions and normalizations of the elements where a mask (bool, broadcast to input) is True.

Masked-out elements count as the identity of the operation; where all are masked out the result is that identity, or nan.
They are functions of tensors: there is no MaskedTensor.   https://pytorch.org/docs/stable/masked.html
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from retrograd import _functions as f
from retrograd._missing import late_names
from retrograd._tensor import dtypes
from retrograd.linalg import vector_norm

__all__ = [
    "amax", "amin", "argmax", "argmin", "cumprod", "cumsum", "log_softmax", "logaddexp", "logsumexp", "mean", "median", "norm",
    "normalize", "prod", "softmax", "softmin", "std", "sum", "var",
]
late_names(__name__)
SMALL = (dtypes.uint8, dtypes.bool, dtypes.int8, dtypes.int16, dtypes.int32)


def dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    if dim is None or dim == ():
        return tuple(range(ndim))
    n = max(ndim, 1)
    dims: list[int] = []
    for d in (dim,) if isinstance(dim, int) else dim:
        if d in dims:
            raise RuntimeError(f"dim={d} appears multiple times in the list of dims")
        if not -n <= d < n:
            raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {d})")
        dims.append(d % n)
    return tuple(sorted(dims))


def mask_like(input: Any, mask: Any) -> Any:
    """mask as bool, in the shape of input."""
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError("_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)")
        mask = f.broadcast_to(mask.clone(), input.shape)
    return mask.to(dtype=dtypes.bool)


def lowest(dtype: Any) -> Any:
    return -math.inf if dtype.is_floating_point or dtype.is_complex else dtypes.iinfo(dtype).min


def highest(dtype: Any) -> Any:
    return math.inf if dtype.is_floating_point else dtypes.iinfo(dtype).max


def zero(dtype: Any) -> Any:
    return 0


def one(dtype: Any) -> Any:
    return 1


def filled(input: Any, mask: Any, identity: Callable[[Any], Any], name: str) -> Any:
    """input with the identity of an operation where the mask is False."""
    if mask is None:
        return input
    mask = mask_like(input, mask)
    if input.dtype == dtypes.bool and identity in (lowest, highest):
        raise NotImplementedError(f"identity of {name} on {input.dtype} input")
    return f.where(mask, input, f.tensor(identity(input.dtype), dtype=input.dtype))


def wide(dtype: Any, input: Any) -> Any:
    return dtype if dtype is not None else dtypes.int64 if input.dtype in SMALL else input.dtype


def sum(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Any:
    """The sum of all elements or over dims; small integers add up in int64."""
    dims = dims_of(dim, input.ndim)
    return f.sum(filled(input, mask, zero, "sum"), dims, bool(keepdim), dtype=wide(dtype, input))


def prod(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Any:
    """The product of all elements or over dims; small integers multiply in int64."""
    dims = dims_of(dim, input.ndim)
    y = filled(input, mask, one, "prod")
    for d in reversed(dims):
        y = y.prod(dim=d, keepdim=bool(keepdim))
    return y.to(dtype=wide(dtype, input))


def cumsum(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The running sum along dim, in input's dtype."""
    dtype = input.dtype if dtype is None else dtype
    return f.cumsum(filled(input, mask, zero, "cumsum"), dims_of(dim, input.ndim)[0], dtype=dtype).to(dtype=dtype)


def cumprod(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The running product along dim, in input's dtype."""
    dtype = input.dtype if dtype is None else dtype
    return f.cumprod(filled(input, mask, one, "cumprod"), dims_of(dim, input.ndim)[0], dtype=dtype).to(dtype=dtype)


def amax(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Any:
    """The greatest element of all or over dims; equal ones share the gradient."""
    y = f.amax(filled(input, mask, lowest, "amax"), dims_of(dim, input.ndim), bool(keepdim))
    return y.to(dtype=input.dtype if dtype is None else dtype)


def amin(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Any:
    """The least element of all or over dims; equal ones share the gradient."""
    y = f.amin(filled(input, mask, highest, "amin"), dims_of(dim, input.ndim), bool(keepdim))
    return y.to(dtype=input.dtype if dtype is None else dtype)


def argmax(input: Any, dim: int | None = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Any:
    """Where the greatest element is, as a number in input's dtype."""
    y = f.argmax(filled(input, mask, lowest, "argmax"), dim, bool(keepdim))
    return y.to(dtype=input.dtype if dtype is None else dtype)


def argmin(input: Any, dim: int | None = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Any:
    """Where the least element is, as a number in input's dtype."""
    y = f.argmin(filled(input, mask, highest, "argmin"), dim, bool(keepdim))
    return y.to(dtype=input.dtype if dtype is None else dtype)


def mean(input: Any, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None, mask: Any = None) -> Any:
    """The mean of all elements or over dims; nan where there are none."""
    source = "Input" if dtype is None else "Optional"
    dtype = input.dtype if dtype is None else dtype
    if not (dtype.is_floating_point or dtype.is_complex):
        raise ValueError(f"mean(): Could not infer output dtype. {source} dtype must be either a floating point or complex dtype."
                         f" Got: {dtype}")
    return sum(input, dim, keepdim=keepdim, dtype=dtype, mask=mask) / count(input, dim, bool(keepdim), mask)


def count(input: Any, dim: Any, keepdim: bool, mask: Any) -> Any:
    """How many elements are not masked out, int64."""
    if mask is None:
        return sum(f.ones(input.shape, dtype=dtypes.int64), dim, keepdim=keepdim)
    return mask_like(input, mask).sum(dim=dim, keepdim=keepdim)


def median(input: Any, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The lower middle element along dim; nan, or ValueError for integers, where there is none."""
    dtype = input.dtype if dtype is None else dtype
    at = dims_of(dim, input.ndim)[0]
    if input.dtype.is_floating_point:
        return f.nanmedian(filled(input, mask, nan, "median"), at, keepdim).values
    y = f.nanmedian(filled(input.to(dtype=dtypes.float32), mask, nan, "median"), at, keepdim).values
    if np.isnan(y.array).any():
        raise ValueError("masked median expects no fully masked out rows if dtype is not floating point")
    return y.to(dtype=dtype)


def nan(dtype: Any) -> Any:
    return math.nan


def logsumexp(input: Any, dim: Any = None, *, keepdim: bool = False, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of the sum of exp(input)."""
    y = f.logsumexp(filled(input, mask, lowest, "logsumexp"), dims_of(dim, input.ndim), keepdim=keepdim)
    return y.to(dtype=input.dtype if dtype is None else dtype)


def logaddexp(input: Any, other: Any, *, dtype: Any = None, input_mask: Any = None, other_mask: Any = None) -> Any:
    """The logarithm of exp(input) + exp(other), each under a mask of its own."""
    a, b = filled(input, input_mask, lowest, "logaddexp"), filled(other, other_mask, lowest, "logaddexp")
    return f.logaddexp(a, b).to(dtype=input.dtype if dtype is None else dtype)


def norm(input: Any, ord: Any = 2.0, dim: Any = None, *, keepdim: bool | None = False, dtype: Any = None,
         mask: Any = None) -> Any:
    """The ord-norm of all elements or over dims."""
    x = filled(input, mask, highest if ord == -math.inf else zero, "norm")
    dtype = input.dtype if dtype is None else dtype
    return vector_norm(x, ord, dims_of(dim, input.ndim), bool(keepdim), dtype=dtype).contiguous()


def fractional(dtype: Any) -> Any:
    """The dtype in which a variance of `dtype` is computed."""
    return dtype if dtype.is_floating_point or dtype.is_complex else dtypes.float32


def var(input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: Any = None, keepdim: bool | None = False,
        dtype: Any = None, mask: Any = None) -> Any:
    """The variance of all elements or over dims: squares over n - correction (1 unless said)."""
    if unbiased is not None and correction is not None:
        raise AssertionError("Only one of unbiased and correction may be given")
    less = 1.0 if correction is None and unbiased is not False else float(correction or 0)
    if dtype is None:
        dtype = fractional(input.dtype)
    compute = fractional(dtype)
    n = count(input, dim, True, mask)
    off = input - sum(input, dim, keepdim=True, dtype=dtype, mask=mask) / n
    total = sum(off * off.conj() if off.is_complex() else off * off, dim, keepdim=keepdim, dtype=compute, mask=mask)
    n = n if keepdim else n.reshape(total.shape)
    if less:
        real = compute if compute.is_floating_point else dtypes.float64
        n = f.maximum(n.to(real) - less, n.new_zeros([], dtype=real))
    return (total / n).to(dtype=dtype)


def std(input: Any, dim: Any = None, unbiased: bool | None = None, *, correction: Any = None, keepdim: bool | None = False,
        dtype: Any = None, mask: Any = None) -> Any:
    """The root of the variance."""
    want = dtype
    if want is None:
        want = fractional(input.dtype)
    compute = fractional(want)
    y = var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=compute, mask=mask)
    return f.sqrt(y).to(dtype=want)


def softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """exp(input) over its sum along dim: 0 where masked out."""
    x = filled(input, mask, lowest, "amax")
    return f.softmax(x, dims_of(dim, input.ndim)[0], dtype=input.dtype if dtype is None else dtype)


def log_softmax(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """The logarithm of softmax: -inf where masked out."""
    x = filled(input, mask, lowest, "amax")
    return f.log_softmax(x, dims_of(dim, input.ndim)[0], dtype=input.dtype if dtype is None else dtype)


def softmin(input: Any, dim: int, *, dtype: Any = None, mask: Any = None) -> Any:
    """softmax(-input): 0 where masked out."""
    x = filled(input, mask, highest, "amin")
    return f.softmax(-x, dims_of(dim, input.ndim)[0], dtype=input.dtype if dtype is None else dtype)


def normalize(input: Any, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Any = None) -> Any:
    """input over its ord-norm along dim, or over eps where that is greater; 0 where masked out."""
    length = norm(input, ord, dim, keepdim=True, dtype=input.dtype if dtype is None else dtype, mask=mask)
    return filled(input, mask, zero, "sum") / f.maximum(length, length.new_full([], eps))
