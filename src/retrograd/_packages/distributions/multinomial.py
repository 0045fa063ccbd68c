"""torch.distributions.Multinomial"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd._tensor.size import Size

from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution
from .utils import EMPTY, broadcast_all

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    """How often each category comes up in total_count draws of Categorical(probs, logits).

    P(counts) = total_count! times the product of probs_i ** counts_i / counts_i!.

    Parameters: total_count, an int >= 0; probs (..., K) of categories, normalized to sum to 1, or their logarithms logits
    up to a constant.
    Support: counts (..., K) that sum to total_count.  ValueError for other parameters and, in log_prob, other values
    (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    _params = {"_categorical": 0}
    _kept = ("total_count",)

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise NotImplementedError("inhomogeneous total_count is not supported")
        self.total_count = total_count
        self._categorical = Categorical(probs=probs, logits=logits)
        Binomial(total_count, probs=self.probs)         # refuses a negative total_count, as PyTorch's does
        super().__init__(self._categorical.batch_shape, self._categorical.param_shape[-1:], validate_args=validate_args)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._categorical._new(*args, **kwargs)

    @property
    def mean(self) -> Any:
        return self.probs * self.total_count

    @property
    def variance(self) -> Any:
        return self.total_count * self.probs * (1 - self.probs)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        return constraints.multinomial(self.total_count)

    @property
    def logits(self) -> Any:
        """Log probabilities."""
        return self._categorical.logits

    @property
    def probs(self) -> Any:
        """Probabilities, along the last dim."""
        return self._categorical.probs

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._categorical.param_shape

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        sample_shape = Size(sample_shape)
        picks = self._categorical.sample(Size((self.total_count,)) + sample_shape).movedim(0, -1)
        counts = f.zeros(self._extended_shape(sample_shape), dtype=picks.dtype)
        return counts.scatter_add_(-1, picks, f.ones_like(picks)).type_as(self.probs)

    def entropy(self) -> Any:
        """Of n categories drawn, less that of their order; each count is binomial"""
        n = f.tensor(self.total_count)
        binomial = Binomial(total_count=self.total_count, probs=self.probs)
        counts = binomial.enumerate_support(expand=False)[1:]
        orders = f.exp(binomial.log_prob(counts)) * f.lgamma(counts + 1)
        return n * self._categorical.entropy() - f.lgamma(n + 1) + orders.sum((0, -1))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        logits, value = broadcast_all(self.logits, value)
        logits = logits.masked_fill((value == 0) & (logits == -float("inf")), 0)     # 0 log 0 is 0
        orders = f.lgamma(value.sum(-1) + 1) - f.lgamma(value + 1).sum(-1)
        return orders + (logits * value).sum(-1)
