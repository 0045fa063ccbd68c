"""torch.distributions.constraints: regions of values.  `constraint.check(value)`: for each event, whether it lies inside.

event_dim   how many dims at the end of a value are one event: 1 for a vector
value, x    a tensor
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from retrograd import _functions as f
from retrograd import linalg
from retrograd._engine.modes import modes
from retrograd._kernels import kernel
from retrograd._tensor import dtypes

__all__ = [
    "Constraint", "boolean", "cat", "corr_cholesky", "dependent", "dependent_property", "greater_than", "greater_than_eq",
    "independent", "integer_interval", "interval", "half_open_interval", "is_dependent", "less_than", "lower_cholesky",
    "lower_triangular", "MixtureSameFamilyConstraint", "multinomial", "nonnegative", "nonnegative_integer", "one_hot", "positive",
    "positive_semidefinite", "positive_definite", "positive_integer", "real", "real_vector", "simplex", "square", "stack",
    "symmetric", "unit_interval",
]

quick_bounds = kernel("bounds")
quick_stats = kernel("stats")


class Constraint:
    """A region; is_discrete: whether it consists of separate values."""

    is_discrete: Any = False
    event_dim: Any = 0

    def check(self, value: Any) -> Any:
        """A bool tensor of value's shape without its last event_dim dims."""
        raise NotImplementedError

    def __repr__(self) -> str:
        """The class without its underscore, and its bounds."""
        names = [name for name in ("lower_bound", "upper_bound") if self._shows and hasattr(self, name)]
        bounds = [f"{name}={getattr(self, name)}" for name in names]
        return f"{self.__class__.__name__[1:]}({', '.join(bounds)})"

    _shows = True


class _Dependent(Constraint):
    """A region that depends on other parameters, so it cannot be checked by itself."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim
        super().__init__()

    @property
    def is_discrete(self) -> Any:
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> Any:
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented) -> Any:
        """The same with these given."""
        return _Dependent(is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
                          event_dim=self._event_dim if event_dim is NotImplemented else event_dim)

    def check(self, x: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


def is_dependent(constraint: Any) -> bool:
    """Whether the constraint depends on the values of other parameters."""
    return isinstance(constraint, _Dependent)


class _DependentProperty(property, _Dependent):
    """@dependent_property or @dependent_property(is_discrete=..., event_dim=...): a property fn, a dependent constraint."""

    def __init__(self, fn: Callable[..., Any] | None = None, *, is_discrete: Any = NotImplemented,
                 event_dim: Any = NotImplemented) -> None:
        super().__init__(fn)
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    def __call__(self, fn: Callable[..., Any]) -> Any:  # type: ignore[override]
        return _DependentProperty(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def wants_constraint(base: Any) -> None:
    if not isinstance(base, Constraint):
        raise AssertionError(f"base_constraint must be a Constraint, got {type(base).__name__}")


class _IndependentConstraint(Constraint):
    """base_constraint, with `reinterpreted_batch_ndims` more dims in an event, all of which must lie inside."""

    def __init__(self, base_constraint: Any, reinterpreted_batch_ndims: int) -> None:
        wants_constraint(base_constraint)
        if not isinstance(reinterpreted_batch_ndims, int):
            raise AssertionError(f"reinterpreted_batch_ndims must be an int, got {type(reinterpreted_batch_ndims).__name__}")
        if reinterpreted_batch_ndims < 0:
            raise AssertionError(f"reinterpreted_batch_ndims must be >= 0, got {reinterpreted_batch_ndims}")
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims
        super().__init__()

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        inside = self.base_constraint.check(value)
        if inside.dim() < self.reinterpreted_batch_ndims:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return inside.reshape((*inside.shape[:inside.dim() - self.reinterpreted_batch_ndims], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__[1:]}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"


class MixtureSameFamilyConstraint(Constraint):
    """base_constraint for each component of a mixture: a value must lie inside for all."""

    def __init__(self, base_constraint: Any) -> None:
        wants_constraint(base_constraint)
        self.base_constraint = base_constraint
        super().__init__()

    @property
    def is_discrete(self) -> Any:
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> Any:
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        inside = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        if value.dim() < self.event_dim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return inside.reshape((*inside.shape[:value.dim() - self.event_dim], -1)).all(-1)

    def __repr__(self) -> str:
        return f"{self.__class__.__name__}({self.base_constraint!r})"


class _Boolean(Constraint):
    """0 or 1"""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros and one 1"""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return boolean.check(value).all(-1) & value.sum(-1).eq(1)


class Below(Constraint):
    """A region below a known bound."""

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()


class Above(Constraint):
    """A region above a known bound."""

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()


class Between(Constraint):
    """A region between known bounds."""

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound
        super().__init__()


def whole(inside: Any, value: Any) -> Any:
    """inside, and value has no fraction."""
    return inside & (value % 1 == 0) if value.is_floating_point() else inside


class _IntegerInterval(Between):
    """Whole numbers from lower_bound to upper_bound"""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return whole((self.lower_bound <= value) & (value <= self.upper_bound), value)


class _IntegerLessThan(Below):
    """Whole numbers up to upper_bound"""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return whole(value <= self.upper_bound, value)


class _IntegerGreaterThan(Above):
    """Whole numbers from lower_bound"""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return whole(value >= self.lower_bound, value)


class _Real(Constraint):
    """Everything but nan"""

    def check(self, value: Any) -> Any:
        return value == value


class _GreaterThan(Above):
    """(lower_bound, inf]"""

    def check(self, value: Any) -> Any:
        return self.lower_bound < value


class _GreaterThanEq(Above):
    """[lower_bound, inf]"""

    def check(self, value: Any) -> Any:
        return self.lower_bound <= value


class _LessThan(Below):
    """[-inf, upper_bound)"""

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(Between):
    """[lower_bound, upper_bound]"""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(Between):
    """[lower_bound, upper_bound)"""

    def check(self, value: Any) -> Any:
        return (self.lower_bound <= value) & (value < self.upper_bound)


class _Simplex(Constraint):
    """Vectors without negative elements that sum to 1, within 1e-6"""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Below):
    """Vectors x without negative elements that sum to upper_bound or less"""

    is_discrete = True
    event_dim = 1
    _shows = False

    def check(self, x: Any) -> Any:
        return (x >= 0).all(-1) & (x.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Square matrices with zeros above the diagonal"""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(Constraint):
    """The same, with a positive diagonal"""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return lower_triangular.check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """The same, with rows of length 1: Cholesky factors of correlation matrices"""

    event_dim = 2

    def check(self, value: Any) -> Any:
        near = dtypes.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = linalg.norm(value.detach(), dim=-1)
        return lower_cholesky.check(value) & ((lengths - 1.0).abs() <= near).all(-1)


class _Square(Constraint):
    """Square matrices"""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return f.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=dtypes.bool)


class _Symmetric(_Square):
    """Symmetric matrices, within 1e-6"""

    def check(self, value: Any) -> Any:
        fits = super().check(value)
        return f.isclose(value, value.mT, atol=1e-6).all(-2).all(-1) if fits.all() else fits


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without negative eigenvalues"""

    def check(self, value: Any) -> Any:
        fits = super().check(value)
        return linalg.eigvalsh(value).ge(0).all(-1) if fits.all() else fits


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices with positive eigenvalues"""

    def check(self, value: Any) -> Any:
        fits = super().check(value)
        return linalg.cholesky_ex(value).info.eq(0) if fits.all() else fits


class Sequence(Constraint):
    """Several constraints along a dim."""

    def __init__(self, cseq: Any, dim: int = 0) -> None:
        if not all(isinstance(c, Constraint) for c in cseq):
            raise AssertionError("All elements of cseq must be Constraint instances")
        self.cseq = list(cseq)
        self.dim = dim
        super().__init__()

    @property
    def is_discrete(self) -> Any:
        return any(c.is_discrete for c in self.cseq)

    def has_dim(self, value: Any) -> None:
        if not -value.dim() <= self.dim < value.dim():
            raise AssertionError(f"dim {self.dim} out of range for value with {value.dim()} dimensions")


class _Cat(Sequence):
    """Constraint cseq[i] for the next lengths[i] positions along dim, one each by default; AssertionError unless as many."""

    def __init__(self, cseq: Any, dim: int = 0, lengths: Any = None) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.cseq):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match cseq ({len(self.cseq)})")

    @property
    def event_dim(self) -> Any:
        return max(c.event_dim for c in self.cseq)

    def check(self, value: Any) -> Any:
        self.has_dim(value)
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        parts = [value.narrow(self.dim, start, n) for start, n in zip(starts, self.lengths)]
        return f.cat([c.check(part) for c, part in zip(self.cseq, parts)], self.dim)


class _Stack(Sequence):
    """Constraint cseq[i] for position i along dim."""

    @property
    def event_dim(self) -> Any:
        most = max(c.event_dim for c in self.cseq)
        return most + 1 if self.dim + most < 0 else most

    def check(self, value: Any) -> Any:
        self.has_dim(value)
        return f.stack([c.check(v) for c, v in zip(self.cseq, value.unbind(self.dim))], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack


def holds(limit: Any, value: Any) -> bool:
    """Whether limit.check(value) is true everywhere; by the least and the greatest number where those tell."""
    if not modes.dispatching and modes.observer is None and spans(limit, value):
        return True
    return bool(limit.check(value).all())


def spans(limit: Any, value: Any) -> bool:
    """Do the least and the greatest element show that all lie inside?  False: nobody knows."""
    kind = type(limit)
    if kind is _IndependentConstraint and value.array.ndim >= limit.event_dim:
        return spans(limit.base_constraint, value)
    fits = SPANS.get(kind)
    if fits is None:
        return False
    array = value.array
    if array.dtype == np.int64:
        found = quick_bounds(array)
        return found is not None and all(type(b) is int for b in vars(limit).values()) and fits(limit, *found)
    if kind in WHOLE or array.dtype.kind != "f" or not all(exact(b, array.dtype) for b in vars(limit).values()):
        return False
    stats = quick_stats(array)                  # a sum of squares that is finite: so are all elements
    return stats is not None and stats[0] < math.inf and fits(limit, stats[1], stats[2])


def exact(bound: Any, dtype: Any) -> bool:
    """Is the bound compared as it is, unrounded?"""
    return type(bound) in (int, float) and (bound == 0 or bound == 1 or float(dtype.type(bound)) == bound)


WHOLE = frozenset({_IntegerInterval, _IntegerLessThan, _IntegerGreaterThan})
SPANS: dict[type, Callable[[Any, Any, Any], bool]] = {
    _Real: lambda limit, low, high: True,
    _GreaterThan: lambda limit, low, high: limit.lower_bound < low,
    _GreaterThanEq: lambda limit, low, high: limit.lower_bound <= low,
    _LessThan: lambda limit, low, high: high < limit.upper_bound,
    _Interval: lambda limit, low, high: limit.lower_bound <= low and high <= limit.upper_bound,
    _HalfOpenInterval: lambda limit, low, high: limit.lower_bound <= low and high < limit.upper_bound,
    _IntegerInterval: lambda limit, low, high: limit.lower_bound <= low and high <= limit.upper_bound,
    _IntegerLessThan: lambda limit, low, high: high <= limit.upper_bound,
    _IntegerGreaterThan: lambda limit, low, high: limit.lower_bound <= low,
}
