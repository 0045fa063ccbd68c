"""torch.ao.quantization: the marks that models which can be quantised carry.  Nothing is quantised."""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names
from retrograd.nn.module import Module

__all__ = ["DeQuantStub", "QuantStub"]
late_names(__name__)


class QuantStub(Module):
    """Where a quantised model would quantise its input; otherwise the identity."""

    def __init__(self, qconfig: Any = None) -> None:
        super().__init__()
        if qconfig:
            self.qconfig = qconfig

    def forward(self, x: Any) -> Any:
        return x


class DeQuantStub(QuantStub):
    """Where it would dequantise its output; otherwise the identity."""
