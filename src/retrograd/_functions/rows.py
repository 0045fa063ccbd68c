"""In-place forms that follow from a function: `@both` and `@replacing` put NAME_ beside it."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from .._rules import compare

Function = Callable[..., Any]


def both(make: Function) -> Function:
    """The function that runs the op which `make` returns, on what it returns besides; NAME_ does so in place."""
    @functools.wraps(make)
    def function(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        return made[0].run(*made[1:])

    def function_(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        return made[0].run_(*made[1:])

    beside(make, function_, f"In place: {make.__name__}.")
    return function


def replacing(f: Function) -> Function:
    """f, which records nothing; NAME_ writes its result over the first argument."""
    def function_(input: Any, *args: Any, **kwargs: Any) -> Any:
        return compare.replace(input, f(input, *args, **kwargs))

    beside(f, function_, f"In place: {f.__name__}, in input's dtype.")
    return f


def beside(f: Function, function_: Function, doc: str) -> None:
    """Put function_ into f's module as its in-place form."""
    signature = inspect.signature(f)
    function_.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p for p in signature.parameters.values() if p.name != "out"])
    function_.__name__ = function_.__qualname__ = f.__name__ + "_"
    function_.__module__, function_.__doc__ = f.__module__, doc
    f.__globals__[function_.__name__] = function_
