"""Limits on gradients (torch.nn.utils.clip_grad).

parameters           one tensor or an iterable of them; those without a gradient are left out
norm_type            p of the norm; inf: the largest absolute value
max_norm             what the norm of all gradients together may be
error_if_nonfinite   True: RuntimeError if the norm is NaN or infinite; False: the gradients are scaled by it
foreach              accepted without effect
"""
from __future__ import annotations

from collections.abc import Iterable
from types import GeneratorType
from typing import Any

import numpy as np

from ..._engine.modes import modes
from ..._engine.tensor import TensorBase, bump, wrap
from ..._engine.warn import warn
from ..._functions import fromdata, join
from ..._kernels import kernel
from ...autograd.grad_mode import no_grad
from ...linalg import vector_norm

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]


squares = kernel("squares")
scale = kernel("scale")


def tensors_of(given: Any) -> list[Any]:
    return [given] if isinstance(given, TensorBase) else list(given)


def get_total_norm(tensors: Any, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None) -> Any:
    """The norm of all tensors taken as one vector; norm_type may be inf.

    RuntimeError when it is not finite, with error_if_nonfinite.
    """
    with no_grad():
        found = tensors_of(tensors)
        norm_type = float(norm_type)
        if not found:
            return fromdata.tensor(0.0)
        total = quick_norm(found) if norm_type == 2.0 else None
        if total is None:
            norms = [vector_norm(t, norm_type) for t in found]
            total = vector_norm(join.stack(norms), norm_type)
        if error_if_nonfinite and (total.isnan() | total.isinf()):
            raise RuntimeError(
                f"The total norm of order {norm_type} for gradients from `parameters` is non-finite, so it cannot be "
                "clipped. To disable this error and scale the gradients by the non-finite norm anyway, set "
                "`error_if_nonfinite=False`")
        return total


def quick_norm(tensors: list[Any]) -> Any:
    """The Euclidean norm of tensors of one dtype, or None where there is no kernel for them."""
    total = 0.0
    dtype = tensors[0].array.dtype
    for t in tensors:
        part = squares(t.array) if t.array.dtype is dtype else None
        if part is None:
            return None
        total += part
    return wrap(np.sqrt(np.asarray(total, dtype)))


def clip_grads_with_norm_(parameters: Any, max_norm: float, total_norm: Any, foreach: Any = None) -> None:
    """Scale the gradients by max_norm / total_norm where that is less than 1."""
    with no_grad():
        factor = (max_norm / (total_norm + 1e-6)).clamp(max=1.0)
        for param in tensors_of(parameters):
            grad = param.grad
            if grad is None:
                continue
            plain = grad.fn is None and grad.origin is None and not grad.inference and modes.observer is None
            if plain and scale(grad.array, factor.item()):
                bump(grad)
            else:
                grad.mul_(factor.to(grad.dtype))


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None,
) -> Any:
    """Scale the gradients so that their norm, taken together, is at most max_norm; -> the norm before.

    https://pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
    """
    if not isinstance(parameters, TensorBase):
        once = isinstance(parameters, GeneratorType)
        parameters = list(parameters)
        if once and not parameters:
            warn("`parameters` is an empty generator, no gradient clipping will occur.")
    if modes.recorder is not None and modes.observer is not None:
        return modes.recorder.outright(clip_grad_norm_, tensors_of(parameters), max_norm, norm_type, error_if_nonfinite, foreach)
    grads = [p.grad for p in tensors_of(parameters) if p.grad is not None]
    total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, float(max_norm), total, foreach)
    return total


def clip_grad_norm(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: Any = None,
) -> Any:
    """Deprecated: use clip_grad_norm_."""
    warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Any | Iterable[Any], clip_value: float, foreach: Any = None) -> None:
    """Clamp every element of every gradient to [-clip_value, clip_value]."""
    if modes.recorder is not None and modes.observer is not None:
        modes.recorder.outright(clip_grad_value_, tensors_of(parameters), clip_value, foreach)
        return
    limit = float(clip_value)
    with no_grad():
        for param in tensors_of(parameters):
            if param.grad is not None:
                param.grad.clamp_(min=-limit, max=limit)
