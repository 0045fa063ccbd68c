"""torch.distributions.RelaxedOneHotCategorical.   Maddison, Mnih, Teh 2017; Jang, Gu, Poole 2017"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f

from . import constraints
from ._relaxed import Relaxed
from .categorical import Categorical
from .distribution import Distribution
from .transforms import ExpTransform
from .utils import EMPTY, broadcast_all, clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    """The logarithm of a RelaxedOneHotCategorical variable: log_softmax((logits + Gumbel noise) / temperature).

    Parameters: temperature > 0 (not checked); probs (..., K) of categories, normalized to sum to 1, or their logarithms
    logits up to a constant.
    Support: vectors (..., K) whose exponentials sum to 1.  ValueError for other parameters and, in log_prob, other values
    (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _params = {"_categorical": 0}
    _kept = ("temperature",)

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        self.temperature = temperature
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Any:
        """Log probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Probabilities, along the last dim."""
        return self._categorical.probs

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        u = clamp_probs(f.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Any) -> Any:
        k = self._categorical._num_events
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        score = logits - value.mul(self.temperature)
        score = (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1)
        return score + (f.full_like(self.temperature, float(k)).lgamma() - self.temperature.log().mul(-(k - 1)))


class RelaxedOneHotCategorical(Relaxed):
    """A differentiable stand-in for OneHotCategorical: the lower the temperature, the closer draws are to corners.

    Parameters: temperature > 0 (not checked); probs (..., K) of categories, normalized to sum to 1, or their logarithms
    logits up to a constant.
    Support: vectors (..., K) >= 0 that sum to 1.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    _params = {}

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)
