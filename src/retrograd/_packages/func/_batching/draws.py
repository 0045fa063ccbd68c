"""Rules of functions that draw random numbers: as `randomness` of vmap says."""
from __future__ import annotations

from typing import Any

from retrograd import _functions as F

from .level import Batched, Level, Loop, Rule
from .shapes import argument

REFUSED = (
    "vmap: called random operation while in randomness error mode. Please either use the 'same' or 'different' randomness flags "
    "on vmap or perform the randomness operation out of vmap")
SAME = "Vmap does not currently support same randomness with a batched tensor input. Please file an issue with functorch"
UNBATCHED = (
    "vmap: Cannot ask for different inplace randomness on an unbatched tensor. This will appear like same randomness. If this is "
    "necessary for your usage, please file an issue with functorch.")


def _allow(level: Level) -> None:
    if level.randomness == "error":
        raise RuntimeError(REFUSED)


def _draws(rule: Rule) -> Rule:
    rule.draws = True  # type: ignore[attr-defined]
    return rule


@_draws
def sized(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """rand(*size), randint(low, high, size)"""
    _allow(level)
    if level.randomness == "same":
        return func(*args, **kwargs)
    if name.startswith("randint"):
        if "size" in kwargs:
            return level.of(func(*args, **kwargs | {"size": (level.size, *kwargs["size"])}))
        return level.of(func(*args[:-1], (level.size, *args[-1]), **kwargs))
    size = kwargs.pop("size", None) or (args[0] if args and isinstance(args[0], (tuple, list)) else args)
    return level.of(func((level.size, *size), **kwargs))


@_draws
def each(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Functions without a size of their own: for each sample; of tensors that all share, once where it is the same."""
    _allow(level)
    concerned = level.concerns(args) or level.concerns(tuple(kwargs.values()))
    if level.randomness == "same" and not concerned:
        return func(*args, **kwargs)
    from .level import looped
    return looped(level, func, name, args, kwargs, told=False)


@_draws
def like(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """rand_like(x), bernoulli(p), x.normal_()"""
    if name == "rrelu" and not argument(args, kwargs, 3, "training", False):
        return level.of(func(level.lift(args[0]), *args[1:], **kwargs)) if level.has(args[0]) else func(*args, **kwargs)
    _allow(level)
    x, in_place = args[0], name.endswith("_")
    if level.randomness == "different":
        if in_place and not level.has(x):
            raise RuntimeError(UNBATCHED)
        if level.concerns(args[1:]) or level.concerns(tuple(kwargs.values())) or any(isinstance(a, Batched) for a in args[1:]):
            raise Loop
        out = func(level.lift(x), *args[1:], **kwargs)
        return x if in_place else level.of(out)
    if not level.has(x):
        return func(*args, **kwargs)
    if name in ("bernoulli", "poisson", "multinomial", "binomial", "normal"):
        raise RuntimeError(SAME)
    if in_place:
        x.value.copy_(func(x.value[0].clone(), *args[1:], **kwargs).expand(x.value.array.shape))
        return x
    return func(F.empty_like(x.value[0]), *args[1:], **kwargs)


@_draws
def dropout(level: Level, func: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    x = args[0]
    p, training = argument(args, kwargs, 1, "p", 0.5), argument(args, kwargs, 2, "training train", True)
    if not training or p == 0:
        return level.of(func(level.lift(x), *args[1:], **kwargs)) if level.has(x) else func(*args, **kwargs)
    _allow(level)
    if level.randomness == "same":
        if not level.has(x):
            return func(*args, **kwargs)
        mask = func(F.ones_like(x.value[0].detach()), *args[1:], **{k: v for k, v in kwargs.items() if k != "inplace"})
        return level.of(x.value * mask)
    whole = level.lift(x)
    if name in ("dropout1d", "dropout2d", "dropout3d"):
        raise Loop
    return level.of(func(whole if level.has(x) else whole.contiguous(), *args[1:], **kwargs))


RULES: dict[str, Rule] = {name: sized for name in ("rand", "randn", "randint")}
RULES |= {name: each for name in (
    "randperm", "normal", "multinomial", "binomial", "alpha_dropout", "feature_dropout", "feature_alpha_dropout",
    "gumbel_softmax",
    "dropout1d", "dropout2d", "dropout3d")}
RULES |= {name: like for name in ("rand_like", "randn_like", "randint_like", "bernoulli", "normal_", "uniform_", "random_",
                                  "exponential_", "bernoulli_", "poisson", "rrelu", "cauchy_", "geometric_", "log_normal_")}
RULES["dropout"] = dropout
