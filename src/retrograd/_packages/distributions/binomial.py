"""torch.distributions.Binomial"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd._functions.gammas import binomial
from retrograd.autograd import no_grad

from . import constraints
from ._chances import Chances, along
from .utils import EMPTY

__all__ = ["Binomial"]


class Binomial(Chances):
    """Number of successes in n = total_count independent trials: P(k) = n! / (k! (n - k)!) probs^k (1 - probs)^(n - k).

    Parameters: total_count, a whole number >= 0; probs in [0, 1] or logits (real, log odds).
    Support: 0, 1, ..., total_count.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer, "probs": constraints.unit_interval, "logits": constraints.real}
    has_enumerate_support = True
    _params = {"total_count": 0, "probs": 0, "logits": 0}
    _kept = ("_given",)

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        counts, = self._take(probs, logits, total_count)
        self.total_count = counts.type_as(self._param)
        super().__init__(self._param.size(), validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Any:
        return self.total_count * self.probs

    @property
    def mode(self) -> Any:
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            return binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Any) -> Any:
        """log of n! / (k! (n - k)!), plus k logits - n log(1 + exp(logits)), which does not overflow"""
        if self._validate_args:
            self._validate_sample(value)
        n, z = self.total_count, self.logits
        above = (z.clamp(min=0) + z - z.clamp(max=0)) / 2       # max(z, 0), with the slope 1/2 at 0
        normal = n * above + n * f.log1p(f.exp(-f.abs(z))) - f.lgamma(n + 1)
        return value * z - f.lgamma(value + 1) - f.lgamma(n - value + 1) - normal

    def _count(self, method: str) -> int:
        count = int(self.total_count.max())
        if not self.total_count.min() == count:
            raise NotImplementedError(f"Inhomogeneous total count not supported by `{method}`.")
        return count

    def entropy(self) -> Any:
        self._count("entropy")
        log_prob = self.log_prob(self.enumerate_support(False))
        return -(f.exp(log_prob) * log_prob).sum(0)

    def enumerate_support(self, expand: bool = True) -> Any:
        return along(f.arange(1 + self._count("enumerate_support"), dtype=self._param.dtype), self, expand)
