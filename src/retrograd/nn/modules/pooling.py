"""Pooling.  N batch, C channels, L/H/W/D space; inputs may lack the batch dimension.

kernel_size         extent of the window; this and the next three: one int for all spatial dimensions, or a tuple
stride              steps between windows; None: kernel_size, so that they do not overlap
padding             added at both ends: zeros, or -inf for maxima; RuntimeError if more than half of kernel_size
dilation            distance between the elements of a window
ceil_mode           True: windows that begin inside and end outside count as well, which rounds the output's size up
count_include_pad   False: a mean is over the elements inside alone, not over the zeros of `padding`
divisor_override    what sums are divided by instead of the number of elements
return_indices      True: also return where each maximum was, an index into the flattened spatial dimensions
norm_type           p: (sum of x^p)^(1/p) without absolute values, so that an odd p gives NaN for a negative sum; inf: maximum
output_size         spatial size of the output, one int for all dimensions or a tuple
indices             where MaxPool with return_indices=True found the maxima
output_ratio        the same as a share of the input's size, between 0 and 1
"""
from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module
from .utils import _pair, _single, _triple

__all__ = [
    "AdaptiveAvgPool1d", "AdaptiveAvgPool2d", "AdaptiveAvgPool3d", "AdaptiveMaxPool1d", "AdaptiveMaxPool2d",
    "AdaptiveMaxPool3d", "AvgPool1d", "AvgPool2d", "AvgPool3d", "FractionalMaxPool2d", "FractionalMaxPool3d",
    "LPPool1d", "LPPool2d", "LPPool3d", "MaxPool1d", "MaxPool2d", "MaxPool3d", "MaxUnpool1d", "MaxUnpool2d", "MaxUnpool3d",
]


class _MaxPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "dilation", "return_indices", "ceil_mode"]
    function: Any

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, dilation: Any = 1,
                 return_indices: bool = False, ceil_mode: bool = False) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.dilation = dilation
        self.return_indices = return_indices
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.dilation, ceil_mode=self.ceil_mode,
            return_indices=self.return_indices)

    def extra_repr(self) -> str:
        return (f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}, "
                f"dilation={self.dilation}, ceil_mode={self.ceil_mode}")


class MaxPool1d(_MaxPoolNd):
    """The maximum of each window of (N, C, L); return_indices=True also returns where it was.

    https://pytorch.org/docs/stable/generated/torch.nn.MaxPool1d.html
    """

    function = staticmethod(F.max_pool1d)


class MaxPool2d(_MaxPoolNd):
    """The maximum of each window of (N, C, H, W); return_indices=True also returns where it was.

    https://pytorch.org/docs/stable/generated/torch.nn.MaxPool2d.html
    """

    function = staticmethod(F.max_pool2d)


class MaxPool3d(_MaxPoolNd):
    """The maximum of each window of (N, C, D, H, W); return_indices=True also returns where it was."""

    function = staticmethod(F.max_pool3d)


class _MaxUnpoolNd(Module):
    function: Any

    def forward(self, input: Any, indices: Any, output_size: Any = None) -> Any:
        return type(self).function(input, indices, self.kernel_size, self.stride, self.padding, output_size)

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class MaxUnpool1d(_MaxUnpoolNd):
    """Put values back where MaxPool1d found them, and zeros elsewhere."""

    function = staticmethod(F.max_unpool1d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)


class MaxUnpool2d(_MaxUnpoolNd):
    """Put values back where MaxPool2d found them, and zeros elsewhere."""

    function = staticmethod(F.max_unpool2d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _pair(kernel_size)
        self.stride = _pair(stride if stride is not None else kernel_size)
        self.padding = _pair(padding)


class MaxUnpool3d(_MaxUnpoolNd):
    """Put values back where MaxPool3d found them, and zeros elsewhere."""

    function = staticmethod(F.max_unpool3d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0) -> None:
        super().__init__()
        self.kernel_size = _triple(kernel_size)
        self.stride = _triple(stride if stride is not None else kernel_size)
        self.padding = _triple(padding)


class _AvgPoolNd(Module):
    __constants__ = ["kernel_size", "stride", "padding", "ceil_mode", "count_include_pad"]

    def extra_repr(self) -> str:
        return f"kernel_size={self.kernel_size}, stride={self.stride}, padding={self.padding}"


class AvgPool1d(_AvgPoolNd):
    """The mean of each window of (N, C, L).

    https://pytorch.org/docs/stable/generated/torch.nn.AvgPool1d.html
    """

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True) -> None:
        super().__init__()
        self.kernel_size = _single(kernel_size)
        self.stride = _single(stride if stride is not None else kernel_size)
        self.padding = _single(padding)
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad

    def forward(self, input: Any) -> Any:
        return F.avg_pool1d(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad)


class AvgPool2d(_AvgPoolNd):
    """The mean of each window of (N, C, H, W); divisor_override divides by another number.

    https://pytorch.org/docs/stable/generated/torch.nn.AvgPool2d.html
    """

    function: Any = staticmethod(F.avg_pool2d)

    def __init__(self, kernel_size: Any, stride: Any = None, padding: Any = 0, ceil_mode: bool = False,
                 count_include_pad: bool = True, divisor_override: int | None = None) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.stride = stride if stride is not None else kernel_size
        self.padding = padding
        self.ceil_mode = ceil_mode
        self.count_include_pad = count_include_pad
        self.divisor_override = divisor_override

    def forward(self, input: Any) -> Any:
        return type(self).function(
            input, self.kernel_size, self.stride, self.padding, self.ceil_mode, self.count_include_pad,
            self.divisor_override)


class AvgPool3d(AvgPool2d):
    """The mean of each window of (N, C, D, H, W)."""

    function = staticmethod(F.avg_pool3d)


class _LPPoolNd(Module):
    __constants__ = ["norm_type", "kernel_size", "stride", "ceil_mode"]
    function: Any

    def __init__(self, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> None:
        super().__init__()
        self.norm_type = norm_type
        self.kernel_size = kernel_size
        self.stride = stride
        self.ceil_mode = ceil_mode

    def forward(self, input: Any) -> Any:
        return type(self).function(input, float(self.norm_type), self.kernel_size, self.stride, self.ceil_mode)

    def extra_repr(self) -> str:
        return (f"norm_type={self.norm_type}, kernel_size={self.kernel_size}, stride={self.stride}, "
                f"ceil_mode={self.ceil_mode}")


class LPPool1d(_LPPoolNd):
    """The p-norm of each window of (N, C, L)."""

    function = staticmethod(F.lp_pool1d)


class LPPool2d(_LPPoolNd):
    """The p-norm of each window of (N, C, H, W)."""

    function = staticmethod(F.lp_pool2d)


class LPPool3d(_LPPoolNd):
    """The p-norm of each window of (N, C, D, H, W)."""

    function = staticmethod(F.lp_pool3d)


class _AdaptiveAvgPoolNd(Module):
    __constants__ = ["output_size"]
    function: Any

    def __init__(self, output_size: Any) -> None:
        super().__init__()
        self.output_size = output_size

    def forward(self, input: Any) -> Any:
        return type(self).function(input, self.output_size)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveAvgPool1d(_AdaptiveAvgPoolNd):
    """Means of windows chosen such that (N, C, L) becomes (N, C, output_size)."""

    function = staticmethod(F.adaptive_avg_pool1d)


class AdaptiveAvgPool2d(_AdaptiveAvgPoolNd):
    """Means of windows chosen such that (N, C, H, W) becomes (N, C, *output_size); None keeps a dimension."""

    function = staticmethod(F.adaptive_avg_pool2d)


class AdaptiveAvgPool3d(_AdaptiveAvgPoolNd):
    """Means of windows chosen such that (N, C, D, H, W) becomes (N, C, *output_size); None keeps a dimension."""

    function = staticmethod(F.adaptive_avg_pool3d)


class _AdaptiveMaxPoolNd(Module):
    __constants__ = ["output_size", "return_indices"]
    function: Any

    def __init__(self, output_size: Any, return_indices: bool = False) -> None:
        super().__init__()
        self.output_size = output_size
        self.return_indices = return_indices

    def forward(self, input: Any) -> Any:
        return type(self).function(input, self.output_size, self.return_indices)

    def extra_repr(self) -> str:
        return f"output_size={self.output_size}"


class AdaptiveMaxPool1d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen such that (N, C, L) becomes (N, C, output_size)."""

    function = staticmethod(F.adaptive_max_pool1d)


class AdaptiveMaxPool2d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen such that (N, C, H, W) becomes (N, C, *output_size); None keeps a dimension."""

    function = staticmethod(F.adaptive_max_pool2d)


class AdaptiveMaxPool3d(_AdaptiveMaxPoolNd):
    """Maxima of windows chosen such that (N, C, D, H, W) becomes (N, C, *output_size); None keeps a dimension."""

    function = staticmethod(F.adaptive_max_pool3d)


class _FractionalMaxPoolNd(Module):
    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    dims: int

    def __init__(self, kernel_size: Any, output_size: Any = None, output_ratio: Any = None, return_indices: bool = False,
                 _random_samples: Any = None) -> None:
        super().__init__()
        name, each = type(self).__name__, _pair if self.dims == 2 else _triple
        if self.dims == 3 and any(k <= 0 for k in each(kernel_size)):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size = each(kernel_size)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = each(output_size) if output_size is not None else None
        self.output_ratio = each(output_ratio) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < r < 1 for r in self.output_ratio[:self.dims]):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")


class FractionalMaxPool2d(_FractionalMaxPoolNd):
    """The maximum of each of output_size windows of (N, C, H, W), which begin at pseudo-random positions.

    output_ratio: windows are that share of H and W.  Graham 2014.
    https://pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool2d.html
    """

    dims = 2

    def forward(self, input: Any) -> Any:
        return F.fractional_max_pool2d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)


class FractionalMaxPool3d(_FractionalMaxPoolNd):
    """The maximum of each of output_size windows of (N, C, T, H, W), which begin at pseudo-random positions.

    https://pytorch.org/docs/stable/generated/torch.nn.FractionalMaxPool3d.html
    """

    dims = 3

    def forward(self, input: Any) -> Any:
        return F.fractional_max_pool3d(
            input, self.kernel_size, self.output_size, self.output_ratio, self.return_indices, self._random_samples)
