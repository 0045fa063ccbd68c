"""Starting values for weights (torch.nn.init).  Every function fills a tensor in place, without recording it, and returns it.

tensor           the tensor to fill, of any shape unless the docstring says more
mean, std        of the normal distribution, before anything is cut off
gain             factor of the values, such as calculate_gain(nonlinearity)
a                slope of leaky_relu for negative numbers
mode             'fan_in' keeps the variance of activations, 'fan_out' that of gradients
nonlinearity     what follows the layer; its gain is calculate_gain(nonlinearity, a)
groups           blocks of channels that the convolution keeps apart
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.warn import warn
from .._functions import create, fromdata, sampling
from .._functions.create import empty_like
from .._functions.pointwise import where
from .._functions.public import PYTHON, public
from .._tensor import Tensor
from ..autograd.grad_mode import no_grad

__all__ = [
    "calculate_gain", "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_",
    "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_", "uniform",
    "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal",
    "orthogonal", "sparse",
]

LINEAR = (
    "linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid",
)


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor that preserves the variance through a nonlinearity: 1 for linear and sigmoid, 5/3 tanh, sqrt(2) relu, 3/4 selu,
    sqrt(2 / (1 + param^2)) leaky_relu."""
    if nonlinearity in LINEAR:
        return 1
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        if param is None:
            slope = 0.01
        elif not isinstance(param, bool) and isinstance(param, (int, float)):
            slope = param
        else:
            raise ValueError(f"negative_slope {param} not a valid number")
        return math.sqrt(2.0 / (1 + slope**2))
    if nonlinearity == "selu":
        return 3.0 / 4
    raise ValueError(f"Unsupported nonlinearity {nonlinearity}")


def _told(f: Any) -> Any:
    """f, reported to __torch_function__."""
    return public(f, PYTHON, "nn.init", f.__name__, f.__name__)


@_told
def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Uniform in [a, b)."""
    return _no_grad_uniform_(tensor, a, b, generator)


@_told
def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Normal."""
    return _no_grad_normal_(tensor, mean, std, generator)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None,
) -> Any:
    """Normal; values outside [a, b] are drawn again.

    Where less than 0.3 of the normal distribution lies in [a, b], values uniform there are drawn, and again with the
    probability that its density leaves.
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be "
            "incorrect.")
    if tensor.is_meta:
        return tensor
    inside = _normal_cdf((b - mean) / std) - _normal_cdf((a - mean) / std)
    with no_grad():
        if inside > 0.3:
            low, high = (tensor.new_tensor(edge).item() for edge in (a, b))
            drawn = tensor.normal_(mean, std, generator=generator)
            while (outside := (drawn < low) | (drawn > high)).any():
                drawn = where(outside, empty_like(drawn).normal_(mean, std, generator=generator), drawn)
        else:
            peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2

            def rejected(x: Any) -> Any:
                density = x.sub(mean).div_(std).pow_(2).mul_(-0.5).sub_(peak)
                return empty_like(x).uniform_(generator=generator).log_().gt(density)
            drawn = tensor.uniform_(a, b, generator=generator)
            again = rejected(drawn)
            while again.any():
                candidates = empty_like(tensor).uniform_(a, b, generator=generator)
                drawn = where(again, candidates, drawn)
                again = again & rejected(candidates)
        return tensor if drawn is tensor else tensor.copy_(drawn)


def _normal_cdf(x: float) -> float:
    return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0


@_told
def constant_(tensor: Any, val: float) -> Any:
    """`val` everywhere."""
    with no_grad():
        return tensor.fill_(val)


def ones_(tensor: Any) -> Any:
    """1 everywhere."""
    with no_grad():
        return tensor.fill_(1.0)


def zeros_(tensor: Any) -> Any:
    """0 everywhere."""
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Any) -> Any:
    """The identity matrix (2 dimensions)."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    return _assign(tensor, np.eye(*tensor.shape))


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """A convolution weight (3 to 5 dimensions) that passes as many channels as possible on unchanged, per group."""
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    out, into = tensor.shape[:2]
    if out % groups:
        raise ValueError("dim 0 must be divisible by groups")
    values = np.zeros(tensor.shape)
    centre = tuple(n // 2 for n in tensor.shape[2:])
    each = out // groups
    for group in range(groups):
        for i in range(min(each, into)):
            values[(group * each + i, i, *centre)] = 1
    return _assign(tensor, values)


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    if tensor.dim() < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    field = math.prod(tensor.shape[2:])
    return tensor.shape[1] * field, tensor.shape[0] * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform with variance gain^2 * 2 / (fan_in + fan_out).  Glorot & Bengio 2010."""
    bound = gain * math.sqrt(6.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal with variance gain^2 * 2 / (fan_in + fan_out).  Glorot & Bengio 2010."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return _no_grad_normal_(tensor, 0.0, std, generator)


@_told
def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None,
) -> Any:
    """Uniform with variance gain^2 / fan.  He et al. 2015."""
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    bound = math.sqrt(3.0) * calculate_gain(nonlinearity, a) / math.sqrt(fan)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None,
) -> Any:
    """Normal with variance gain^2 / fan.  He et al. 2015."""
    if 0 in tensor.shape:
        warn("Initializing zero-element tensors is a no-op")
        return tensor
    fan = _calculate_correct_fan(tensor, mode)
    std = calculate_gain(nonlinearity, a) / math.sqrt(fan)
    return _no_grad_normal_(tensor, 0.0, std, generator)


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """Orthonormal rows or columns, whichever are fewer, times gain.  Saxe et al. 2013."""
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel() or tensor.is_meta:
        return tensor
    rows, cols = tensor.shape[0], tensor.numel() // tensor.shape[0]
    drawn = create.randn(rows, cols, dtype=tensor.dtype, generator=generator).array
    if tensor.is_complex():
        raise NotImplementedError(
            "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead.")
    flat = drawn.astype(np.float64)
    q, r = np.linalg.qr(flat.T if rows < cols else flat)
    q = q * np.sign(np.diag(r))                 # else the distribution is not uniform (Mezzadri 2006)
    return _assign(tensor, gain * (q.T if rows < cols else q).reshape(tensor.shape))


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal(0, std), with the fraction `sparsity` of each column zero (2 dimensions).  Martens 2010."""
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, cols = tensor.shape
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for col in range(cols):
            tensor[sampling.randperm(rows, generator=generator)[:math.ceil(sparsity * rows)], col] = 0
    return tensor


def _assign(tensor: Any, values: Any) -> Any:
    with no_grad():
        return tensor.copy_(fromdata.as_tensor(np.asarray(values)))


def _no_grad_uniform_(tensor: Any, a: float, b: float, generator: Any = None) -> Any:
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor: Any, mean: float, std: float, generator: Any = None) -> Any:
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _deprecated(new: Any) -> Any:
    old = new.__name__[:-1]

    def call(*args: Any, **kwargs: Any) -> Tensor:
        warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning)
        found: Tensor = new(*args, **kwargs)
        return found

    call.__name__ = old
    call.__doc__ = f"Deprecated: use {old}_."
    return call


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)
