"""torch.distributions.OneHotCategorical and its straight-through form"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd._tensor.size import Size
from retrograd.nn.functional import one_hot

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import EMPTY

__all__ = ["OneHotCategorical", "OneHotCategoricalStraightThrough"]


class OneHotCategorical(Distribution):
    """Categorical(probs, logits), as one-hot vectors: P(category k) = probs[..., k].

    Parameters: probs (..., K) of categories, normalized to sum to 1, or their logarithms logits up to a constant.
    Support: vectors (..., K) with one 1 and otherwise 0.  ValueError for other parameters and, in log_prob, other values
    (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.one_hot
    has_enumerate_support = True
    _params = {"_categorical": 0}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical = Categorical(probs, logits)
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def _param(self) -> Any:
        return self._categorical._param

    @property
    def probs(self) -> Any:
        """Probabilities, along the last dim."""
        return self._categorical.probs

    @property
    def logits(self) -> Any:
        """Log probabilities."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    @property
    def mean(self) -> Any:
        return self.probs

    @property
    def mode(self) -> Any:
        return one_hot(self.probs.argmax(dim=-1), self.probs.shape[-1]).to(self.probs)

    @property
    def variance(self) -> Any:
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        return one_hot(self._categorical.sample(Size(sample_shape)), self._categorical._num_events).to(self.probs)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._categorical.log_prob(value.max(-1)[1])

    def entropy(self) -> Any:
        return self._categorical.entropy()

    def enumerate_support(self, expand: bool = True) -> Any:
        n, batch = self.event_shape[0], self.batch_shape
        values = f.eye(n, dtype=self._param.dtype).view((n, *(1,) * len(batch), n))
        return values.expand((n, *batch, n)) if expand else values


class OneHotCategoricalStraightThrough(OneHotCategorical):
    """OneHotCategorical(probs, logits) whose rsample passes its gradient on to probs.   Bengio, Leonard, Courville 2013"""

    has_rsample = True

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        return self.sample(sample_shape) + (self.probs - self.probs.detach())
