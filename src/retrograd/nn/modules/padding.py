"""Padding.

padding   one int for all sides, or (left, right, top, bottom, front, back): the last dimension first; negative numbers crop
"""
from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module
from .utils import _ntuple

__all__ = [
    "CircularPad1d", "CircularPad2d", "CircularPad3d", "ConstantPad1d", "ConstantPad2d", "ConstantPad3d",
    "ReflectionPad1d", "ReflectionPad2d", "ReflectionPad3d", "ReplicationPad1d", "ReplicationPad2d",
    "ReplicationPad3d", "ZeroPad1d", "ZeroPad2d", "ZeroPad3d",
]


class _PadNd(Module):
    """spatial: how many dimensions are padded; mode: as F.pad has it."""

    __constants__ = ["padding"]
    spatial: int
    mode: str
    padding: tuple[int, ...]

    def __init__(self, padding: Any) -> None:
        super().__init__()
        self.padding = _ntuple(2 * self.spatial)(padding)

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, self.mode)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class _CircularPadNd(_PadNd):
    mode = "circular"

    def forward(self, input: Any) -> Any:
        n = self.spatial
        if input.dim() not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")
        return F.pad(input, self.padding, self.mode)


class CircularPad1d(_CircularPadNd):
    """Pad (N, C, L) with values from the opposite end."""

    spatial = 1


class CircularPad2d(_CircularPadNd):
    """Pad (N, C, H, W) with values from the opposite ends."""

    spatial = 2


class CircularPad3d(_CircularPadNd):
    """Pad (N, C, D, H, W) with values from the opposite ends."""

    spatial = 3


class _ConstantPadNd(_PadNd):
    __constants__ = ["padding", "value"]
    mode = "constant"

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = value

    def forward(self, input: Any) -> Any:
        return F.pad(input, self.padding, "constant", self.value)

    def extra_repr(self) -> str:
        return f"padding={self.padding}, value={self.value}"


class ConstantPad1d(_ConstantPadNd):
    """Pad the last dimension with `value`."""

    spatial = 1


class ConstantPad2d(_ConstantPadNd):
    """Pad the last two dimensions with `value`."""

    spatial = 2


class ConstantPad3d(_ConstantPadNd):
    """Pad the last three dimensions with `value`."""

    spatial = 3


class _ReflectionPadNd(_PadNd):
    mode = "reflect"


class ReflectionPad1d(_ReflectionPadNd):
    """Pad (N, C, L) by reflection; the border is not repeated."""

    spatial = 1


class ReflectionPad2d(_ReflectionPadNd):
    """Pad (N, C, H, W) by reflection; the border is not repeated."""

    spatial = 2


class ReflectionPad3d(_ReflectionPadNd):
    """Pad (N, C, D, H, W) by reflection; the border is not repeated."""

    spatial = 3


class _ReplicationPadNd(_PadNd):
    mode = "replicate"


class ReplicationPad1d(_ReplicationPadNd):
    """Pad (N, C, L) with its border."""

    spatial = 1


class ReplicationPad2d(_ReplicationPadNd):
    """Pad (N, C, H, W) with its border."""

    spatial = 2


class ReplicationPad3d(_ReplicationPadNd):
    """Pad (N, C, D, H, W) with its border."""

    spatial = 3


class _ZeroPadNd(_ConstantPadNd):
    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0.0)

    def extra_repr(self) -> str:
        return f"{self.padding}"


class ZeroPad1d(_ZeroPadNd):
    """Pad the last dimension with 0."""

    spatial = 1


class ZeroPad2d(_ZeroPadNd):
    """Pad the last two dimensions with 0."""

    spatial = 2


class ZeroPad3d(_ZeroPadNd):
    """Pad the last three dimensions with 0."""

    spatial = 3
