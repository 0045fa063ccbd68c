"""Parameter and Buffer: tensors that a module registers by being assigned."""
from __future__ import annotations

from collections import OrderedDict
from typing import Any

import numpy as np

from .._engine.modes import modes
from .._engine.tensor import TensorBase, follow, wants_grad, wrap
from .._functions.create import empty
from .._functions.public import register_plain
from .._tensor import Tensor, _attributes, _disabled_torch_function_impl, _plain, _rebuild, _want
from .._tensor.dtypes import check_device, get_default_dtype, of
from .._tensor.printing import _str


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return super().__instancecheck__(instance) or (
            cls is Parameter and isinstance(instance, TensorBase) and getattr(instance, "_is_param", False))


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A leaf tensor that a module registers as a parameter.

    Parameter(data, requires_grad=True) shares data's memory.
    https://pytorch.org/docs/stable/generated/torch.nn.parameter.Parameter.html
    """

    __torch_function__: Any = _disabled_torch_function_impl

    def __new__(cls, data: Any = None, requires_grad: bool = True) -> Any:
        if data is not None and type(data) is not Tensor and type(data) is not Parameter:
            return _of_subclass(data, requires_grad)
        out = TensorBase.__new__(cls)
        out.array = np.empty(0, np.float32) if data is None else data.array
        out.version = None if data is None else data.version
        follow(out, data)
        _want(out, requires_grad)
        if modes.clerk is not None and data is not None and wants_grad(data):
            modes.clerk.parts("Parameter", data, out)
        return out

    def __deepcopy__(self, memo: Any) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        out = type(self)(self.detach().clone(), wants_grad(self))
        memo[id(self)] = out
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:
        array, bits = _plain(self)
        return _rebuild, (type(self), array, wants_grad(self), OrderedDict(), _attributes(self), None, bits)

    def __repr__(self, *, tensor_contents: Any = None) -> str:  # type: ignore[override]
        return "Parameter containing:\n" + _str(self, tensor_contents=tensor_contents)


register_plain(Parameter)


def _of_subclass(data: Any, requires_grad: bool) -> Any:
    """data, of a subclass of Tensor, as a leaf that modules treat as a Parameter."""
    out = data.detach().requires_grad_(requires_grad)
    if type(out) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() returns an instance of "
            f"the same type, but return type {type(out).__name__} was found instead. To use the type as a Parameter, please "
            "correct the detach() semantics defined by its __torch_dispatch__() implementation.")
    out._is_param = True
    return out


class _BufferMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, TensorBase) and getattr(instance, "_is_buffer", False)


class Buffer(Tensor, metaclass=_BufferMeta):
    """Buffer(data): a tensor that a module registers as a buffer; persistent=False keeps it out of the state dict.

    As in PyTorch the result is a plain Tensor that `isinstance(t, Buffer)` recognizes.
    """

    __torch_function__: Any = _disabled_torch_function_impl

    def __new__(cls, data: Any = None, *, persistent: bool = True) -> Any:
        if data is not None and not isinstance(data, TensorBase):
            data = data.detach().requires_grad_(data.requires_grad)
        out: Any = TensorBase.__new__(Tensor)
        out.array = np.empty(0, np.float32) if data is None else data.array
        out.version = None if data is None else data.version
        out.rg = False if data is None else wants_grad(data)
        follow(out, data)
        out.persistent = persistent
        out._is_buffer = True
        if modes.clerk is not None and data is not None and wants_grad(data):
            modes.clerk.parts("Buffer", data, out)
        return out


class _Absent:
    """Stands for the memory of a parameter without a shape: its dtype is known; any other use raises."""

    def __init__(self, dtype: Any) -> None:
        self.dtype = np.dtype(dtype)

    def __getattr__(self, name: str) -> Any:
        raise ValueError(
            "Attempted to use an uninitialized parameter. This error happens when you are using a `LazyModule` or "
            "explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using LazyModules Call "
            "`forward` with a dummy batch to initialize the parameters before calling torch functions")


class UninitializedTensorMixin:
    """A tensor that has no shape yet: `materialize` gives it one and turns it into a `cls_to_become`."""

    cls_to_become: Any
    array: Any

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become an uninitialized tensor of this shape, and of its present dtype unless another is given."""
        check_device(device)
        sizes = shape if isinstance(shape, int) else tuple(shape)
        self.array = empty(sizes, dtype=of(self.array.dtype) if dtype is None else dtype).array
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """RuntimeError."""
        raise RuntimeError(
            "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
            "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call `forward` "
            "to initialize the parameters before accessing their attributes.")

    def size(self, dim: int | None = None) -> Any:
        """torch.Size([0]), or its entry `dim`: it has no elements yet."""
        return self.data.size(dim)

    @property
    def data(self) -> Any:
        """An empty tensor, which initializers may fill."""
        return wrap(np.empty(0, self.array.dtype))

    @data.setter
    def data(self, value: Any) -> None:
        self.array = value.array

    def share_memory_(self) -> Any:
        """RuntimeError."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the parameters "
            "before calling `module.share_memory()`.")

    def detach(self) -> Any:
        """Itself: there is nothing to detach."""
        return self

    def __deepcopy__(self, memo: Any) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(wants_grad(self), dtype=of(self.array.dtype))  # type: ignore[call-arg,arg-type]
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (wants_grad(self), None, of(self.array.dtype))  # type: ignore[arg-type]

    def __repr__(self, *, tensor_contents: Any = None) -> str:
        return f"<{type(self).__name__}>"


def is_lazy(param: Any) -> bool:
    """Whether param is an UninitializedParameter or an UninitializedBuffer."""
    return isinstance(param, UninitializedTensorMixin)


def _absent(cls: Any, requires_grad: bool, device: Any, dtype: Any) -> Any:
    check_device(device)
    out = TensorBase.__new__(cls)
    out.array = _Absent((get_default_dtype() if dtype is None else dtype).numpy)
    _want(out, requires_grad)
    return out


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A Parameter of a lazy module before its first call.

    https://pytorch.org/docs/stable/generated/torch.nn.parameter.UninitializedParameter.html
    """

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        return _absent(cls, requires_grad, device, dtype)


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer of a lazy module before its first call; persistent=False keeps it out of the state dict.

    https://pytorch.org/docs/stable/generated/torch.nn.parameter.UninitializedBuffer.html
    """

    cls_to_become = Tensor
    __torch_function__: Any = _disabled_torch_function_impl

    def __new__(cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True) -> Any:
        out = _absent(cls, requires_grad, device, dtype)
        out.persistent = persistent
        out._is_buffer = True
        return out
