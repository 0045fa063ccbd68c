"""torch.distributions.Categorical"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd._tensor import dtypes
from retrograd._tensor.size import Size

from . import constraints
from ._chances import BOTH, Chances, along
from .utils import EMPTY

__all__ = ["Categorical"]


class Categorical(Chances):
    """One of the categories 0 .. K-1: P(k) = probs[..., k].

    Parameters: probs (..., K) of categories, normalized to sum to 1, or their logarithms logits up to a constant.
    Support: 0 .. K-1.  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _binary = False
    _params = {"probs": 1, "logits": 1}
    _kept = ("_given", "_num_events")

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if (probs is None) == (logits is None):
            raise ValueError(BOTH)
        self._given = "logits" if probs is None else "probs"
        value = logits if probs is None else probs
        if value.dim() < 1:
            raise ValueError(f"`{self._given}` parameter must be at least one-dimensional.")
        if probs is None:
            self.logits = logits - logits.logsumexp(dim=-1, keepdim=True)
        else:
            self.probs = probs / probs.sum(-1, keepdim=True)
        self._num_events = value.shape[-1]
        super().__init__(value.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Any:
        return f.full(self._extended_shape(), float("nan"), dtype=self.probs.dtype)

    @property
    def mode(self) -> Any:
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Any:
        return self.mean

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        sample_shape = Size(sample_shape)
        drawn = f.multinomial(self.probs.reshape(-1, self._num_events), sample_shape.numel(), True)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        at, logs = value.long().unsqueeze(-1), self.logits
        if value.shape != logs.shape[:-1]:
            at, logs = f.broadcast_tensors(at, logs)
            at = at[..., :1]
        return logs.gather(-1, at).squeeze(-1)

    def entropy(self) -> Any:
        finite = f.clamp(self.logits, min=dtypes.finfo(self.logits.dtype).min)
        return -(finite * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Any:
        return along(f.arange(self._num_events, dtype=dtypes.int64), self, expand)
