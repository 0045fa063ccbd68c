"""torch.distributions.StudentT"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import EMPTY, broadcast_all, standard_normal

__all__ = ["StudentT"]


class StudentT(Distribution):
    """Student's t distribution: loc + scale X / sqrt(Y / df) for standard normal X and chi-squared Y with df degrees of
    freedom. With z = (x - loc) / scale its density is proportional to (1 + z^2 / df) ** (-(df + 1) / 2).

    Parameters: df > 0; loc, real; scale > 0.
    Support: all real numbers.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _params = {"df": 0, "loc": 0, "scale": 0, "_chi2": 0}

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.loc.masked_fill(self.df <= 1, math.nan)

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def variance(self) -> Any:
        df = self.df
        fine = f.where(df > 2, df, 3.0)
        return f.where(df > 2, self.scale.pow(2) * fine / (fine - 2), f.where(df > 1, math.inf, math.nan).to(df.dtype))

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        x = standard_normal(self._extended_shape(sample_shape), self.df)
        y = self._chi2.rsample(sample_shape)
        return self.loc + self.scale * (x * f.rsqrt(y / self.df))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        df, y = self.df, (value - self.loc) / self.scale
        normal = (self.scale.log() + 0.5 * df.log() + 0.5 * math.log(math.pi) + f.lgamma(0.5 * df)
                  - f.lgamma(0.5 * (df + 1.0)))
        return -0.5 * (df + 1.0) * f.log1p(y**2.0 / df) - normal

    def entropy(self) -> Any:
        df, above = self.df, 0.5 * (self.df + 1)
        log_beta = f.lgamma(0.5 * df) + math.lgamma(0.5) - f.lgamma(above)
        return self.scale.log() + above * (f.digamma(above) - f.digamma(0.5 * df)) + 0.5 * df.log() + log_beta
