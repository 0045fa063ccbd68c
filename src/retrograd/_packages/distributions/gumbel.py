"""torch.distributions.Gumbel"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd._tensor import dtypes

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    """Gumbel distribution, the limit law of maxima: CDF exp(-exp(-(x - loc) / scale)), mean loc + 0.5772 scale.

    Parameters: loc, real, the location (mode); scale > 0.
    Support: all real numbers.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _params = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = dtypes.finfo(self.loc.dtype)
        ends = f.full_like(self.loc, info.tiny), f.full_like(self.loc, 1 - info.eps)
        super().__init__(Uniform(*ends, validate_args=validate_args), [
            ExpTransform().inv, AffineTransform(loc=0, scale=-f.ones_like(self.scale)),
            ExpTransform().inv, AffineTransform(loc=loc, scale=-self.scale)], validate_args=validate_args)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Any:
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Any:
        return self.loc

    @property
    def stddev(self) -> Any:
        return (math.pi / math.sqrt(6)) * self.scale

    @property
    def variance(self) -> Any:
        return self.stddev.pow(2)

    def entropy(self) -> Any:
        return self.scale.log() + (1 + euler_constant)
