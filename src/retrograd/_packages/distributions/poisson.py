"""torch.distributions.Poisson"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd.autograd import no_grad

from . import constraints
from .exp_family import ExponentialFamily
from .utils import EMPTY, broadcast_all

__all__ = ["Poisson"]


class Poisson(ExponentialFamily):
    """Poisson distribution: P(k) = rate ** k exp(-rate) / k!.

    Parameters: rate >= 0, the mean.
    Support: 0, 1, 2, ....  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"rate": constraints.nonnegative}
    support = constraints.nonnegative_integer
    _params = {"rate": 0}

    def __init__(self, rate: Any, validate_args: bool | None = None) -> None:
        self.rate, = broadcast_all(rate)
        super().__init__(self.rate.size(), validate_args=validate_args)

    @property
    def mean(self) -> Any:
        return self.rate

    @property
    def mode(self) -> Any:
        return self.rate.floor()

    @property
    def variance(self) -> Any:
        return self.rate

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        with no_grad():
            return f.poisson(self.rate.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        rate, value = broadcast_all(self.rate, value)
        return value.xlogy(rate) - rate - (value + 1).lgamma()

    @property
    def _natural_params(self) -> Any:
        return (f.log(self.rate),)

    def _log_normalizer(self, x: Any) -> Any:
        return f.exp(x)
