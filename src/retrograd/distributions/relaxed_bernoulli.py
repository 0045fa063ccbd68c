"""torch.distributions.RelaxedBernoulli.   Maddison, Mnih, Teh 2017; Jang, Gu, Poole 2017"""
from __future__ import annotations

from typing import Any

from .. import _functions as f
from . import constraints
from ._chances import Chances
from ._relaxed import Relaxed
from .transforms import SigmoidTransform
from .utils import EMPTY, broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Chances):
    """The log odds of RelaxedBernoulli: (logits + logistic noise) / temperature."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    _params = {"probs": 0, "logits": 0}
    _kept = ("_given", "temperature")

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        shape = self._extended_shape(sample_shape)
        probs = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(f.rand(shape, dtype=probs.dtype))
        return (u.log() - (-u).log1p() + probs.log() - (-probs).log1p()) / self.temperature

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        off = logits - value.mul(self.temperature)
        return self.temperature.log() + off - 2 * off.exp().log1p()


class RelaxedBernoulli(Relaxed):
    """Numbers in (0, 1), near 0 or 1 the lower the temperature, and differentiable in probs or logits."""

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _params = {}

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args)
