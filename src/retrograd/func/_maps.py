"""torch.func.vmap: a function of one sample applied to a batch."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any, NamedTuple

import numpy as np

from .. import random
from .._engine.tensor import TensorBase
from .._functions import stack
from ..autograd.function import Function, FunctionMeta
from ..utils._pytree import LeafSpec, TreeSpec
from ..utils._pytree import tree_flatten as flatten
from ..utils._pytree import tree_map as mapped
from ..utils._pytree import tree_unflatten as unflatten
from ._trees import spread

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None,
) -> Callable[..., Any]:
    """The function that applies func to each sample of its inputs, and stacks the results.

    in_dims     the dim of the samples: a number for all inputs, or a tree of their form, None for what all samples share
    out_dims    where the samples go in the results, likewise; None for a result that is the same for all samples
    randomness  "error": RuntimeError when func draws random numbers; "same": the same for each sample; "different"
    func is called once for each sample, whatever chunk_size is, so it may do what PyTorch's vmap refuses (read values, branch);
    what it does besides its result is done for each sample.
    https://pytorch.org/docs/stable/generated/torch.func.vmap.html
    """
    check_randomness(randomness)
    if chunk_size is not None and chunk_size <= 0:
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")

    @wraps(func)
    def over_batch(*args: Any, **kwargs: Any) -> Any:
        name = name_of(func)
        _check_out_dims(name, out_dims)
        leaves, dims, spec = _inputs(name, in_dims, args)
        sizes = [x.size(d) for x, d in zip(leaves, dims) if d is not None]
        if not sizes:
            raise ValueError("vmap: Expected at least one Tensor to vmap over")
        if any(n != sizes[0] for n in sizes):
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
                "dimension")
        rule = _rule(func)
        if rule is not None:
            return _by_rule(rule, VmapInfo(sizes[0], randomness), unflatten(dims, spec), args, name, out_dims)
        draws = Draws(randomness)
        results: list[list[Any]] = []
        places: list[Any] = []
        form: TreeSpec = LeafSpec()
        for i in range(max(sizes[0], 1)):
            sample = [x if d is None else _sample(x, d, i) for x, d in zip(leaves, dims)]
            draws.before(i)
            found = func(*unflatten(sample, spec), **kwargs)
            draws.check()
            values, form = flatten(found)
            places = _out_places(name, out_dims, form)
            for value, place in zip(values, places):
                if place is not None and not isinstance(value, TensorBase):
                    raise ValueError(
                        f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(value)}. Did you mean to set "
                        "out_dims= to None for output?")
            results.append(values)
        return unflatten([_joined(name, list(column), d, sizes[0]) for column, d in zip(zip(*results), places)], form)
    return over_batch


class VmapInfo(NamedTuple):
    """What a Function's rule for batches is told."""

    batch_size: int
    randomness: str


def _rule(func: Any) -> Any:
    """The `vmap` of a Function whose `apply` func is; None where it has none of its own."""
    cls = getattr(func, "__self__", None)
    if not isinstance(cls, FunctionMeta) or getattr(func, "__func__", None) is not Function.apply.__func__:  # type: ignore
        return None
    more: Any = cls
    if more.vmap is Function.vmap:
        return None
    if more.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. "
            "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html")
    return more.vmap


def _by_rule(rule: Any, info: VmapInfo, dims: Any, args: Any, name: str, out_dims: Any) -> Any:
    """The results as `rule` makes them of whole batches."""
    found = rule(info, dims, *args)
    if not isinstance(found, tuple) or len(found) != 2:
        got = f"{len(found)} returns" if isinstance(found, tuple) else f"a {type(found)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with "
            f"the output. Got {got} instead")
    values, form = flatten(found[0])
    made = spread(found[1], form)
    if made is None:
        raise ValueError(f"The vmap staticmethod of {name} returned out_dims {found[1]} that do not go with its output")
    results = []
    for value, d, place in zip(values, made, _out_places(name, out_dims, form)):
        if d is None and place is not None:
            value, d = value.unsqueeze(0).expand(info.batch_size, *value.shape), 0
        results.append(value if place is None else value.movedim(d, place))
    return unflatten(results, form)


class Draws:
    """What a function that is called once for each sample may draw."""

    def __init__(self, randomness: str) -> None:
        check_randomness(randomness)
        self.randomness = randomness
        self.state = None if randomness == "different" else random.get_rng_state()

    def before(self, i: int) -> None:
        """The same numbers for sample i as for those before."""
        if i and self.randomness == "same":
            random.set_rng_state(self.state)  # type: ignore[arg-type]

    def check(self) -> None:
        """RuntimeError if something was drawn and must not have been; the generator is then as it was."""
        state = self.state
        if self.randomness == "error" and state is not None and not np.array_equal(state.array, random.get_rng_state().array):
            random.set_rng_state(state)
            raise RuntimeError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' "
                "randomness flags on vmap or perform the randomness operation out of vmap")


def check_randomness(randomness: str) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}")


def name_of(func: Any) -> str:
    if hasattr(func, "__name__"):
        return str(func.__name__)
    return f"functools.partial({name_of(func.func)}, ...)" if isinstance(func, partial) else repr(func)


def _inputs(name: str, in_dims: Any, args: tuple[Any, ...]) -> tuple[list[Any], list[Any], TreeSpec]:
    if not isinstance(in_dims, (int, tuple)):
        raise ValueError(
            f"vmap({name}, in_dims={in_dims}, ...)(<inputs>): expected `in_dims` to be int or a (potentially nested) tuple "
            f"matching the structure of inputs, got: {type(in_dims)}.")
    if not args:
        raise ValueError(
            f"vmap({name})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are trying to vmap over a function "
            "with no inputs. The latter is unsupported.")
    leaves, spec = flatten(args)
    dims = spread(in_dims, spec)
    said = f"vmap({name}, in_dims={in_dims}, ...)(<inputs>):"
    if dims is None:
        raise ValueError(
            f"{said} in_dims is not compatible with the structure of `inputs`. in_dims has structure {flatten(in_dims)[1]} but "
            f"inputs has structure {spec}.")
    for x, d in zip(leaves, dims):
        if d is None:
            continue
        if not isinstance(d, int):
            raise ValueError(
                f"{said} Got in_dim={d} for an input but in_dim must be either an integer dimension or None.")
        if not isinstance(x, TensorBase):
            raise ValueError(
                f"{said} Got in_dim={d} for an input but the input is of type {type(x)}. We cannot vmap over non-Tensor "
                "arguments, please use None as the respective in_dim")
        if not -x.ndim <= d < x.ndim:
            raise ValueError(
                f"{said} Got in_dim={d} for some input, but that input is a Tensor of dimensionality {x.ndim} so expected "
                f"in_dim to satisfy -{x.ndim} <= in_dim < {x.ndim}.")
    return leaves, dims, spec


def _sample(x: Any, dim: int, i: int) -> Any:
    """Sample i; of an empty batch one of zeros, which shows what func returns."""
    return x.select(dim, i) if x.size(dim) else x.new_zeros([n for k, n in enumerate(x.shape) if k != dim % x.dim()])


def _check_out_dims(name: str, out_dims: Any) -> None:
    def check(d: Any) -> None:
        if d is not None and not isinstance(d, int):
            raise ValueError(
                f"vmap({name}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python collection of ints "
                "representing where in the outputs the vmapped dimension should appear.")
    mapped(check, out_dims)


def _out_places(name: str, out_dims: Any, form: TreeSpec) -> list[Any]:
    if form.is_leaf() and isinstance(out_dims, tuple) and len(out_dims) == 1:
        return list(out_dims)
    found = spread(out_dims, form)
    if found is None:
        raise ValueError(
            f"vmap({name}, ..., out_dims={out_dims})(<inputs>): out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {flatten(out_dims)[1]} but outputs has structure {form}.")
    return found


def _joined(name: str, values: list[Any], dim: Any, size: int) -> Any:
    """The results for all samples as one."""
    if dim is not None:
        whole = stack(values, dim)
        return whole if size else whole.narrow(dim, 0, 0)
    first = values[0]
    if isinstance(first, TensorBase) and not all(
            v is first or np.array_equal(v.array, first.array, equal_nan=first.array.dtype.kind == "f") for v in values[1:]):
        raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
    return first
