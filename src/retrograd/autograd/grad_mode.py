"""Grad modes: no_grad, enable_grad, set_grad_enabled, inference_mode.  Each works as context and as decorator."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Self, TypeVar, cast

from .._engine import scopes
from .._engine.modes import grad_on, inference_on
from .._engine.warn import warn

__all__ = [
    "no_grad", "enable_grad", "set_grad_enabled", "inference_mode", "is_grad_enabled", "is_inference_mode_enabled",
]
F = TypeVar("F", bound=Callable[..., Any])


class _Mode:
    """What makes a context decorate functions and generators, each call with a context of its own."""

    def clone(self) -> Any:
        return type(self)()

    def __call__(self, func: F) -> F:
        return cast(F, context_decorator(self.clone, func))


def context_decorator(make: Callable[[], Any], func: Any) -> Any:
    """func run inside make(); a class has its __init__ decorated, a generator function runs step by step inside."""
    if inspect.isclass(func):
        warn(
            "Decorating classes is deprecated and will be disabled in future versions. You should only decorate "
            "functions or methods. To preserve the current behavior of class decoration, you can directly decorate the "
            "`__init__` method and nothing else.", FutureWarning)
        func.__init__ = context_decorator(make, func.__init__)  # type: ignore[method-assign]
        return func
    if inspect.isgeneratorfunction(func):
        @functools.wraps(func)
        def generator(*args: Any, **kwargs: Any) -> Any:
            return _steps(make, func(*args, **kwargs))
        return generator

    @functools.wraps(func)
    def decorate_context(*args: Any, **kwargs: Any) -> Any:
        with make():
            return func(*args, **kwargs)
    return decorate_context


def _steps(make: Callable[[], Any], steps: Any) -> Any:
    """Run a generator with the mode on only while its own body runs."""
    try:
        with make():
            answer = steps.send(None)
        while True:
            try:
                sent = yield answer
            except GeneratorExit:
                with make():
                    steps.close()
                raise
            except BaseException as error:
                with make():
                    answer = steps.throw(error)
            else:
                with make():
                    answer = steps.send(sent)
    except StopIteration as stop:
        return stop.value


class _Bare(_Mode):
    """A mode that decorates with or without parentheses."""

    def __new__(cls, orig_func: Any = None) -> Self:
        if orig_func is None:
            return super().__new__(cls)
        decorated: Any = cls()(orig_func)       # @no_grad without parentheses
        return decorated


class no_grad(_Bare, scopes.Grad):
    """Record nothing: results do not require grad.  https://pytorch.org/docs/stable/generated/torch.no_grad.html"""


class enable_grad(_Bare, scopes.Grad):
    """Record again, inside no_grad."""

    def __init__(self) -> None:
        self.mode = True


class set_grad_enabled(_Mode, scopes.GradFrom):
    """Record (mode=True) or not, from the call on; as a context, until its end."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise TypeError(
                f"set_grad_enabled(): argument 'enabled' (position 1) must be bool, not {type(mode).__name__}")
        self.prev = grad_on()
        self.mode = mode
        scopes.switch(mode)

    def __call__(self, func: F) -> F:
        scopes.switch(self.prev)
        return super().__call__(func)

    def __str__(self) -> str:
        return f"torch.autograd.grad_mode.set_grad_enabled(mode={self.mode})"

    __repr__ = __str__

    def clone(self) -> Any:
        return type(self)(self.mode)


class inference_mode(_Mode, scopes.Inference):
    """As no_grad, and results carry no version and can never enter a graph.  inference_mode(False) leaves the mode."""

    def __new__(cls, mode: Any = True) -> Any:
        if isinstance(mode, bool):
            return super().__new__(cls)
        return cls()(mode)

    def __init__(self, mode: bool = True) -> None:
        self.mode = mode

    def clone(self) -> Any:
        return type(self)(self.mode)


_threaded = True


class set_multithreading_enabled(_Mode):
    """`mode` is kept, from the call on; as a context, until its end: a backward pass runs on the thread that asks for it."""

    def __init__(self, mode: bool) -> None:
        global _threaded
        self.prev, self.mode = _threaded, mode
        _threaded = mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: Any, value: Any, trace: Any) -> None:
        global _threaded
        _threaded = self.prev


def is_multithreading_enabled() -> bool:
    """What set_multithreading_enabled set."""
    return _threaded


def is_grad_enabled() -> bool:
    """Are operations recorded on this thread?"""
    return grad_on()


def is_inference_mode_enabled() -> bool:
    """Is this thread in inference mode?"""
    return inference_on()
