"""torch.distributions.VonMises"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd._tensor import dtypes
from retrograd._tensor.size import Size
from retrograd.autograd import no_grad
from retrograd.special import i0e, i1e

from . import constraints
from ._located import Located
from .distribution import Distribution
from .utils import EMPTY, broadcast_all, lazy_property

__all__ = ["VonMises"]


class VonMises(Located, Distribution):
    """Von Mises distribution of angles: density proportional to exp(concentration cos(x - loc)).

    Parameters: loc, an angle; concentration > 0.
    Support: all real numbers, as angles in radians; draws lie in [-pi, pi).  ValueError for other parameters and, in
    log_prob, other values (unless validate_args=False).
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _params = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, Size(), validate_args)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        k = self.concentration
        return k * f.cos(value - self.loc) - math.log(2 * math.pi) - (i0e(k).log() + k)

    @lazy_property
    def _loc(self) -> Any:
        return self.loc.to(dtypes.float64)

    @lazy_property
    def _concentration(self) -> Any:
        return self.concentration.to(dtypes.float64)

    @lazy_property
    def _proposal_r(self) -> Any:
        """The parameter of the wrapped Cauchy distribution that proposals are drawn from."""
        k = self._concentration
        tau = 1 + (1 + 4 * k**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * k)
        return f.where(k < 1e-5, 1 / k + k, (1 + rho**2) / (2 * rho))

    @no_grad()
    def sample(self, sample_shape: Any = EMPTY) -> Any:
        """By rejection, in double: all are proposed anew until each has been accepted.   Best and Fisher 1979"""
        shape = self._extended_shape(sample_shape)
        x, done = f.zeros(shape, dtype=dtypes.float64), f.zeros(shape, dtype=dtypes.bool)
        r = self._proposal_r
        while not done.all():
            u1, u2, u3 = f.rand((3, *shape), dtype=dtypes.float64).unbind()
            z = f.cos(math.pi * u1)
            cosine = (1 + r * z) / (r + z)
            c = self._concentration * (r - cosine)
            accept = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
            x = f.where(accept, (u3 - 0.5).sign() * cosine.acos(), x)
            done = done | accept
        return ((x + math.pi + self._loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Any:
        """The circular mean"""
        return self.loc

    @lazy_property
    def variance(self) -> Any:
        """The circular variance, 1 - I1(concentration) / I0(concentration)"""
        return 1 - i1e(self.concentration) / i0e(self.concentration)
