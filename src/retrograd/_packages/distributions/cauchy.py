"""torch.distributions.Cauchy"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from ._located import LocScale
from .distribution import Distribution
from .utils import EMPTY

__all__ = ["Cauchy"]


class Cauchy(LocScale, Distribution):
    """Cauchy distribution: density 1 / (pi scale (1 + ((x - loc) / scale)^2)). It has no mean and no variance.

    Parameters: loc, real, the median; scale > 0, half the width at half the maximum.
    Support: all real numbers.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    _params = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args)

    @property
    def mean(self) -> Any:
        return f.full(self._extended_shape(), math.nan, dtype=self.loc.dtype)

    @property
    def variance(self) -> Any:
        return f.full(self._extended_shape(), math.inf, dtype=self.loc.dtype)

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        eps = f.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).cauchy_()
        return self.loc + eps * self.scale

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -math.log(math.pi) - self.scale.log() - (((value - self.loc) / self.scale) ** 2).log1p()

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return f.atan((value - self.loc) / self.scale) / math.pi + 0.5

    def icdf(self, value: Any) -> Any:
        return f.tan(math.pi * (value - 0.5)) * self.scale + self.loc

    def entropy(self) -> Any:
        return math.log(4 * math.pi) + self.scale.log()
