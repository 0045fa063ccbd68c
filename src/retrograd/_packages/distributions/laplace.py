"""torch.distributions.Laplace"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd._tensor import dtypes

from ._located import LocScale
from .distribution import Distribution
from .utils import EMPTY

__all__ = ["Laplace"]


class Laplace(LocScale, Distribution):
    """Laplace distribution: density exp(-|x - loc| / scale) / (2 scale).

    Parameters: loc, real, the mean; scale > 0.
    Support: all real numbers.  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    _params = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(loc, scale, validate_args)

    @property
    def variance(self) -> Any:
        return 2 * self.scale.pow(2)

    @property
    def stddev(self) -> Any:
        return (2**0.5) * self.scale

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        eps = dtypes.finfo(self.loc.dtype).eps
        u = f.empty(self._extended_shape(sample_shape), dtype=self.loc.dtype).uniform_(eps - 1, 1)
        return self.loc - self.scale * u.sign() * f.log1p(-u.abs())

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return -f.log(2 * self.scale) - f.abs(value - self.loc) / self.scale

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        off = value - self.loc
        return 0.5 - 0.5 * off.sign() * f.expm1(-off.abs() / self.scale)

    def icdf(self, value: Any) -> Any:
        off = value - 0.5
        return self.loc - self.scale * off.sign() * f.log1p(-2 * off.abs())

    def entropy(self) -> Any:
        return 1 + f.log(2 * self.scale)
