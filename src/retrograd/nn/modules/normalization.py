"""Layer, group, RMS and local response normalization.

eps                  added to the variance, or to the mean of squares
affine               False: no weight and no bias
elementwise_affine   False: no weight and no bias
normalized_shape     sizes of the last dimensions, an int or a tuple; the input must end with them
num_channels         C; ValueError unless num_groups divides it
size, alpha, beta, k   as in LocalResponseNorm's formula
x                    the input, (..., *normalized_shape)
"""
from __future__ import annotations

from numbers import Integral
from typing import Any

from ..._functions import empty
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["CrossMapLRN2d", "GroupNorm", "LayerNorm", "LocalResponseNorm", "RMSNorm"]


def shape_of(normalized_shape: Any) -> tuple[int, ...]:
    sizes: Any = (normalized_shape,) if isinstance(normalized_shape, Integral) else normalized_shape
    return tuple(sizes)


class LocalResponseNorm(Module):
    """x / (k + alpha/size * sum of x^2 over `size` neighboring channels)^beta.  Krizhevsky et al. 2012."""

    __constants__ = ["size", "alpha", "beta", "k"]

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Any) -> Any:
        return F.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class CrossMapLRN2d(LocalResponseNorm):
    """LocalResponseNorm of (N, C, H, W) in its first form: a node of its own, without a second derivative."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Any) -> Any:
        from ._functions import CrossMapLRN2d as across  # few programs use it

        return across.apply(input, self.size, self.alpha, self.beta, self.k)


class LayerNorm(Module):
    """(x - mean) / sqrt(var + eps) * weight + bias over the last dimensions (normalized_shape).  Ba et al. 2016.

    weight starts at 1, bias at 0.  https://pytorch.org/docs/stable/generated/torch.nn.LayerNorm.html
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    weight: Parameter
    bias: Parameter

    def __init__(self, normalized_shape: Any, eps: float = 1e-5, elementwise_affine: bool = True, bias: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.normalized_shape = shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", elementwise_affine), ("bias", elementwise_affine and bias)):
            value = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1 and bias to 0."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        own = self._parameters                  # NOTE [Parameters as attributes] in module.py
        try:
            return F.layer_norm(input, self.normalized_shape, own["weight"], own["bias"], self.eps)
        except KeyError:
            return F.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def _misfit(self, input: Any) -> str | None:
        return misfit(self.normalized_shape, input)

    def extra_repr(self) -> str:
        return (f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
                f"bias={self.bias is not None}")


def misfit(normalized_shape: tuple[int, ...], input: Any) -> str | None:
    if tuple(input.shape[-len(normalized_shape):]) == normalized_shape:
        return None
    last = ", ".join(map(str, normalized_shape))
    return f"got an input of shape {tuple(input.shape)}, expected (..., {last})"


class GroupNorm(Module):
    """Layer norm over num_groups blocks of the channels of (N, C, ...).  Wu & He 2018.

    weight (C,) starts at 1, bias at 0.  https://pytorch.org/docs/stable/generated/torch.nn.GroupNorm.html
    """

    __constants__ = ["num_groups", "num_channels", "eps", "affine"]
    weight: Parameter
    bias: Parameter

    def __init__(self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, device: Any = None,
                 dtype: Any = None, *, bias: bool = True) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1 and bias to 0."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Any) -> Any:
        return F.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def _misfit(self, input: Any) -> str | None:
        if input.dim() > 1 and input.shape[1] == self.num_channels:
            return None
        return f"got an input of shape {tuple(input.shape)}, expected (N, {self.num_channels}, ...)"

    def extra_repr(self) -> str:
        return (f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
                f"bias={self.bias is not None}")


class RMSNorm(Module):
    """x / sqrt(mean(x^2) + eps) * weight over the last dimensions.  Zhang & Sennrich 2019.

    eps None is the dtype's machine epsilon.  https://pytorch.org/docs/stable/generated/torch.nn.RMSNorm.html
    """

    __constants__ = ["normalized_shape", "eps", "elementwise_affine"]
    weight: Parameter

    def __init__(self, normalized_shape: Any, eps: float | None = None, elementwise_affine: bool = True,
                 device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.normalized_shape = shape_of(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        value = Parameter(empty(self.normalized_shape, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set weight to 1."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, x: Any) -> Any:
        return F.rms_norm(x, self.normalized_shape, self.weight, self.eps)

    def _misfit(self, input: Any) -> str | None:
        return misfit(self.normalized_shape, input)

    def extra_repr(self) -> str:
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"
