"""torch.distributions.HalfNormal"""
from __future__ import annotations

import math
from typing import Any

from ._half import Half
from .normal import Normal

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    """|x| for normal x with mean 0 and standard deviation scale: density sqrt(2 / pi) exp(-(x / scale)^2 / 2) / scale.

    Parameters: scale > 0.
    Support: x >= 0.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    _params = {}

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Any:
        return self.scale.pow(2) * (1 - 2 / math.pi)
