"""torch.distributions.MixtureSameFamily"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd.autograd import no_grad

from . import constraints
from .categorical import Categorical
from .distribution import Distribution
from .utils import EMPTY

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    """A mixture: mixture_distribution, a Categorical, picks a component along component_distribution's last batch dim.

    Density: the sum over components k of P(k) times component k's density.  ValueError if the two are not distributions, or
    their shapes do not match.
    """

    arg_constraints: Any = {}
    _params = {"_component_distribution": 1, "_mixture_distribution": 0}
    _kept = ("_num_component", "_event_ndims")

    def __init__(self, mixture_distribution: Any, component_distribution: Any, validate_args: bool | None = None) -> None:
        self._mixture_distribution = mixture_distribution
        self._component_distribution = component_distribution
        if not isinstance(mixture_distribution, Categorical):
            raise ValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component_distribution, Distribution):
            raise ValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        picks, batch = mixture_distribution.batch_shape, component_distribution.batch_shape[:-1]
        if any(a != b and 1 not in (a, b) for a, b in zip(reversed(picks), reversed(batch))):
            raise ValueError(f"`mixture_distribution.batch_shape` ({picks}) is not compatible with "
                             f"`component_distribution.batch_shape`({batch})")
        k, found = mixture_distribution.logits.shape[-1], component_distribution.batch_shape[-1]
        if k != found:
            raise ValueError(f"`mixture_distribution component` ({k}) does not equal "
                             f"`component_distribution.batch_shape[-1]` ({found})")
        self._num_component = k
        event = component_distribution.event_shape
        self._event_ndims = len(event)
        super().__init__(batch_shape=batch, event_shape=event, validate_args=validate_args)

    @constraints.dependent_property
    def support(self) -> Any:
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Any:
        """The Categorical that picks a component."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Any:
        """The components, along the last batch dim."""
        return self._component_distribution

    def _weighted(self, values: Any) -> Any:
        """The mean over components of values (*batch, K, *event)."""
        probs = self._pad_mixture_dimensions(self.mixture_distribution.probs)
        return f.sum(probs * values, dim=-1 - self._event_ndims)

    @property
    def mean(self) -> Any:
        return self._weighted(self.component_distribution.mean)

    @property
    def variance(self) -> Any:
        """The mean of the variances and the variance of the means"""
        apart = (self.component_distribution.mean - self._pad(self.mean)).pow(2.0)
        return self._weighted(self.component_distribution.variance) + self._weighted(apart)

    def cdf(self, x: Any) -> Any:
        return f.sum(self.component_distribution.cdf(self._pad(x)) * self.mixture_distribution.probs, dim=-1)

    def log_prob(self, x: Any) -> Any:
        if self._validate_args:
            self._validate_sample(x)
        logs = self.component_distribution.log_prob(self._pad(x))
        return f.logsumexp(logs + f.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        with no_grad():
            along = len(sample_shape) + len(self.batch_shape)
            picks = self.mixture_distribution.sample(sample_shape)
            drawn = self.component_distribution.sample(sample_shape)
            event = self.event_shape
            at = picks.reshape(picks.shape + (1,) * (len(event) + 1)).repeat((1,) * (picks.dim() + 1) + tuple(event))
            return f.gather(drawn, along, at).squeeze(along)

    def _pad(self, x: Any) -> Any:
        return x.unsqueeze(-1 - self._event_ndims)

    def _pad_mixture_dimensions(self, x: Any) -> Any:
        """(*batch, K) -> (*batch, 1, ..., K, 1, ...)"""
        picks = len(self.mixture_distribution.batch_shape)
        more = 0 if picks == 1 else len(self.batch_shape) - picks
        return x.reshape(x.shape[:-1] + (1,) * more + x.shape[-1:] + (1,) * self._event_ndims)

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
