"""torch.distributions.RelaxedBernoulli.   Maddison, Mnih, Teh 2017; Jang, Gu, Poole 2017"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f

from . import constraints
from ._chances import Chances
from ._relaxed import Relaxed
from .transforms import SigmoidTransform
from .utils import EMPTY, broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Chances):
    """The log odds of a RelaxedBernoulli variable: (logits + logistic noise) / temperature.

    Parameters: temperature > 0 (not checked); probs in [0, 1] or logits (real, log odds).
    Support: all real numbers.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

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
    """A differentiable stand-in for Bernoulli: the lower the temperature, the closer draws are to 0 or 1.

    Parameters: temperature > 0 (not checked); probs in [0, 1] or logits (real, log odds).
    Support: (0, 1).  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    _params = {}

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        super().__init__(LogitRelaxedBernoulli(temperature, probs, logits), SigmoidTransform(), validate_args=validate_args)
