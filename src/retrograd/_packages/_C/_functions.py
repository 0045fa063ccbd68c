"""torch._C._functions: classes of nodes, by the names that grad_fn shows; for isinstance."""
from __future__ import annotations

from typing import Any

from retrograd._engine.node import Node
from retrograd._engine.tensor import AccumulateGrad as AccumulateGrad
from retrograd._tensor import Tensor
from retrograd.autograd.function import Error as Error
from retrograd.autograd.function import Function


class DelayedError:
    """DelayedError(message, count)(*tensors): the tensors, whose backward raises RuntimeError(message)."""

    __module__ = "builtins"

    def __init__(self, *args: Any) -> None:
        if len(args) != 2:
            raise RuntimeError(f"Requires two arguments, got {len(args)}")
        self.message, self.count = args

    def __call__(self, *tensors: Any) -> Any:
        if len(tensors) != self.count:
            raise TypeError(f"expected {self.count} arguments, got {len(tensors)} instead")
        found = Error.after(tensors, tensors, self.message)
        return found[0] if len(found) == 1 else found


class UndefinedGrad(Function):
    """UndefinedGrad()(*tensors): the tensors; no gradient comes back through them."""

    def __init__(self, *args: Any) -> None:
        if args:                                # else no warning: this one is made to be instantiated
            raise RuntimeError(f"Requires zero arguments, got {len(args)}")

    def __call__(self, *tensors: Any) -> Any:
        found = self.apply(*tensors)
        return found[0] if len(found) == 1 else found

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        return tuple(t.view_as(t) if isinstance(t, Tensor) else t for t in tensors)

    @staticmethod
    def backward(ctx: Any, *gs: Any) -> Any:
        return (None,) * len(gs)


def __getattr__(name: str) -> Any:
    pending = [Node]
    while pending:
        cls = pending.pop()
        if cls.__name__ == name and cls.__module__ == "builtins" and not getattr(cls, "stands_in", False):
            return cls
        pending.extend(cls.__subclasses__())
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
