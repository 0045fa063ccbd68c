"""biject_to, transform_to: a transform from all real numbers onto a constraint's region.

biject_to(c) is bijective, with a log_abs_det_jacobian: for sampling.  transform_to(c) may be cheaper and need not be
bijective: for optimizing unconstrained parameters.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import constraints as c
from . import transforms as t
from .utils import NUMBER

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


class ConstraintRegistry:
    """{class of a constraint: function from such a constraint to a transform}"""

    def __init__(self) -> None:
        self._registry: dict[Any, Any] = {}
        super().__init__()

    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """register(constraint, factory), or @register(constraint); a class, or one of its objects."""
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        if isinstance(constraint, c.Constraint):
            constraint = type(constraint)
        if not isinstance(constraint, type) or not issubclass(constraint, c.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, but got {constraint}")
        self._registry[constraint] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """A transform to `constraint`."""
        factory = self._registry.get(type(constraint))
        if factory is None:
            raise NotImplementedError(f"Cannot transform {type(constraint).__name__} constraints")
        return factory(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def shifted(bound: Any, direction: int) -> Any:
    return t.ComposeTransform([t.ExpTransform(), t.AffineTransform(bound, direction)])


def between(interval: Any) -> Any:
    low, high = interval.lower_bound, interval.upper_bound
    if isinstance(low, NUMBER) and low == 0 and isinstance(high, NUMBER) and high == 1:
        return t.SigmoidTransform()
    return t.ComposeTransform([t.SigmoidTransform(), t.AffineTransform(low, high - low)])


for registry in biject_to, transform_to:
    def independent(given: Any, registry: Any = registry) -> Any:
        return t.IndependentTransform(registry(given.base_constraint), given.reinterpreted_batch_ndims)

    def cat(given: Any, registry: Any = registry) -> Any:
        return t.CatTransform([registry(part) for part in given.cseq], given.dim, given.lengths)

    def stack(given: Any, registry: Any = registry) -> Any:
        return t.StackTransform([registry(part) for part in given.cseq], given.dim)

    registry.register(c.real, lambda given: t.identity_transform)
    registry.register(c.independent, independent)
    registry.register(c.cat, cat)
    registry.register(c.stack, stack)
    registry.register(c.corr_cholesky, lambda given: t.CorrCholeskyTransform())
    for above in c.greater_than, c.greater_than_eq:
        registry.register(above, lambda given: shifted(given.lower_bound, 1))
    registry.register(c.less_than, lambda given: shifted(given.upper_bound, -1))
    for span in c.interval, c.half_open_interval:
        registry.register(span, between)
biject_to.register(c.simplex, lambda given: t.StickBreakingTransform())
transform_to.register(c.simplex, lambda given: t.SoftmaxTransform())
transform_to.register(c.lower_cholesky, lambda given: t.LowerCholeskyTransform())
for matrices in c.positive_definite, c.positive_semidefinite:
    transform_to.register(matrices, lambda given: t.PositiveDefiniteTransform())
