"""torch.distributions.FisherSnedecor"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd._tensor import dtypes

from . import constraints
from .distribution import Distribution
from .gamma import Gamma
from .utils import EMPTY, broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    """F distribution: (X1 / df1) / (X2 / df2) for independent chi-squared X1, X2 of df1 and df2 degrees of freedom.

    Density proportional to x ** (df1 / 2 - 1) (1 + x df1 / df2) ** (-(df1 + df2) / 2).

    Parameters: df1, df2 > 0.
    Support: x > 0.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _params = {"df1": 0, "df2": 0, "_gamma1": 0, "_gamma2": 0}

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1 = Gamma(self.df1 * 0.5, self.df1)
        self._gamma2 = Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.size(), validate_args=validate_args)

    def _beyond(self, least: float) -> Any:
        """df2, nan where it is least or less"""
        return self.df2.masked_fill(self.df2 <= least, math.nan)

    @property
    def mean(self) -> Any:
        df2 = self._beyond(2)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Any:
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return mode.masked_fill(self.df1 <= 2, math.nan)

    @property
    def variance(self) -> Any:
        df2 = self._beyond(4)
        return 2 * df2.pow(2) * (self.df1 + df2 - 2) / (self.df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        shape = self._extended_shape(sample_shape)
        above = self._gamma1.rsample(sample_shape).view(shape)
        below = self._gamma2.rsample(sample_shape).view(shape)
        tiny = dtypes.finfo(below.dtype).tiny
        return (above / below.clamp_(min=tiny)).clamp_(min=tiny)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        scale = (a + b).lgamma() - a.lgamma() - b.lgamma()
        return scale + (a * ratio.log() + (a - 1) * f.log(value)) - (a + b) * f.log1p(ratio * value)
