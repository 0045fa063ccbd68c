"""torch.distributions.Beta"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f

from . import constraints
from .dirichlet import Dirichlet
from .exp_family import ExponentialFamily
from .utils import NUMBER, broadcast_all

__all__ = ["Beta"]


class Beta(ExponentialFamily):
    """Beta distribution: density proportional to x ** (concentration1 - 1) (1 - x) ** (concentration0 - 1).

    Parameters: concentration1, concentration0 > 0.
    Support: [0, 1].  ValueError for other parameters and, in log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"concentration1": constraints.positive, "concentration0": constraints.positive}
    support = constraints.unit_interval
    has_rsample = True
    _params = {"_dirichlet": 0}

    def __init__(self, concentration1: Any, concentration0: Any, validate_args: bool | None = None) -> None:
        if isinstance(concentration1, NUMBER) and isinstance(concentration0, NUMBER):
            both = f.tensor([float(concentration1), float(concentration0)])
        else:
            both = f.stack(broadcast_all(concentration1, concentration0), -1)
        self._dirichlet = Dirichlet(both, validate_args=validate_args)
        super().__init__(self._dirichlet._batch_shape, validate_args=validate_args)

    @property
    def concentration1(self) -> Any:
        """One more than the power of x."""
        return self._dirichlet.concentration[..., 0]

    @property
    def concentration0(self) -> Any:
        """One more than the power of 1 - x."""
        return self._dirichlet.concentration[..., 1]

    @property
    def mean(self) -> Any:
        return self.concentration1 / (self.concentration1 + self.concentration0)

    @property
    def mode(self) -> Any:
        return self._dirichlet.mode[..., 0]

    @property
    def variance(self) -> Any:
        total = self.concentration1 + self.concentration0
        return self.concentration1 * self.concentration0 / (total.pow(2) * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Any:
        return self._dirichlet.rsample(sample_shape).select(-1, 0)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return self._dirichlet.log_prob(f.stack([value, 1.0 - value], -1))

    def entropy(self) -> Any:
        return self._dirichlet.entropy()

    @property
    def _natural_params(self) -> Any:
        return self.concentration1, self.concentration0

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        return f.lgamma(x) + f.lgamma(y) - f.lgamma(x + y)
