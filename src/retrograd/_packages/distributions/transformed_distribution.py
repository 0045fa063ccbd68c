"""torch.distributions.TransformedDistribution"""
from __future__ import annotations

from typing import Any

from retrograd._tensor.size import Size
from retrograd.autograd import no_grad

from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import EMPTY, sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    """Draws of base_distribution, passed through `transforms`: a Transform, or a list applied in order.

    For y = t(x) the density is that of x over |det dy/dx|.  ValueError for other transforms, and for a base whose shape has
    fewer dims than they need.
    """

    arg_constraints: Any = {}
    _params = {}

    def __init__(self, base_distribution: Any, transforms: Any, validate_args: bool | None = None) -> None:
        if isinstance(transforms, Transform):
            transforms = [transforms]
        elif not isinstance(transforms, list):
            raise ValueError(f"transforms must be a Transform or list, but was {transforms}")
        elif not all(isinstance(t, Transform) for t in transforms):
            raise ValueError("transforms must be a Transform or a list of Transforms")
        self.transforms = transforms
        whole = ComposeTransform(transforms)
        before, after = whole.domain.event_dim, whole.codomain.event_dim
        shape, dims = base_distribution.batch_shape + base_distribution.event_shape, len(base_distribution.event_shape)
        if len(shape) < before:
            raise ValueError(f"base_distribution needs to have shape with size at least {before}, but got {shape}.")
        made = whole.forward_shape(shape)
        wide = whole.inverse_shape(made)        # of the base, once the transforms' parameters are broadcast
        if shape != wide:
            base_distribution = base_distribution.expand(wide[:len(wide) - dims])
        if before > dims:
            base_distribution = Independent(base_distribution, before - dims)
        self.base_dist = base_distribution
        cut = len(made) - max(after, dims + after - before)
        if cut < 0:
            raise AssertionError(f"forward_shape length {len(made)} must be >= event_dim {len(made) - cut}")
        super().__init__(made[:cut], made[cut:], validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._family(_instance)
        self._widen(new, batch_shape)
        batch_shape = Size(batch_shape)
        shape = ComposeTransform(self.transforms).inverse_shape(batch_shape + self.event_shape)
        new.base_dist = self.base_dist.expand(shape[:len(shape) - len(self.base_dist.event_shape)])
        new.transforms = self.transforms
        return self._begun(new, batch_shape, self.event_shape)

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        if not self.transforms:
            return self.base_dist.support
        last = self.transforms[-1].codomain
        more = len(self.event_shape) - last.event_dim
        return constraints.independent(last, more) if more > 0 else last

    @property
    def has_rsample(self) -> Any:
        return self.base_dist.has_rsample

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        with no_grad():
            return self._forwards(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        return self._forwards(self.base_dist.rsample(sample_shape))

    def _forwards(self, x: Any) -> Any:
        for transform in self.transforms:
            x = transform(x)
        return x

    def log_prob(self, value: Any) -> Any:
        """log_prob of the base, less the logarithm of the volume change"""
        if self._validate_args:
            self._validate_sample(value)
        dims, total, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            total = total - sum_rightmost(transform.log_abs_det_jacobian(x, y), dims - transform.domain.event_dim)
            y = x
        return total + sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _monotonize_cdf(self, value: Any) -> Any:
        """value, or 1 - value where the transforms turn the line round"""
        sign = ComposeTransform(self.transforms).sign
        return value if isinstance(sign, int) and sign == 1 else sign * (value - 0.5) + 0.5

    def cdf(self, value: Any) -> Any:
        for transform in reversed(self.transforms):
            value = transform.inv(value)
        if self._validate_args:
            self.base_dist._validate_sample(value)
        return self._monotonize_cdf(self.base_dist.cdf(value))

    def icdf(self, value: Any) -> Any:
        return self._forwards(self.base_dist.icdf(self._monotonize_cdf(value)))
