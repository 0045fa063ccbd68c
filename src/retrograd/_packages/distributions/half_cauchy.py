"""torch.distributions.HalfCauchy"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from ._half import Half
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """|x| for Cauchy-distributed x with location 0: density 2 / (pi scale (1 + (x / scale)^2)).

    Parameters: scale > 0.
    Support: x >= 0.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    _params = {}

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), validate_args)

    @property
    def mean(self) -> Any:
        return f.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance
