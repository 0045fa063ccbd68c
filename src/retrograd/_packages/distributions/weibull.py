"""torch.distributions.Weibull"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f

from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    """Weibull distribution: P(X > x) = exp(-(x / scale) ** concentration).

    Parameters: scale > 0; concentration (shape) > 0.
    Support: x > 0.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _params = {"scale": 0, "concentration": 0, "concentration_reciprocal": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        self.concentration_reciprocal = self.concentration.reciprocal()
        super().__init__(Exponential(f.ones_like(self.scale), validate_args=validate_args), [
            PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale),
        ], validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.scale * f.exp(f.lgamma(1 + self.concentration_reciprocal))

    @property
    def mode(self) -> Any:
        return self.scale * ((self.concentration - 1) / self.concentration) ** self.concentration.reciprocal()

    @property
    def variance(self) -> Any:
        inverse = self.concentration_reciprocal
        return self.scale.pow(2) * (f.exp(f.lgamma(1 + 2 * inverse)) - f.exp(2 * f.lgamma(1 + inverse)))

    def entropy(self) -> Any:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + f.log(self.scale * inverse) + 1
