"""torch.distributions.Distribution: shapes, checks of parameters and values, and what follows from what.   Dillon et al. 2017"""
from __future__ import annotations

from typing import Any, ClassVar

from retrograd import _functions as f
from retrograd._engine.warn import warn
from retrograd._tensor import Tensor
from retrograd._tensor.size import Size
from retrograd.autograd import no_grad

from . import constraints
from .utils import EMPTY, lazy_property

__all__ = ["Distribution"]


class Distribution:
    """The base of all distributions.

    batch_shape     one distribution for each element, each with its parameters: the shape of log_prob
    event_shape     the shape of one draw
    validate_args   whether to check parameters and the values given to log_prob and cdf: ValueError if they do not fit

    Subclasses name their parameters in `_params` (how many dims each has for an event), which is what `expand` widens, and in
    `_kept` what else a widened copy needs.
    """

    has_rsample: Any = False
    has_enumerate_support: Any = False
    _validate_args = __debug__
    _params: ClassVar[dict[str, int]]
    _kept: ClassVar[tuple[str, ...]] = ()

    @staticmethod
    def set_default_validate_args(value: bool) -> None:
        """value: whether distributions made from now on check their arguments. By default they do, except under python -O."""
        if value not in [True, False]:
            raise ValueError
        Distribution._validate_args = value

    def __init__(self, batch_shape: Any = EMPTY, event_shape: Any = EMPTY, validate_args: bool | None = None) -> None:
        self._batch_shape = batch_shape
        self._event_shape = event_shape
        if validate_args is not None:
            self._validate_args = validate_args
        if self._validate_args:
            self._check_parameters()
        super().__init__()

    def _check_parameters(self) -> None:
        try:
            limits = self.arg_constraints
        except NotImplementedError:
            limits = {}
            warn(
                f"{self.__class__} does not define `arg_constraints`. Please set `arg_constraints = {{}}` or initialize the "
                "distribution with `validate_args=False` to turn off validation.")
        for name, limit in limits.items():
            if constraints.is_dependent(limit):
                continue
            if name not in self.__dict__ and isinstance(getattr(type(self), name), lazy_property):
                continue                        # made from another parameter
            value = getattr(self, name)
            if not constraints.holds(limit, value):
                raise ValueError(
                    f"Expected parameter {name} ({type(value).__name__} of shape {tuple(value.shape)}) of distribution "
                    f"{self!r} to satisfy the constraint {limit!r}, but found invalid values:\n{value}")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        """The same distribution with its batch broadcast to batch_shape, without copying."""
        return self._widened(self._family(_instance), Size(batch_shape), self._event_shape)

    def _family(self, _instance: Any) -> Any:
        """A new object of our class, or the one that a subclass's expand made."""
        family = next((cls for cls in type(self).__mro__ if "_params" in vars(cls)), None)
        if family is None:
            raise NotImplementedError
        return self._get_checked_instance(family, _instance)

    def _widen(self, new: Any, batch_shape: Any) -> None:
        for name, dims in self._params.items():
            if name in self.__dict__:
                value = self.__dict__[name]
                shape = value.batch_shape if isinstance(value, Distribution) else value.shape
                setattr(new, name, value.expand(batch_shape + shape[len(shape) - dims:] if dims else batch_shape))

    def _widened(self, new: Any, batch_shape: Any, event_shape: Any) -> Any:
        self._widen(new, batch_shape)
        return self._begun(new, batch_shape, event_shape)

    def _begun(self, new: Any, batch_shape: Any, event_shape: Any) -> Any:
        for name in self._kept:
            setattr(new, name, self.__dict__[name])
        Distribution.__init__(new, batch_shape, event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @property
    def batch_shape(self) -> Any:
        """The shape of independent, differently parameterized distributions."""
        return self._batch_shape

    @property
    def event_shape(self) -> Any:
        """The shape of one draw."""
        return self._event_shape

    @property
    def arg_constraints(self) -> Any:
        """{parameter: the constraint it satisfies}"""
        raise NotImplementedError

    @property
    def support(self) -> Any:
        """The constraint that draws satisfy."""
        raise NotImplementedError

    @property
    def mean(self) -> Any:
        """The mean."""
        raise NotImplementedError

    @property
    def mode(self) -> Any:
        """Where the density is greatest."""
        raise NotImplementedError(f"{self.__class__} does not implement mode")

    @property
    def variance(self) -> Any:
        """The variance."""
        raise NotImplementedError

    @property
    def stddev(self) -> Any:
        """The standard deviation."""
        return self.variance.sqrt()

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        """Draws of shape sample_shape + batch_shape + event_shape, outside the graph."""
        with no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        """Draws as of sample(), as a differentiable function of the parameters; NotImplementedError unless has_rsample."""
        raise NotImplementedError

    def sample_n(self, n: int) -> Any:
        """The old form of sample((n,))."""
        warn("`sample_n(n)` will be deprecated. Use `sample((n,))` instead.", FutureWarning)
        return self.sample(Size((n,)))

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density, or of the probability, at value."""
        raise NotImplementedError

    def cdf(self, value: Any) -> Any:
        """The probability of at most value."""
        raise NotImplementedError

    def icdf(self, value: Any) -> Any:
        """The inverse of cdf: the x at which cdf(x) is value, in [0, 1]."""
        raise NotImplementedError

    def enumerate_support(self, expand: bool = True) -> Any:
        """All values of a discrete distribution, along a new first dim; expand: for each of the batch."""
        raise NotImplementedError

    def entropy(self) -> Any:
        """-E log_prob"""
        raise NotImplementedError

    def perplexity(self) -> Any:
        """exp(entropy)"""
        return f.exp(self.entropy())

    def _extended_shape(self, sample_shape: Any = EMPTY) -> Any:
        return Size(sample_shape) + self._batch_shape + self._event_shape

    def _validate_sample(self, value: Any) -> None:
        """ValueError unless value has a fitting shape and lies in the support."""
        if not isinstance(value, Tensor):
            raise ValueError("The value argument to log_prob must be a Tensor")
        found, wanted = value.shape, self._batch_shape + self._event_shape
        if found != wanted and found[len(found) - len(self._event_shape):] != self._event_shape:
            raise ValueError(f"The right-most size of value must match event_shape: {found} vs {self._event_shape}.")
        if found != wanted and any(i != j and 1 not in (i, j) for i, j in zip(reversed(found), reversed(wanted))):
            raise ValueError(f"Value is not broadcastable with batch_shape+event_shape: {found} vs {wanted}.")
        try:
            support = self.support
        except NotImplementedError:
            warn(
                f"{self.__class__} does not define `support` to enable sample validation. Please initialize the distribution "
                "with `validate_args=False` to turn off validation.")
            return
        if not constraints.holds(support, value):
            raise ValueError(
                f"Expected value argument ({type(value).__name__} of shape {tuple(value.shape)}) to be within the support "
                f"({support!r}) of the distribution {self!r}, but found invalid values:\n{value}")

    def _get_checked_instance(self, cls: Any, _instance: Any = None) -> Any:
        if _instance is not None:
            return _instance
        if type(self).__init__ != cls.__init__:
            raise NotImplementedError(
                f"Subclass {self.__class__.__name__} of {cls.__name__} that defines a custom __init__ method must also define "
                "a custom .expand() method.")
        return self.__new__(type(self))

    def __repr__(self) -> str:
        found = [(name, self.__dict__[name]) for name in self.arg_constraints if name in self.__dict__]
        shown = ", ".join(f"{name}: {value if value.numel() == 1 else value.shape}" for name, value in found)
        return f"{self.__class__.__name__}({shown})"
