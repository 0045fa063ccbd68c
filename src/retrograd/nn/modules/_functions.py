"""Functions with derivatives of their own, of which layers are made."""
from __future__ import annotations

from typing import Any

from ...autograd.function import Function, once_differentiable


class CrossMapLRN2d(Function):
    """x / (k + alpha/size * sum of x^2 over neighboring channels)^beta, x (N, C, H, W).

    Channel 0 stays in all windows that begin before channel 2, as in PyTorch.
    """

    @staticmethod
    def forward(ctx: Any, input: Any, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> Any:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        squares = input ** 2
        scale = squares.new_empty(squares.shape)
        channels, reach = input.size(1), int((size - 1) / 2 + 1)
        total = scale.select(1, 0).zero_()
        for c in range(min(reach, channels)):
            total.add_(squares.select(1, c))
        for c in range(1, channels):
            total = scale.select(1, c).copy_(total)
            if c + reach <= channels:
                total.add_(squares.select(1, c + reach - 1))
            if c > reach:
                total.sub_(squares.select(1, c - reach))
        scale.mul_(alpha / size).add_(k)
        output = scale ** -beta * input
        ctx.settings = (size, alpha, beta)
        ctx.save_for_backward(input, output, scale)
        return output

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, g: Any) -> Any:
        input, output, scale = ctx.saved_tensors
        size, alpha, beta = ctx.settings
        n, channels, *rest = input.shape
        padded = input.new_zeros(n, channels + size - 1, *rest)
        padded.narrow(1, int(size - (size - 1) / 2), channels).copy_(g * output / scale)
        windows = input.new_empty(input.shape)
        for c in range(channels):
            windows.select(1, c).copy_(padded.narrow(1, c, size).sum(1))
        return scale ** -beta * g - 2 * alpha * beta / size * input * windows, None, None, None, None
