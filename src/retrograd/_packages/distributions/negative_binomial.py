"""torch.distributions.NegativeBinomial"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd.autograd import no_grad
from retrograd.nn.functional import logsigmoid

from . import constraints
from ._chances import Chances
from .gamma import Gamma
from .utils import EMPTY, lazy_property

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Chances):
    """Number of successes before the r-th failure in independent trials, r = total_count.

    P(k) = Gamma(k + r) / (k! Gamma(r)) probs^k (1 - probs)^r.

    Parameters: total_count >= 0; probs in [0, 1) or logits (real, log odds), of a success.
    Support: 0, 1, 2, ....  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).

    Draws are Poisson numbers with gamma-distributed rates.
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0), "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real}
    support = constraints.nonnegative_integer
    _params = {"total_count": 0, "probs": 0, "logits": 0}
    _kept = ("_given",)

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        counts, = self._take(probs, logits, total_count)
        self.total_count = counts.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.total_count * f.exp(self.logits)

    @property
    def mode(self) -> Any:
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Any:
        return self.mean / f.sigmoid(-self.logits)

    @lazy_property
    def _gamma(self) -> Any:
        return Gamma(concentration=self.total_count, rate=f.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        with no_grad():
            return f.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        n = self.total_count
        chance = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        orders = -f.lgamma(n + value) + f.lgamma(1.0 + value) + f.lgamma(n)
        return chance - orders.masked_fill(n + value == 0.0, 0.0)       # inf - inf
