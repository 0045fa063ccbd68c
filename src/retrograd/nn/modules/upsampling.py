"""Resizing images and the like.

size             spatial size of the output, one int for all dimensions or a tuple
scale_factor     output size / input size, one number or a tuple; ValueError unless just one of the two is given
mode             'nearest', 'nearest-exact', 'linear' (1 dimension), 'bilinear', 'bicubic' (2), 'trilinear' (3) or 'area'
align_corners    True: the corner pixels' centers stay corners; False: their outer edges do
recompute_scale_factor   True: positions follow from the rounded output size instead of scale_factor
"""
from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """Resize the spatial dimensions to `size`, or by `scale_factor`; mode as in F.interpolate.

    https://pytorch.org/docs/stable/generated/torch.nn.Upsample.html
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
                 recompute_scale_factor: Any = None) -> None:
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(float(factor) for factor in scale_factor)
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Any) -> Any:
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners,
            recompute_scale_factor=self.recompute_scale_factor)

    def extra_repr(self) -> str:
        size = f"scale_factor={self.scale_factor!r}" if self.scale_factor is not None else f"size={self.size!r}"
        return f"{size}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """Upsample with mode 'nearest'."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """Upsample with mode 'bilinear' and align_corners=True."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
