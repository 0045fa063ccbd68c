"""Convolutions.  N batch, C channels, L/H/W/D space; inputs may lack the batch dimension.

in_channels      C of the input
out_channels     C of the output
kernel_size      extent of the kernel; this and the next four: one int for all spatial dimensions, or a tuple of one for each
stride           step of the kernel from window to window; a transposed convolution moves its inputs as far apart
padding          zeros added at both ends of each spatial dimension; a transposed convolution cuts as many off its output
dilation         distance between the elements that the kernel reads; 1: neighbors
output_padding   elements added at one end of the output: its size is not unique where stride > 1
groups           blocks of channels that are convolved separately; ValueError unless it divides in_channels and out_channels
output_size      of a transposed convolution: the spatial sizes (or the whole shape) to choose output_padding for
padding_mode     'zeros', 'reflect', 'replicate' or 'circular': what padding holds; transposed convolutions take 'zeros' alone
"""
from __future__ import annotations

import math
from typing import Any

from ..._functions import empty
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .utils import _ntuple, _reverse_repeat_tuple

__all__ = ["Conv1d", "Conv2d", "Conv3d", "ConvTranspose1d", "ConvTranspose2d", "ConvTranspose3d"]

MODES = {"zeros", "reflect", "replicate", "circular"}


class _ConvNd(Module):
    """What all convolutions share.  weight and bias start uniform in +-1/sqrt(fan_in)."""

    __constants__ = ["stride", "padding", "dilation", "groups", "padding_mode", "output_padding", "in_channels",
                     "out_channels", "kernel_size"]
    spatial: int
    in_channels: int
    out_channels: int
    kernel_size: tuple[int, ...]
    weight: Parameter
    bias: Parameter

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any, padding: Any, dilation: Any,
        transposed: bool, output_padding: Any, groups: int, bias: bool, padding_mode: str, device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        if groups <= 0:
            raise ValueError("groups must be a positive integer")
        if in_channels % groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        if out_channels % groups != 0:
            raise ValueError("out_channels must be divisible by groups")
        if isinstance(padding, str):
            if padding not in ("same", "valid"):
                raise ValueError(
                    f"Invalid padding string {padding!r}, should be one of {{'same', 'valid'}}")
            if padding == "same" and any(s != 1 for s in stride):
                raise ValueError("padding='same' is not supported for strided convolutions")
        if padding_mode not in MODES:
            raise ValueError(
                "padding_mode must be one of {'zeros', 'reflect', 'replicate', 'circular'}, but got "
                f"padding_mode='{padding_mode}'")
        self.in_channels = in_channels
        self.out_channels = out_channels
        self.kernel_size = kernel_size
        self.stride = stride
        self.padding = padding
        self.dilation = dilation
        self.transposed = transposed
        self.output_padding = output_padding
        self.groups = groups
        self.padding_mode = padding_mode
        if isinstance(padding, str):
            total = [d * (k - 1) if padding == "same" else 0 for d, k in zip(dilation, kernel_size)]
            both = [side for n in reversed(total) for side in (n // 2, n - n // 2)]
            self._reversed_padding_repeated_twice: Any = both
        else:
            self._reversed_padding_repeated_twice = _reverse_repeat_tuple(padding, 2)
        if transposed:
            shape = (in_channels, out_channels // groups, *kernel_size)
        else:
            shape = (out_channels, in_channels // groups, *kernel_size)
        self.weight = Parameter(empty(shape, device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_channels, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))      # the bound is then 1/sqrt(fan_in)
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in else 0
            init.uniform_(self.bias, -bound, bound)

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("padding_mode", "zeros")

    def _misfit(self, input: Any, *rest: Any) -> str | None:
        n = self.spatial
        if input.dim() in (n + 1, n + 2) and input.shape[-n - 1] == self.in_channels:
            return None
        space = ", ".join("DHW"[-n:] if n > 1 else "L")
        return f"got an input of shape {tuple(input.shape)}, expected (N, {self.in_channels}, {space})"

    def extra_repr(self) -> str:
        n = len(self.kernel_size)
        text = f"{self.in_channels}, {self.out_channels}, kernel_size={self.kernel_size}, stride={self.stride}"
        if self.padding != (0,) * n:
            text += f", padding={self.padding}"
        if self.dilation != (1,) * n:
            text += f", dilation={self.dilation}"
        if self.output_padding != (0,) * n:
            text += f", output_padding={self.output_padding}"
        if self.groups != 1:
            text += f", groups={self.groups}"
        if self.bias is None:
            text += ", bias=False"
        if self.padding_mode != "zeros":
            text += f", padding_mode={self.padding_mode}"
        return text


class _Conv(_ConvNd):
    """Conv1d to Conv3d differ in `spatial` and in the function that they call."""

    function: str                               # looked up at each call, so that whoever replaces it in F is asked

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        dilation: Any = 1, groups: int = 1, bias: bool = True, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:
        each = _ntuple(self.spatial)
        super().__init__(
            in_channels, out_channels, each(kernel_size), each(stride),
            padding if isinstance(padding, str) else each(padding), each(dilation), False, each(0), groups, bias,
            padding_mode, device, dtype)

    def forward(self, input: Any) -> Any:
        return self._conv_forward(input, self.weight, self.bias)

    def _conv_forward(self, input: Any, weight: Any, bias: Any) -> Any:
        padding = self.padding
        if self.padding_mode != "zeros":
            input = F.pad(input, self._reversed_padding_repeated_twice, mode=self.padding_mode)
            padding = (0,) * self.spatial
        return getattr(F, self.function)(input, weight, bias, self.stride, padding, self.dilation, self.groups)


class Conv1d(_Conv):
    """Slide a kernel over (N, in_channels, L) -> (N, out_channels, L').

    L' = (L + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1;  padding 'same' keeps L, 'valid' is 0
    weight (out_channels, in_channels / groups, kernel_size)
    https://pytorch.org/docs/stable/generated/torch.nn.Conv1d.html
    """

    spatial = 1
    function = "conv1d"


class Conv2d(_Conv):
    """Slide a kernel over (N, in_channels, H, W) -> (N, out_channels, H', W').

    H' = (H + 2 padding - dilation (kernel_size - 1) - 1) // stride + 1;  padding 'same' keeps H, 'valid' is 0
    weight (out_channels, in_channels / groups, KH, KW)
    https://pytorch.org/docs/stable/generated/torch.nn.Conv2d.html
    """

    spatial = 2
    function = "conv2d"


class Conv3d(_Conv):
    """Slide a kernel over (N, in_channels, D, H, W) -> (N, out_channels, D', H', W').

    https://pytorch.org/docs/stable/generated/torch.nn.Conv3d.html
    """

    spatial = 3
    function = "conv3d"


class _ConvTranspose(_ConvNd):
    """The adjoints of the convolutions."""

    function: Any

    def __init__(
        self, in_channels: int, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0,
        output_padding: Any = 0, groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros",
        device: Any = None, dtype: Any = None,
    ) -> None:
        if padding_mode != "zeros":
            raise ValueError(f'Only "zeros" padding mode is supported for {type(self).__name__}')
        each = _ntuple(self.spatial)
        super().__init__(
            in_channels, out_channels, each(kernel_size), each(stride), each(padding), each(dilation), True,
            each(output_padding), groups, bias, padding_mode, device, dtype)

    def forward(self, input: Any, output_size: Any = None) -> Any:
        """output_size (the spatial sizes, or the whole shape) chooses among the possible output sizes."""
        padding = self._output_padding(input, output_size)
        return getattr(F, self.function)(
            input, self.weight, self.bias, self.stride, self.padding, padding, self.groups, self.dilation)

    def _output_padding(self, input: Any, output_size: Any) -> tuple[int, ...]:
        if output_size is None:
            return self.output_padding
        n = self.spatial
        lead = input.dim() - n
        sizes = list(output_size)
        if len(sizes) == lead + n:
            sizes = sizes[lead:]
        if len(sizes) != n:
            raise ValueError(
                f"ConvTranspose{n}D: for {input.dim()}D input, output_size must have {n} or {lead + n} elements (got "
                f"{len(sizes)})")
        least = [
            (input.size(d + lead) - 1) * self.stride[d] - 2 * self.padding[d]
            + self.dilation[d] * (self.kernel_size[d] - 1) + 1 for d in range(n)]
        most = [least[d] + self.stride[d] - 1 for d in range(n)]
        if any(not lo <= size <= hi for lo, size, hi in zip(least, sizes, most)):
            raise ValueError(
                f"requested an output size of {sizes}, but valid sizes range from {least} to {most} (for an input of "
                f"{input.size()[2:]})")
        return tuple(size - lo for size, lo in zip(sizes, least))


class ConvTranspose1d(_ConvTranspose):
    """The adjoint of Conv1d: (N, in_channels, L) -> (N, out_channels, L').

    L' = (L - 1) stride - 2 padding + dilation (kernel_size - 1) + output_padding + 1
    weight (in_channels, out_channels / groups, kernel_size)
    https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose1d.html
    """

    spatial = 1
    function = "conv_transpose1d"


class ConvTranspose2d(_ConvTranspose):
    """The adjoint of Conv2d: (N, in_channels, H, W) -> (N, out_channels, H', W').

    https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose2d.html
    """

    spatial = 2
    function = "conv_transpose2d"


class ConvTranspose3d(_ConvTranspose):
    """The adjoint of Conv3d: (N, in_channels, D, H, W) -> (N, out_channels, D', H', W').

    https://pytorch.org/docs/stable/generated/torch.nn.ConvTranspose3d.html
    """

    spatial = 3
    function = "conv_transpose3d"
