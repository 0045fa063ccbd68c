"""Gradients of convolutions as functions: torch.nn.grad.conv2d_input, conv2d_weight, ...

stride, padding, dilation and groups are those of the convolution; grad_output is the gradient of its result.
"""
from __future__ import annotations

from typing import Any

from .._functions.conv import derivative

__all__ = ["conv1d_input", "conv1d_weight", "conv2d_input", "conv2d_weight", "conv3d_input", "conv3d_weight"]


def conv1d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Any:
    """The gradient of F.conv1d with respect to its input, of shape input_size: (N, C, L)."""
    return derivative(tuple(input_size), weight, grad_output, stride, padding, dilation, groups, 1)


def conv1d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Any:
    """The gradient of F.conv1d with respect to its weight, of shape weight_size: (O, C / groups, K)."""
    return derivative(input, tuple(weight_size), grad_output, stride, padding, dilation, groups, 1)


def conv2d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Any:
    """The gradient of F.conv2d with respect to its input, of shape input_size: (N, C, H, W)."""
    return derivative(tuple(input_size), weight, grad_output, stride, padding, dilation, groups, 2)


def conv2d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Any:
    """The gradient of F.conv2d with respect to its weight, of shape weight_size: (O, C / groups, KH, KW)."""
    return derivative(input, tuple(weight_size), grad_output, stride, padding, dilation, groups, 2)


def conv3d_input(
    input_size: Any, weight: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Any:
    """The gradient of F.conv3d with respect to its input, of shape input_size: (N, C, D, H, W)."""
    return derivative(tuple(input_size), weight, grad_output, stride, padding, dilation, groups, 3)


def conv3d_weight(
    input: Any, weight_size: Any, grad_output: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
) -> Any:
    """The gradient of F.conv3d with respect to its weight, of shape weight_size: (O, C / groups, KD, KH, KW)."""
    return derivative(input, tuple(weight_size), grad_output, stride, padding, dilation, groups, 3)
