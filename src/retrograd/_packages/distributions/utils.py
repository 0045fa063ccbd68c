"""torch.distributions.utils: broadcasting numbers and tensors, probabilities and log odds, triangular matrices as vectors."""
from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from typing import Any

from retrograd import _functions as f
from retrograd._tensor import Tensor, dtypes
from retrograd._tensor.size import Size
from retrograd.autograd import enable_grad
from retrograd.nn import functional as F

__all__ = [
    "broadcast_all", "logits_to_probs", "clamp_probs", "probs_to_logits", "lazy_property", "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]
euler_constant = 0.5772156649015329
EMPTY = Size()
NUMBER = (int, float)                           # and bool, which is an int


def broadcast_all(*values: Any) -> Any:
    """Numbers and tensors as tensors of one shape.

    Numbers get the dtype of the first tensor, or the default one.   ValueError for anything else
    """
    if not all(isinstance(v, (Tensor, *NUMBER)) for v in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing __torch_function__.")
    dtype = next((v.dtype for v in values if isinstance(v, Tensor)), dtypes.get_default_dtype())
    return f.broadcast_tensors(*[v if isinstance(v, Tensor) else f.tensor(v, dtype=dtype) for v in values])


def standard_normal(shape: Any, like: Any) -> Any:
    """Standard normal numbers of like's dtype, outside every graph."""
    return f.empty(shape, dtype=like.dtype).normal_()


def sum_rightmost(value: Any, dim: int) -> Any:
    """The sum over the last `dim` dims."""
    return value.reshape((*value.shape[:-dim], -1)).sum(-1) if dim else value


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    return f.empty(shape, dtype=dtype, device=device).normal_()


_sum_rightmost = sum_rightmost                  # PyTorch's names, which libraries import


def logits_to_probs(logits: Any, is_binary: bool = False) -> Any:
    """Probabilities from log odds: of one of two outcomes, or of each outcome along the last dim."""
    return f.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def clamp_probs(probs: Any) -> Any:
    """probs, clamped to at least an epsilon of their dtype away from 0 and 1."""
    eps = dtypes.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Any, is_binary: bool = False) -> Any:
    """The inverse of logits_to_probs; probabilities of 0 and 1 are first clamped by an epsilon."""
    inside = clamp_probs(probs)
    return f.log(inside) - f.log1p(-inside) if is_binary else f.log(inside)


class lazy_property:
    """A property that is computed once, with grad enabled, and then stored as an attribute."""

    def __init__(self, wrapped: Callable[[Any], Any]) -> None:
        self.wrapped = wrapped
        update_wrapper(self, wrapped)  # type: ignore[arg-type]  # of a class without __call__

    def __get__(self, instance: Any, obj_type: Any = None) -> Any:
        if instance is None:
            return self
        with enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def lower_mask(n: int, diag: int) -> Any:
    """(n, n) bool: on or below the diagonal number `diag`"""
    return f.ones((n, n), dtype=dtypes.bool).tril(diag)


def tril_matrix_to_vec(mat: Any, diag: int = 0) -> Any:
    """(..., n, n) -> (..., k): what lies on or below the diagonal `diag`, row by row."""
    n = mat.shape[-1]
    if not -n <= diag < n:
        raise ValueError(f"diag ({diag}) provided is outside [{-n}, {n - 1}].")
    return mat[..., lower_mask(n, diag)]


def vec_to_tril_matrix(vec: Any, diag: int = 0) -> Any:
    """The inverse of tril_matrix_to_vec, with zeros above."""
    k, b = vec.shape[-1], 1 + 2 * diag          # n^2 + b n = 2 k + |diag| (diag + 1)
    root = ((b * b + 8 * k + 4 * abs(diag) * (diag + 1)) ** 0.5 - b) / 2
    n = round(root)
    if n - root > dtypes.finfo(vec.dtype).eps:
        raise ValueError(f"The size of last dimension is {k} which cannot be expressed as "
                         "the lower triangular part of a square D x D matrix.")
    mat = vec.new_zeros((*vec.shape[:-1], n, n))
    mat[..., lower_mask(n, diag)] = vec
    return mat
