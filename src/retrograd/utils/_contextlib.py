"""torch.utils._contextlib: what makes contexts decorate functions and generators."""
from __future__ import annotations

import inspect
from typing import Any

from .._missing import late_names
from ..autograd import grad_mode

late_names(__name__)


def context_decorator(ctx: Any, func: Any) -> Any:
    """func run within ctx, which is a context that can be entered more than once, or makes one."""
    if callable(ctx) and hasattr(ctx, "__enter__"):
        raise AssertionError(
            f"Passed in {ctx} is both callable and also a valid context manager (has __enter__), making it ambiguous which "
            "interface to use.  If you intended to pass a context manager factory, rewrite your call as "
            "context_decorator(lambda: ctx()); if you intended to pass a context manager directly, rewrite your call as "
            "context_decorator(lambda: ctx)")
    if inspect.isclass(func):
        raise RuntimeError(
            "Cannot decorate classes; it is ambiguous whether or not only the constructor or all methods should have the context "
            "manager applied; additionally, decorating a class at definition-site will prevent use of the identifier as a "
            "conventional type.  To specify which methods to decorate, decorate each of them individually.")
    return grad_mode.context_decorator(ctx if callable(ctx) else lambda: ctx, func)


class _DecoratorContextManager(grad_mode._Mode):
    """A context that decorates; each call enters what clone() gives."""

    def __enter__(self) -> Any:
        raise NotImplementedError

    def __exit__(self, exc_type: Any, exc_value: Any, traceback: Any) -> Any:
        raise NotImplementedError


class _NoParamDecoratorContextManager(_DecoratorContextManager, grad_mode._Bare):
    """The same, that decorates without parentheses, too."""
