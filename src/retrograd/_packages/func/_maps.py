"""torch.func.vmap: a function of one sample applied to a batch."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Any

from retrograd._engine.tensor import TensorBase
from retrograd._functions import cat
from retrograd.random import get_rng_state, set_rng_state
from retrograd.utils._pytree import TreeSpec
from retrograd.utils._pytree import tree_flatten as flatten
from retrograd.utils._pytree import tree_map as mapped
from retrograd.utils._pytree import tree_unflatten as unflatten

from ._batching import RULES
from ._batching.level import Level, inside, plain
from ._trees import spread

__all__ = ["vmap"]


def vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, randomness: str = "error", *, chunk_size: int | None = None,
) -> Callable[..., Any]:
    """A function that applies func to all samples of its inputs at once.

    in_dims     the dim of the samples: a number for all inputs, or a tree of their form, None for what all samples share
    out_dims    where the samples go in the results, likewise; None for a result that is the same for all samples
    randomness  "error": RuntimeError when func draws random numbers; "same": the same for each sample; "different"
    chunk_size  so many samples at a time
    func is called once (once for each chunk), with tensors that stand for one sample; what it does with them is done with whole
    batches, by the rules in `_batching`.  A function without a rule is computed sample by sample, with a warning.
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
        leaves = [x if d is None else plain(x) for x, d in zip(leaves, dims)]
        sizes = [x.size(d) for x, d in zip(leaves, dims) if d is not None]
        if not sizes:
            raise ValueError("vmap: Expected at least one Tensor to vmap over")
        if any(n != sizes[0] for n in sizes):
            raise ValueError(
                f"vmap: Expected all tensors to have the same size in the mapped dimension, got sizes {sizes} for the mapped "
                "dimension")
        size = sizes[0]
        if chunk_size is None or chunk_size >= size:
            return _mapped(func, name, leaves, dims, spec, kwargs, out_dims, Level(size, randomness, RULES))
        parts: list[Any] = []
        drawn = get_rng_state() if randomness == "same" else None
        for at in range(0, size, chunk_size):
            n = min(chunk_size, size - at)
            if drawn is not None:                       # for each chunk the same
                set_rng_state(drawn)
            chunk = [x if d is None else x.narrow(d, at, n) for x, d in zip(leaves, dims)]
            parts.append(flatten(_mapped(func, name, chunk, dims, spec, kwargs, out_dims, Level(n, randomness, RULES))))
        places = _out_places(name, out_dims, parts[0][1])
        return unflatten([column[0] if d is None else cat(column, d) for column, d in zip(
            zip(*[found for found, _ in parts]), places)], parts[0][1])
    return over_batch


def _mapped(
    func: Any, name: str, values: list[Any], dims: list[Any], spec: TreeSpec, kwargs: Any, out_dims: Any, level: Level,
) -> Any:
    """The results of func for the samples of `values`, which lie along `dims`."""
    samples = [x if d is None else level.sample(x, d) for x, d in zip(values, dims)]
    with inside(level):
        found = func(*unflatten(samples, spec), **kwargs)
    results, form = flatten(found)
    out = []
    for value, place in zip(results, _out_places(name, out_dims, form)):
        if place is None:
            if level.has(value):
                raise ValueError(f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None")
            out.append(value)
            continue
        if not isinstance(value, TensorBase):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(value)}. Did you mean to set "
                "out_dims= to None for output?")
        whole = level.lift(value)
        out.append(whole.movedim(0, place) if place else whole)
    return unflatten(out, form)


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
