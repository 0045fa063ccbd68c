"""torch.distributions.Geometric"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd._tensor import dtypes
from retrograd.autograd import no_grad
from retrograd.nn.functional import binary_cross_entropy_with_logits

from . import constraints
from ._chances import Odds
from .utils import EMPTY, broadcast_all

__all__ = ["Geometric"]


class Geometric(Odds):
    """Number of failures before the first success in independent trials: P(k) = (1 - probs)^k probs.

    Parameters: probs in (0, 1] or logits (real, log odds).
    Support: 0, 1, 2, ....  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _params = {"probs": 0, "logits": 0}
    _kept = ("_given",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take(probs, logits)
        super().__init__(self._param.size(), validate_args=validate_args)
        if self._validate_args and probs is not None and not (self.probs > 0).all():
            value = self.probs
            raise ValueError(
                f"Expected parameter probs ({type(value).__name__} of shape {tuple(value.shape)}) of distribution {self!r} "
                f"to be positive but found invalid values:\n{value.data[~(value > 0)]}")

    @property
    def mean(self) -> Any:
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Any:
        return f.zeros_like(self.probs)

    @property
    def variance(self) -> Any:
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        shape = self._extended_shape(sample_shape)
        with no_grad():
            u = f.empty(shape, dtype=self.probs.dtype).uniform_(dtypes.finfo(self.probs.dtype).tiny, 1)
            return (u.log() / (-self.probs).log1p()).floor()

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value, probs = broadcast_all(value, self.probs)
        rest = probs.masked_fill((probs == 1) & (value == 0), 0)    # 0 log 0 is 0
        return value * (-rest).log1p() + self.probs.log()

    def entropy(self) -> Any:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
