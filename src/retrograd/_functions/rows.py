"""In-place forms that follow from a function: `@both` and `@replacing` put NAME_ beside it."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.op import recording
from .._engine.promote import check_broadcast
from .._engine.tensor import TensorBase
from .._engine.views import OVERLAP, apart, guard, repeats
from .._rules import compare

Function = Callable[..., Any]


def both(make: Function) -> Function:
    """The function that runs the op which `make` returns, on what it returns besides; NAME_ does so in place."""
    @functools.wraps(make)
    def function(*args: Any, **kwargs: Any) -> Any:
        made = make(*args, **kwargs)
        return made[0].run(*made[1:])

    def function_(input: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            made = make(input, *args, **kwargs)
        except NotImplementedError:             # the kernel is looked for last
            check_written(input, *args)
            raise
        return made[0].run_(*made[1:])

    beside(make, function_, f"In place: {make.__name__}.")
    return function


def check_written(x: TensorBase, *others: Any) -> None:
    """RuntimeError where the result of an op of x and others cannot be written into x."""
    guard(x, recording(x))
    if repeats(x.array):
        raise RuntimeError(OVERLAP)
    arrays = [t.array for t in others if isinstance(t, TensorBase)]
    for t in others:
        if isinstance(t, TensorBase) and t is not x:
            apart(x, t)
    for a in arrays:
        check_broadcast(x.array, a)
    shape = np.broadcast_shapes(x.array.shape, *(a.shape for a in arrays))
    if shape != x.array.shape:
        raise RuntimeError(f"output with shape {list(x.array.shape)} doesn't match the broadcast shape {list(shape)}")


def replacing(f: Function) -> Function:
    """f, which records nothing; NAME_ writes its result over the first argument."""
    def function_(input: Any, *args: Any, **kwargs: Any) -> Any:
        return replaced(f, input, *args, **kwargs)

    beside(f, function_, f"In place: {f.__name__}, in input's dtype.")
    return f


def replaced(f: Function, input: Any, *args: Any, **kwargs: Any) -> Any:
    """input, with what f makes of it and the others in its place."""
    try:
        y = f(input, *args, **kwargs)
    except NotImplementedError:
        check_written(input, *args)
        raise
    if y is NotImplemented:
        return y
    for t in (*args, *kwargs.values()):
        if isinstance(t, TensorBase) and t is not input:
            apart(input, t)
    return compare.replace(input, y)


def beside(f: Function, function_: Function, doc: str) -> None:
    """Put function_ into f's module as its in-place form."""
    signature = inspect.signature(f)
    function_.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=[p for p in signature.parameters.values() if p.name != "out"])
    function_.__name__ = function_.__qualname__ = f.__name__ + "_"
    function_.__module__, function_.__doc__ = f.__module__, doc
    f.__globals__[function_.__name__] = function_
