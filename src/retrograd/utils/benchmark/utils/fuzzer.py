"""Arguments at random for benchmarks: Fuzzer draws parameters, and tensors whose sizes and strides they give.

name            what the Fuzzer's results call it
state           a numpy.random.RandomState
params          {name: value} of the parameters
size            lengths of the dimensions
alias_to        the name of another parameter
roll_parameter  accepted without effect
cuda            True: AssertionError, there is no GPU
"""
from __future__ import annotations

from collections.abc import Callable, Iterator
from math import prod
from typing import Any

import numpy as np

from ...._functions import rand, randint
from ...._tensor import dtypes
from ....random import manual_seed

__all__ = ["FuzzedParameter", "FuzzedTensor", "Fuzzer", "ParameterAlias"]


class FuzzedParameter:
    """A number drawn anew each time.

    minval, maxval  its bounds, both of which occur
    distribution    "uniform" (of ints where both bounds are ints), "loguniform" (of ints), or {value: probability}
    strict          drawn once: not again where the constraints refuse the other parameters
    https://pytorch.org/docs/stable/benchmark_utils.html
    """

    def __init__(self, name: str, minval: Any = None, maxval: Any = None, distribution: Any = None, strict: bool = False) -> None:
        self._name, self._minval, self._maxval, self.strict = name, minval, maxval, strict
        if isinstance(distribution, dict):         # whose sum PyTorch checks the wrong way round; NumPy refuses a wrong one
            if any(p < 0 for p in distribution.values()):
                raise AssertionError("Probabilities cannot be negative")
            for word, bound in (("minval", minval), ("maxval", maxval)):
                if bound is not None:
                    raise AssertionError(f"When passing a custom distribution, '{word}' must be None")
        elif distribution not in ("loguniform", "uniform"):
            raise AssertionError(f"Unknown distribution: {distribution}")
        self._distribution = distribution

    @property
    def name(self) -> str:
        """Its name, by which tensors refer to it."""
        return self._name

    def sample(self, state: Any) -> Any:
        """A value, by a numpy.random.RandomState."""
        low, high = self._minval, self._maxval
        if isinstance(self._distribution, dict):
            at = state.choice(np.arange(len(self._distribution)), p=tuple(self._distribution.values()))
            return list(self._distribution)[at]
        if self._distribution == "loguniform":
            return min(max(int(2 ** state.uniform(low=np.log2(low), high=np.log2(high))), low), high)
        if isinstance(low, int) and isinstance(high, int):
            return int(state.randint(low=low, high=high + 1))
        return state.uniform(low=low, high=high)


class ParameterAlias:
    """A value of a distribution: that of the parameter of this name."""

    def __init__(self, alias_to: str) -> None:
        self.alias_to = alias_to

    def __repr__(self) -> str:
        return f"ParameterAlias[alias_to: {self.alias_to}]"


class FuzzedTensor:
    """A tensor of a size made of numbers and names of parameters.

    steps                   every n-th element of a larger tensor, likewise
    probability_contiguous  how often its dims lie in memory in their order
    min_elements, max_elements, max_allocation_bytes    bounds beyond which parameters are drawn again
    dim_parameter           names the number of dims: sizes are cut off, or filled up by 1
    tensor_constructor      called with size, dtype and the parameters, instead of rand or randint
    """

    def __init__(
        self, name: str, size: tuple[Any, ...], steps: tuple[Any, ...] | None = None, probability_contiguous: float = 0.5,
        min_elements: int | None = None, max_elements: int | None = None, max_allocation_bytes: int | None = None,
        dim_parameter: str | None = None, roll_parameter: str | None = None, dtype: Any = dtypes.float32, cuda: bool = False,
        tensor_constructor: Callable[..., Any] | None = None,
    ) -> None:
        self._name, self._size, self._steps = name, size, steps
        self._probability_contiguous, self._dim_parameter = probability_contiguous, dim_parameter
        self._dtype, self._cuda = dtype, cuda
        self._min_elements, self._max_elements, self._max_allocation_bytes = min_elements, max_elements, max_allocation_bytes
        self._tensor_constructor = tensor_constructor

    @property
    def name(self) -> str:
        """Its name."""
        return self._name

    @staticmethod
    def default_tensor_constructor(size: Any, dtype: Any, **kwargs: Any) -> Any:
        """Numbers from 0 to 1, or ints from 1 to 126."""
        if dtype.is_floating_point or dtype.is_complex:
            return rand(size, dtype=dtype)
        return randint(1, 127, size, dtype=dtype)

    def _get_size_and_steps(self, params: dict[str, Any]) -> tuple[Any, Any, Any]:
        dim = len(self._size) if self._dim_parameter is None else params[self._dim_parameter]
        size, steps = (tuple(params.get(x, x) for x in (*given, *[1] * dim)[:dim]) for given in (self._size, self._steps or ()))
        return size, steps, tuple(n * step for n, step in zip(size, steps))

    def satisfies_constraints(self, params: dict[str, Any]) -> bool:
        """Is it within its bounds?"""
        size, _, whole = self._get_size_and_steps(params)
        count, room = prod(map(int, size)), prod(map(int, whole)) * self._dtype.itemsize
        return ((self._min_elements is None or count >= self._min_elements)
                and (self._max_elements is None or count <= self._max_elements)
                and (self._max_allocation_bytes is None or room <= self._max_allocation_bytes))

    def _make_tensor(self, params: dict[str, Any], state: Any) -> tuple[Any, dict[str, Any]]:
        size, steps, whole = self._get_size_and_steps(params)
        x = (self._tensor_constructor or self.default_tensor_constructor)(size=whole, dtype=self._dtype, **params)
        x = x.cuda() if self._cuda else x
        order = np.arange(len(size))
        if state.rand() > self._probability_contiguous:
            while len(size) > 1 and np.all(order == np.arange(len(size))):
                order = state.permutation(x.dim())
            x = x.permute(tuple(order)).contiguous().permute(tuple(np.argsort(order)))
        made = x[tuple(slice(0, n * step, step) for n, step in zip(size, steps))]
        return made, {"numel": made.numel(), "order": order, "steps": steps, "is_contiguous": made.is_contiguous(),
                      "dtype": str(self._dtype)}


class Fuzzer:
    """Draws parameters and tensors.

    parameters, tensors  lists, in which lists may lie
    constraints          functions of the parameters, all of which have to return True
    seed                 for the same draws again
    https://pytorch.org/docs/stable/benchmark_utils.html#torch.utils.benchmark.Fuzzer
    """

    def __init__(self, parameters: list[Any], tensors: list[Any], constraints: list[Callable[..., bool]] | None = None,
                 seed: int | None = None) -> None:
        self._seed = int(np.random.RandomState().randint(0, 2**32 - 1, dtype=np.int64)) if seed is None else seed
        self._parameters = _flat(parameters, FuzzedParameter)
        self._tensors = _flat(tensors, FuzzedTensor)
        self._constraints = constraints or ()
        both = {p.name for p in self._parameters} & {t.name for t in self._tensors}
        if both:
            raise ValueError(f"Duplicate names in parameters and tensors: {both}")
        self._rejections = self._total_generated = 0

    def take(self, n: int) -> Iterator[Any]:
        """n times (tensors, their properties, parameters), by name."""
        state = np.random.RandomState(self._seed)
        manual_seed(int(state.randint(low=0, high=2**63, dtype=np.int64)))
        for _ in range(n):
            params = self._generate(state)
            made = {t.name: t._make_tensor(params, state) for t in self._tensors}
            yield {name: x for name, (x, _) in made.items()}, {name: told for name, (_, told) in made.items()}, params

    @property
    def rejection_rate(self) -> float:
        """How many of the parameters were drawn in vain."""
        return self._rejections / self._total_generated if self._total_generated else 0.0

    def _generate(self, state: Any) -> dict[str, Any]:
        strict: dict[str, Any] = {}
        for _ in range(1000):
            params: dict[str, Any] = {}
            for p in self._parameters:
                params[p.name] = strict[p.name] if p.name in strict else p.sample(state)
                if p.strict:
                    strict[p.name] = params[p.name]
            params = _resolved(params)
            self._total_generated += 1
            if all(f(params) for f in self._constraints) and all(t.satisfies_constraints(params) for t in self._tensors):
                return params
            self._rejections += 1
        raise ValueError("Failed to generate a set of valid parameters.")


def _flat(values: list[Any], kind: type) -> tuple[Any, ...]:
    return tuple(x for value in values for x in ([value] if isinstance(value, kind) else value))


def _resolved(params: dict[str, Any]) -> dict[str, Any]:
    """params, with what aliases stand for."""
    params = dict(params)
    for _ in range(len(params) + 1):
        aliases = [k for k, v in params.items() if isinstance(v, ParameterAlias)]
        if not aliases:
            return params
        for k in aliases:
            params[k] = params[params[k].alias_to]
    raise ValueError(f"ParameterAlias cycle detected\n{params}")
