"""torch.distributions.InverseGamma"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from . import constraints
from .gamma import Gamma
from .transformed_distribution import TransformedDistribution
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(TransformedDistribution):
    """1 / x for gamma-distributed x: CDF Q(concentration, rate / x).

    Parameters: concentration (shape) > 0; rate > 0.
    Support: x > 0.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _params = {}

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Any:
        """The shape of 1 / x."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Any:
        """The scale; the rate of 1 / x."""
        return self.base_dist.rate

    @property
    def mean(self) -> Any:
        return f.where(self.concentration > 1, self.rate / (self.concentration - 1), math.inf)

    @property
    def mode(self) -> Any:
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Any:
        a = self.concentration
        return f.where(a > 2, self.rate.square() / ((a - 1).square() * (a - 2)), math.inf)

    def entropy(self) -> Any:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
