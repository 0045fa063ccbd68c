"""What RelaxedBernoulli and RelaxedOneHotCategorical share."""
from __future__ import annotations

from typing import Any

from .transformed_distribution import TransformedDistribution

__all__: list[str] = []


class Relaxed(TransformedDistribution):
    """A base that is soft in its logarithms, transformed back."""

    has_rsample = True

    @property
    def temperature(self) -> Any:
        """How soft."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Logarithms of odds, or of chances."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Chances."""
        return self.base_dist.probs
