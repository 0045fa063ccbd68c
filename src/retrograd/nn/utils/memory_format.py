"""Weights of convolutions in another memory format (torch.nn.utils.memory_format): formats change nothing here."""
from __future__ import annotations

from typing import Any

from ..modules.conv import Conv2d, Conv3d, ConvTranspose2d, ConvTranspose3d

__all__ = ["convert_conv2d_weight_memory_format", "convert_conv3d_weight_memory_format"]


def convert_conv2d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Put the weights of the 2d convolutions in `module` into this format; -> module."""
    return converted(module, memory_format, (Conv2d, ConvTranspose2d))


def convert_conv3d_weight_memory_format(module: Any, memory_format: Any) -> Any:
    """Put the weights of the 3d convolutions in `module` into this format; -> module."""
    return converted(module, memory_format, (Conv3d, ConvTranspose3d))


def converted(module: Any, memory_format: Any, kinds: tuple[Any, ...]) -> Any:
    if isinstance(module, kinds):
        module.weight.data = module.weight.detach().clone(memory_format=memory_format)
    for child in module.children():
        converted(child, memory_format, kinds)
    return module
