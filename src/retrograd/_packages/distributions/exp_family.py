"""torch.distributions.ExponentialFamily: densities exp(t(x) . theta - A(theta) + k(x))."""
from __future__ import annotations

from typing import Any

from retrograd.autograd import grad

from .distribution import Distribution

__all__ = ["ExponentialFamily"]


class ExponentialFamily(Distribution):
    """The base of exponential families: entropies and divergences follow from the derivatives of the log normalizer A.

    Subclasses give `_natural_params` theta, `_log_normalizer` A and `_mean_carrier_measure` E k(x).   Nielsen and Nock 2010
    """

    @property
    def _natural_params(self) -> Any:
        raise NotImplementedError

    def _log_normalizer(self, *natural_params: Any) -> Any:
        raise NotImplementedError

    @property
    def _mean_carrier_measure(self) -> Any:
        raise NotImplementedError

    def entropy(self) -> Any:
        """A(theta) - theta . dA/dtheta - E k(x)"""
        total = -self._mean_carrier_measure
        thetas = [theta.detach().requires_grad_() for theta in self._natural_params]
        normal = self._log_normalizer(*thetas)
        slopes = grad(normal.sum(), thetas, create_graph=True)
        total = total + normal
        for theta, slope in zip(thetas, slopes):
            total = total - (theta * slope).reshape((*self._batch_shape, -1)).sum(-1)
        return total
