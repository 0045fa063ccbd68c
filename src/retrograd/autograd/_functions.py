"""torch.autograd._functions: a Function that older programs call."""
from __future__ import annotations

import math
from typing import Any

from .function import Function

__all__ = ["Resize"]


class Resize(Function):
    """Resize.apply(tensor, sizes): the elements under another shape; RuntimeError where that has more or fewer."""

    @staticmethod
    def forward(ctx: Any, tensor: Any, sizes: Any) -> Any:
        ctx.sizes, ctx.input_sizes, ctx.numel = sizes, tensor.size(), math.prod(sizes)
        if tensor.numel() != ctx.numel:
            raise RuntimeError(
                f"requested resize to {'x'.join(map(str, sizes))} ({ctx.numel} elements in total), but the given tensor has a "
                f"size of {'x'.join(map(str, tensor.size()))} ({tensor.numel()} elements). autograd's resize can only change the "
                "shape of a given tensor, while preserving the number of elements. ")
        return tensor.contiguous().view(*sizes)

    @staticmethod
    def backward(ctx: Any, grad_output: Any) -> Any:
        return grad_output.contiguous().view(ctx.input_sizes), None
