"""torch.distributions.ContinuousBernoulli.   Loaiza-Ganem and Cunningham 2019"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd.autograd import no_grad
from retrograd.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._chances import BOTH, Chances
from .exp_family import ExponentialFamily
from .utils import EMPTY, broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Chances, ExponentialFamily):
    """Density C probs^x (1 - probs)^(1 - x), with C so that it integrates to 1.

    Parameters: probs in [0, 1] or logits (real, log odds); lims, the range of probs in which formulas that divide by 2
    probs - 1 are replaced by their Taylor series at 1/2.
    Support: [0, 1].  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _mean_carrier_measure = 0
    _params = {"probs": 0, "logits": 0}
    _kept = ("_given", "_lims")

    def __init__(self, probs: Any = None, logits: Any = None, lims: Any = (0.499, 0.501),
                 validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(BOTH)
        self._take(probs, logits)
        if probs is not None:
            if validate_args is not None and not self.arg_constraints["probs"].check(self.probs).all():
                raise ValueError("The parameter probs has invalid values")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.size(), validate_args=validate_args)

    @lazy_property
    def probs(self) -> Any:
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside_unstable_region(self) -> Any:
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut_probs(self) -> Any:
        """probs, replaced by lims[0] where a series is used instead, so that nothing becomes nan"""
        return f.where(self._outside_unstable_region(), self.probs, self._lims[0] * f.ones_like(self.probs))

    def _cont_bern_log_norm(self) -> Any:
        """log C = log(2 artanh(1 - 2 probs) / (1 - 2 probs))"""
        p = self._cut_probs()
        low = p <= 0.5
        gap = f.where(low, f.log1p(-2.0 * f.where(low, p, 0.0)), f.log(2.0 * f.where(low, 1.0, p) - 1.0))
        exact = f.log(f.abs(f.log1p(-p) - f.log(p))) - gap
        x = f.pow(self.probs - 0.5, 2)
        series = math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * x) * x
        return f.where(self._outside_unstable_region(), exact, series)

    @property
    def mean(self) -> Any:
        p = self._cut_probs()
        exact = p / (2.0 * p - 1.0) + 1.0 / (f.log1p(-p) - f.log(p))
        x = self.probs - 0.5
        series = 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * f.pow(x, 2)) * x
        return f.where(self._outside_unstable_region(), exact, series)

    @property
    def stddev(self) -> Any:
        return f.sqrt(self.variance)

    @property
    def variance(self) -> Any:
        p = self._cut_probs()
        exact = p * (p - 1.0) / f.pow(1.0 - 2.0 * p, 2) + 1.0 / f.pow(f.log1p(-p) - f.log(p), 2)
        x = f.pow(self.probs - 0.5, 2)
        series = 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * x) * x
        return f.where(self._outside_unstable_region(), exact, series)

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        return self.icdf(f.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        p = self._cut_probs()
        exact = (f.pow(p, value) * f.pow(1.0 - p, 1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = f.where(self._outside_unstable_region(), exact, value)
        return f.where(value <= 0.0, f.zeros_like(value), f.where(value >= 1.0, f.ones_like(value), inside))

    def icdf(self, value: Any) -> Any:
        p = self._cut_probs()
        exact = (f.log1p(-p + value * (2.0 * p - 1.0)) - f.log1p(-p)) / (f.log(p) - f.log1p(-p))
        return f.where(self._outside_unstable_region(), exact, value)

    def entropy(self) -> Any:
        log_0, log_1 = f.log1p(-self.probs), f.log(self.probs)
        return self.mean * (log_0 - log_1) - self._cont_bern_log_norm() - log_0

    @property
    def _natural_params(self) -> Any:
        return (self.logits,)

    def _log_normalizer(self, x: Any) -> Any:
        """log((exp(x) - 1) / x)"""
        low, high = (limit - 0.5 for limit in self._lims)
        outside = (x <= low) | (x > high)
        z = f.where(outside, x, low * f.ones_like(x))
        exact = f.log(f.abs(f.expm1(z))) - f.log(f.abs(z))
        return f.where(outside, exact, 0.5 * x + f.pow(x, 2) / 24.0 - f.pow(x, 4) / 2880.0)
