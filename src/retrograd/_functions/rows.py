"""An ordinary function says which op runs on what; its in-place form follows from that."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

Function = Callable[..., Any]


def both(make: Function) -> Function:
    """The function that runs the op which `make` returns, on what it returns besides; beside it, under the name with _, the same
    in place.
    """
    @functools.wraps(make)
    def function(*args: Any, **kwargs: Any) -> Any:
        op, *operands = make(*args, **kwargs)
        return op.run(*operands)

    def function_(*args: Any, **kwargs: Any) -> Any:
        op, *operands = make(*args, **kwargs)
        return op.run_(*operands)

    signature = inspect.signature(make)
    function_.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p for p in signature.parameters.values() if p.name != "out"])
    function_.__name__ = function_.__qualname__ = name = make.__name__ + "_"
    function_.__module__, function_.__doc__ = make.__module__, f"In place: {make.__name__}."
    make.__globals__[name] = function_
    return function
