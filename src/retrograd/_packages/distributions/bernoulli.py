"""torch.distributions.Bernoulli"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd.autograd import no_grad
from retrograd.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._chances import Chances, along
from .exp_family import ExponentialFamily
from .utils import EMPTY, broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(Chances, ExponentialFamily):
    """1 with probability probs, else 0: P(x) = probs^x (1 - probs)^(1 - x).

    Parameters: probs in [0, 1] or logits (real, log odds).
    Support: 0 and 1.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _mean_carrier_measure = 0
    _params = {"probs": 0, "logits": 0}
    _kept = ("_given",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return (self.probs >= 0.5).to(self.probs).masked_fill(self.probs == 0.5, float("nan"))

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        with no_grad():
            return f.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Any:
        return along(f.arange(2, dtype=self._param.dtype), self, expand)

    @property
    def _natural_params(self) -> Any:
        return (f.logit(self.probs),)

    def _log_normalizer(self, x: Any) -> Any:
        return f.log1p(f.exp(x))
