"""What HalfCauchy and HalfNormal share."""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f

from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform

__all__: list[str] = []


class Half(TransformedDistribution):
    """|x| for a base distribution that is symmetric around 0."""

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True

    def __init__(self, base: Any, validate_args: bool | None) -> None:
        super().__init__(base, AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Any:
        """The scale of the whole, unfolded distribution."""
        return self.base_dist.scale

    @property
    def mode(self) -> Any:
        return f.zeros_like(self.scale)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value = f.as_tensor(value, dtype=self.scale.dtype)
        return f.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)
