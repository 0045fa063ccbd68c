"""The arguments of a call under their names."""
from __future__ import annotations

import inspect
from typing import Any, NamedTuple

from retrograd import nn

__all__ = ["ArgsKwargsPair", "normalize_function", "normalize_module"]


class ArgsKwargsPair(NamedTuple):
    """Arguments by place, and by name."""

    args: tuple[Any, ...]
    kwargs: dict[str, Any]


def normalize_function(target: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None, arg_types: Any = None,
                       kwarg_types: Any = None, normalize_to_only_use_kwargs: bool = False) -> ArgsKwargsPair | None:
    """The arguments by their names, those left out with their defaults; None where the signature is not known."""
    try:
        signature = inspect.signature(inspect.unwrap(target))
    except (TypeError, ValueError):
        return None
    return _named(signature, args, kwargs or {}, normalize_to_only_use_kwargs)


def normalize_module(root: Any, target: str, args: tuple[Any, ...], kwargs: dict[str, Any] | None = None,
                     normalize_to_only_use_kwargs: bool = False) -> ArgsKwargsPair | None:
    """As normalize_function, for a call of a layer of torch.nn."""
    try:
        module = root.get_submodule(target)
    except AttributeError as e:
        raise RuntimeError(f"Tried to normalize node with target {target} but root did not have that target!") from e
    if getattr(nn, type(module).__name__, None) is not type(module):
        return None
    return _named(inspect.signature(module.forward), args, kwargs or {}, normalize_to_only_use_kwargs)


def _named(signature: inspect.Signature, args: Any, kwargs: Any, by_name_only: bool) -> ArgsKwargsPair | None:
    if any(p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) for p in signature.parameters.values()):
        return None
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    by_place = 0 if by_name_only else len(args)
    values = list(bound.arguments.items())
    return ArgsKwargsPair(tuple(v for _, v in values[:by_place]), dict(values[by_place:]))
