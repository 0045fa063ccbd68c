"""Parameter and Buffer: tensors that a module registers by being assigned."""
from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wants_grad
from .._tensor import Tensor, _attributes, _rebuild
from .._tensor_str import _str


class Parameter(Tensor):
    """A leaf that modules list among their parameters.

    Parameter(data, requires_grad=True) shares data's memory.
    https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        out = TensorBase.__new__(cls)
        out.array = np.empty(0, np.float32) if data is None else data.array
        out.version = None if data is None else data.version
        out.requires_grad = requires_grad
        return out

    def __deepcopy__(self, memo: Any) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        out = type(self)(self.detach().clone(), wants_grad(self))
        memo[id(self)] = out
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuild, (type(self), self.array, wants_grad(self), OrderedDict(), _attributes(self))

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return "Parameter containing:\n" + _str(self, tensor_contents=tensor_contents)


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """A tensor that modules list among their buffers; persistent=False keeps it out of the state dict.

    As in PyTorch the result is a plain Tensor that `isinstance(t, Buffer)` recognises.
    """

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        out: Any = TensorBase.__new__(Tensor)
        out.array = np.empty(0, np.float32) if data is None else data.array
        out.version = None if data is None else data.version
        out.rg = False if data is None else wants_grad(data)
        out.persistent = persistent
        out._is_buffer = True
        return out
