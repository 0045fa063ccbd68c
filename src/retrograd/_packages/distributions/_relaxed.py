"""What RelaxedBernoulli and RelaxedOneHotCategorical share."""
from __future__ import annotations

from typing import Any

from .transformed_distribution import TransformedDistribution

__all__: list[str] = []


class Relaxed(TransformedDistribution):
    """A relaxed distribution of logarithms, transformed back."""

    has_rsample = True

    @property
    def temperature(self) -> Any:
        """The temperature: the lower, the closer draws are to the corners."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Any:
        """Log odds, or log probabilities."""
        return self.base_dist.logits

    @property
    def probs(self) -> Any:
        """Probabilities."""
        return self.base_dist.probs
