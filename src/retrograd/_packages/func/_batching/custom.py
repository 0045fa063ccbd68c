"""Rules that programs give: `vmap` of a Function, or, with generate_vmap_rule, one call for each sample; register_vmap's."""
from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from retrograd._engine.modes import state
from retrograd._engine.tensor import TensorBase, wants_grad
from retrograd.autograd.function import NEEDS_SETUP, NO_SETUP, Function, bound
from retrograd.utils._pytree import tree_flatten, tree_unflatten

from .._trees import spread
from .level import Batched, Level, Rule, looped

MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a Function's rule for batches gets."""

    batch_size: int
    randomness: str


def apply(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    cls: Any = func.__self__
    own = cls.vmap is not Function.vmap
    if cls.setup_context is NO_SETUP:
        raise RuntimeError(NEEDS_SETUP)
    if own and cls.generate_vmap_rule:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it has both generate_vmap_rule=True and an overridden vmap "
            "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to avoid ambiguity. "
            f"{MORE}")
    if cls.generate_vmap_rule:
        return looped(level, func, name, args, kwargs, told=False)
    if not own:
        raise RuntimeError(
            f"You tried to vmap over {cls.__name__}, but it does not have vmap support. Please override and implement the vmap "
            f"staticmethod or set generate_vmap_rule=True. {MORE}")
    args, kwargs = bound(cls.forward, args, kwargs)
    pairs = [level.given(x) for x in (*args, *kwargs.values())]
    found = cls.vmap(VmapInfo(level.size, level.randomness), tuple(d for _, d in pairs), *[x for x, _ in pairs])
    made = samples(level, found, cls.__name__)
    if state().transform > level.transform and not all(_told(cls, y) for y in tree_flatten(made)[0]):
        return looped(level, func, name, args, kwargs, told=False)      # what differentiates inside vmap asks cls, not its rule
    return made


def _told(cls: Any, y: Any) -> bool:
    """Does y's derivative, if any, come from backward of cls?"""
    from .._derivatives import leads

    value = y
    while isinstance(value, Batched):
        value = value.value
    return not isinstance(value, TensorBase) or not wants_grad(value) or leads(
        value, False, lambda node: isinstance(node, cls._backward_cls))


def operator(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """An operator of torch.ops: its own rule, its function's, or one sample after the other."""
    if hasattr(func, "_chosen"):
        func = func._chosen(args, kwargs)
    entry = func._entry
    if entry is None:                                       # torch's own, which has a rule by its name
        return level.call(func._overloadpacket._op, args, {"input" if k == "self" else k: v for k, v in kwargs.items()})
    if entry.vmap is None:
        return looped(level, func, entry.schema.name, args, kwargs)
    bound, kwargs = entry.schema.bind(args, kwargs)
    for a in reversed(entry.schema.arguments[:len(bound)]):     # as PyTorch does, which leaves out defaults at the end
        if not a.has_default_value() or isinstance(bound[-1], TensorBase) or bound[-1] != a.default_value:
            break
        bound.pop()
    flat, form = tree_flatten(tuple(bound))
    pairs = [level.given(x) for x in flat]
    given, dims = (tree_unflatten(list(part), form) for part in zip(*pairs))
    return samples(level, entry.vmap(VmapInfo(level.size, level.randomness), dims, *given, **kwargs), name)


def samples(level: Level, found: Any, name: str) -> Any:
    """What a rule returns, (output, out_dims), as the level's samples."""
    if not isinstance(found, tuple) or len(found) != 2:
        got = f"{len(found)} returns" if isinstance(found, tuple) else f"a {type(found)}"
        raise RuntimeError(
            "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure compatible with "
            f"the output. Got {got} instead")
    values, form = tree_flatten(found[0])
    dims = spread(found[1], form)
    if dims is None:
        raise ValueError(f"The vmap staticmethod of {name} returned out_dims {found[1]} that do not go with its output")
    return tree_unflatten([v if d is None else level.of(v.movedim(d, 0)) for v, d in zip(values, dims)], form)


def gradient(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """autograd.grad: samples of outputs, or of the gradients that they are given, one after the other."""
    return looped(level, partial(func, retain_graph=True), name, args, {k: v for k, v in kwargs.items() if k != "retain_graph"},
                  told=False)


RULES: dict[str, Rule] = {"apply": apply, "grad": gradient, "operator": operator}
