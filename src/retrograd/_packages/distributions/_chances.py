"""What distributions with a parameter given as probs or logits share."""
from __future__ import annotations

from typing import Any

from .distribution import Distribution
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

BOTH = "Either `probs` or `logits` must be specified, but not both."


class Odds(Distribution):
    """probs, or logits: their log odds (for several outcomes, log probabilities up to a constant).

    One of them is given; the other is made when asked for.   `_binary`: of two outcomes.
    """

    _binary = True
    _given: str

    def _take(self, probs: Any, logits: Any, *others: Any) -> Any:
        """Set the one that is not None, broadcast with others, which are returned."""
        if (probs is None) == (logits is None):
            raise ValueError(BOTH)
        self._given = "logits" if probs is None else "probs"
        *rest, value = broadcast_all(*others, logits if probs is None else probs)
        setattr(self, self._given, value)
        return rest

    @property
    def _param(self) -> Any:
        return getattr(self, self._given)

    def _new(self, *args: Any, **kwargs: Any) -> Any:
        return self._param.new(*args, **kwargs)

    @lazy_property
    def logits(self) -> Any:
        """Log odds."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Any:
        """Probabilities."""
        return logits_to_probs(self.logits, is_binary=self._binary)


class Chances(Odds):
    """Those that tell the parameter's shape."""

    @property
    def param_shape(self) -> Any:
        """The shape of the parameter."""
        return self._param.size()


def along(values: Any, dist: Any, expand: bool) -> Any:
    """All values (n,) of a discrete distribution: (n, 1, ..., 1), or (n, *batch_shape)."""
    values = values.view((-1,) + (1,) * len(dist.batch_shape))
    return values.expand((-1, *dist.batch_shape)) if expand else values
