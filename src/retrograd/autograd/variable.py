"""The old name of Tensor (torch.autograd.Variable)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wrap

__all__ = ["Variable"]


class VariableMeta(type):
    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, TensorBase)


class _Engine:
    """What tools ask of Variable._execution_engine."""

    def queue_callback(self, callback: Any) -> None:
        """Run `callback` at the end of the backward pass that is going on."""
        from .._engine.backward import queue_callback
        queue_callback(callback)


class Variable(metaclass=VariableMeta):
    """Variable(data, requires_grad) gives a tensor that shares data's memory; volatile is accepted without effect."""

    _execution_engine = _Engine()

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        out: Any = wrap(np.empty(0, np.float32)) if data is None else data.detach()
        return out.requires_grad_() if requires_grad else out
