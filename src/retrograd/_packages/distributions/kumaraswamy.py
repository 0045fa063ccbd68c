"""torch.distributions.Kumaraswamy.   Kumaraswamy 1980"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Kumaraswamy"]


class Kumaraswamy(TransformedDistribution):
    """Kumaraswamy distribution, close to a beta: CDF 1 - (1 - x ** concentration1) ** concentration0.

    Parameters: concentration1, concentration0 > 0.
    Support: [0, 1].  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _params = {"concentration1": 0, "concentration0": 0}

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        self.concentration1, self.concentration0 = broadcast_all(concentration1, concentration0)
        like = self.concentration0
        super().__init__(Uniform(f.full_like(like, 0), f.full_like(like, 1), validate_args=validate_args), [
            PowerTransform(exponent=like.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
            PowerTransform(exponent=self.concentration1.reciprocal())], validate_args=validate_args)

    def _moment(self, n: int) -> Any:
        """E x ** n"""
        b, above = self.concentration0, 1 + n / self.concentration1
        return b * f.exp(f.lgamma(above) + f.lgamma(b) - f.lgamma(above + b))

    @property
    def mean(self) -> Any:
        return self._moment(1)

    @property
    def mode(self) -> Any:
        a, b = self.concentration1, self.concentration0
        log_mode = b.reciprocal() * (-b).log1p() - (-b * a).log1p()
        return log_mode.masked_fill((b < 1) | (a < 1), math.nan).exp()

    @property
    def variance(self) -> Any:
        return self._moment(2) - f.pow(self.mean, 2)

    def entropy(self) -> Any:
        a, b = self.concentration1, self.concentration0
        harmonic = f.digamma(b + 1) + euler_constant
        return (1 - b.reciprocal()) + (1 - a.reciprocal()) * harmonic - f.log(a) - f.log(b)
