"""torch.distributions.GeneralizedPareto"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from . import constraints
from .distribution import Distribution
from .utils import EMPTY, broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    """Generalized Pareto distribution: P(X > loc + scale z) = (1 + c z) ** (-1 / c), c = concentration; exp(-z) for c = 0.

    Parameters: loc, real; scale > 0; concentration, real.
    Support: x >= loc; for concentration < 0 also x <= loc - scale / concentration.  ValueError for other parameters and,
    in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _params = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        return self.icdf(f.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype))

    def _parts(self) -> tuple[Any, Any]:
        """(where concentration is 0, concentration or 1 there)"""
        zero = f.isclose(self.concentration, f.zeros_like(self.concentration))
        return zero, f.where(zero, f.ones_like(self.concentration), self.concentration)

    def _z(self, x: Any) -> Any:
        return (x - self.loc) / self.scale

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, c = self._parts()
        power = 1 / c + f.ones_like(z)
        return -self.scale.log() - f.where(zero, z, f.where(power == 0, power, power * f.log1p(c * z)))

    def log_survival_function(self, value: Any) -> Any:
        """The logarithm of the probability of more than value."""
        if self._validate_args:
            self._validate_sample(value)
        z = self._z(value)
        zero, c = self._parts()
        return f.where(zero, -z, -f.log1p(c * z) / c)

    def log_cdf(self, value: Any) -> Any:
        """The logarithm of cdf."""
        return f.log1p(-f.exp(self.log_survival_function(value)))

    def cdf(self, value: Any) -> Any:
        return f.exp(self.log_cdf(value))

    def icdf(self, value: Any) -> Any:
        zero, c = self._parts()
        log_rest = f.log1p(-value)
        return f.where(zero, self.loc - self.scale * log_rest, self.loc + self.scale / c * f.expm1(-c * log_rest))

    @property
    def mean(self) -> Any:
        fine = self.concentration < 1
        return f.where(fine, self.loc + self.scale / (1 - f.where(fine, self.concentration, 0.5)), math.nan)

    @property
    def variance(self) -> Any:
        fine = self.concentration < 0.5
        c = f.where(fine, self.concentration, 0.25)
        return f.where(fine, self.scale**2 / ((1 - c) ** 2 * (1 - 2 * c)), math.nan)

    def entropy(self) -> Any:
        return f.broadcast_to(f.log(self.scale) + self.concentration + 1, self._batch_shape)

    @property
    def mode(self) -> Any:
        return self.loc

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        top = f.where(self.concentration < 0, self.loc - self.scale / self.concentration, math.inf)
        return constraints.interval(self.loc, top)
