"""Parametrizations: an attribute that is computed from a parameter (torch.nn.utils.parametrize).

    module.weight            becomes a property: parametrization(original)
    module.parametrizations  ModuleDict of ParametrizationList, which holds `original` (or original0, original1, ...)
"""
from __future__ import annotations

import copy
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from ..._engine.tensor import TensorBase
from ...autograd.grad_mode import no_grad
from ..module import Module
from ..modules.container import ModuleDict, ModuleList
from ..parameter import Parameter

__all__ = [
    "ParametrizationList", "cached", "is_parametrized", "register_parametrization", "remove_parametrizations",
    "transfer_parametrizations_and_params", "type_before_parametrizations",
]

_caching = 0
_cache: dict[tuple[int, str], Any] = {}


@contextmanager
def cached() -> Iterator[None]:
    """In the block, each parametrized tensor is computed once and kept."""
    global _caching
    _caching += 1
    try:
        yield
    finally:
        _caching -= 1
        if not _caching:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one attribute, `modules` in the order in which they apply to `original`, the tensor.

    unsafe skips the check that dtype and shape stay what they were.
    """

    def __init__(self, modules: Any, original: Any, unsafe: bool = False) -> None:
        modules = list(modules)
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        shape, dtype = original.shape, original.dtype
        with no_grad():
            new: Any = original
            for module in reversed(modules):
                if hasattr(module, "right_inverse"):
                    try:
                        new = module.right_inverse(new)
                    except NotImplementedError:
                        pass
        if not isinstance(new, TensorBase) and not isinstance(new, (tuple, list)):
            raise ValueError(
                "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got "
                f"{type(new).__name__}")
        self.is_tensor = bool(isinstance(new, TensorBase))
        made: Any = new
        self.ntensors = 1 if self.is_tensor else len(made)
        if self.is_tensor:
            if not unsafe and original.dtype != made.dtype:
                raise ValueError(
                    "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
                    f"original.dtype: {original.dtype}\nright_inverse(original).dtype: {made.dtype}")
            with no_grad():
                original.set_(made)
            _register(self, "original", original)
        else:
            for i, part in enumerate(made):
                if not isinstance(part, TensorBase):
                    raise ValueError(
                        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got element "
                        f"{i} of the sequence with type {type(part).__name__}.")
                tensor: Any = part
                if isinstance(original, Parameter):
                    tensor = Parameter(tensor, original.requires_grad)
                tensor.requires_grad_(original.requires_grad)
                _register(self, f"original{i}", tensor)
        if not unsafe:
            result = self()
            if not isinstance(result, TensorBase):
                raise ValueError(f"A parametrization must return a tensor. Got {type(result).__name__}.")
            made = result
            if made.dtype != dtype:
                raise ValueError(
                    "Registering a parametrization may not change the dtype of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized dtype: {dtype}\nparametrized dtype: {made.dtype}")
            if made.shape != shape:
                raise ValueError(
                    "Registering a parametrization may not change the shape of the tensor, unless `unsafe` flag is "
                    f"enabled.\nunparametrized shape: {shape}\nparametrized shape: {made.shape}")

    def originals(self) -> list[Any]:
        """The tensors it starts from."""
        if self.is_tensor:
            return [self.original]
        return [getattr(self, f"original{i}") for i in range(self.ntensors)]

    def right_inverse(self, value: Any) -> None:
        """Set the originals so that the result is (about) `value`; every parametrization must have a right_inverse."""
        with no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    raise RuntimeError(
                        f"parametrization {type(module).__name__} does not implement right_inverse.")
                value = module.right_inverse(value)
            if self.is_tensor and not isinstance(value, TensorBase):
                raise ValueError("`right_inverse` should return a tensor")
            if not isinstance(value, Iterable):
                raise ValueError("'right_inverse' must return a sequence of tensors or reference-type opaques. "
                                 f"Got {type(value).__name__}")
            parts: list[Any] = [value] if self.is_tensor else list(value)
            if not all(isinstance(part, TensorBase) for part in parts):
                raise ValueError("'right_inverse' must return a sequence of tensors or reference-type opaques")
            if len(parts) != self.ntensors:
                raise ValueError(
                    "'right_inverse' must return a sequence of tensors of length "
                    f"{self.ntensors}. Got a sequence of length {len(parts)}.")
            for original, part in zip(self.originals(), parts):
                if original.dtype != part.dtype:
                    raise ValueError(
                        f"The tensor returned by `right_inverse` has dtype {part.dtype} while `original` has dtype "
                        f"{original.dtype}")
                original.set_(part)

    def forward(self) -> Any:
        first, *rest = list(self)
        x = first(*self.originals())
        for module in rest:
            x = module(x)
        return x


def _register(module: Module, name: str, tensor: Any) -> None:
    if isinstance(tensor, Parameter):
        module.register_parameter(name, tensor)
    else:
        module.register_buffer(name, tensor)


def _inject_class(module: Module) -> None:
    """Give `module` a class of its own, so that it can have properties."""
    cls = type(module)

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). See:\n"
            "https://pytorch.org/tutorials/beginner/saving_loading_models.html#saving-loading-a-general-checkpoint-for-"
            "inference-and-or-resuming-training")

    def deepcopy(self: Any, memo: dict[int, Any]) -> Any:
        if id(self) in memo:
            return memo[id(self)]
        found = self.__new__(type(self))
        memo[id(self)] = found
        found.__dict__ = copy.deepcopy(self.__dict__, memo)
        found.__class__ = type(type(self).__name__, type(self).__bases__, dict(vars(type(self))))
        return found

    attrs: dict[str, Any] = {"__getstate__": getstate, "_parametrized_from": cls}
    if not hasattr(cls, "__deepcopy__"):
        attrs["__deepcopy__"] = deepcopy
    module.__class__ = type(f"Parametrized{cls.__name__}", (cls,), attrs)


def _inject_property(module: Module, name: str) -> None:
    def read(self: Any) -> Any:
        if not _caching:
            return self.parametrizations[name]()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = self.parametrizations[name]()
        return _cache[key]

    def write(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(read, write))


def register_parametrization(module: Any, tensor_name: str, parametrization: Module, *, unsafe: bool = False) -> Any:
    """Make module.tensor_name the result of `parametrization`, after those registered before; -> module.

    Where the parametrization has a right_inverse, the value stays what it was (as far as it can be).  unsafe skips the check
    that dtype and shape stay, too.
    https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrize.register_parametrization.html
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        known = module.parametrizations[tensor_name]
        if not unsafe:
            value = getattr(module, tensor_name)
            result = parametrization(value)
            _check_same("forward", tensor_name, result, value)
            if hasattr(parametrization, "right_inverse"):
                back = parametrization.right_inverse(result)
                _check_same("right_inverse", tensor_name, back, value)
        known.append(parametrization)
        known.unsafe |= unsafe
    elif tensor_name in module._buffers or tensor_name in module._parameters:
        original = getattr(module, tensor_name)
        found = ParametrizationList([parametrization], original, unsafe=unsafe)
        delattr(module, tensor_name)
        if not is_parametrized(module):
            _inject_class(module)
            module.parametrizations = ModuleDict()
        _inject_property(module, tensor_name)
        module.parametrizations[tensor_name] = found
    else:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element with name "
            f"'{tensor_name}'")
    return module


def _check_same(what: str, name: str, got: Any, want: Any) -> None:
    if not isinstance(got, TensorBase):
        raise ValueError(f"parametrization.{what} must return a tensor. Got {type(got).__name__}.")
    found: Any = got
    if found.dtype != want.dtype:
        raise ValueError(
            "Registering a parametrization may not change the dtype of the tensor, unless the `unsafe` flag is "
            f"enabled.\nmodule.{name}.dtype: {want.dtype}\nparametrization(module.{name}).dtype: {found.dtype}")
    if found.shape != want.shape:
        raise ValueError(
            "Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is "
            f"enabled.\nmodule.{name}.shape: {want.shape}\nparametrization(module.{name}).shape: {found.shape}")


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Has the module (or its attribute tensor_name) parametrizations?"""
    found = getattr(module, "_modules", {}).get("parametrizations")
    if not isinstance(found, ModuleDict):
        return False
    return len(found) > 0 if tensor_name is None else tensor_name in found


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make module.tensor_name a plain tensor again: with its present value, or (leave_parametrized=False) the
    original one; -> module."""
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    known = module.parametrizations[tensor_name]
    if known.is_tensor:
        original = known.original
        if leave_parametrized:
            with no_grad():
                original.set_(getattr(module, tensor_name).detach().clone())
    elif leave_parametrized:
        value = getattr(module, tensor_name)
        original = Parameter(value.detach()) if value.requires_grad else value
    else:
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of a "
            "sequence of tensors.")
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    _register(module, tensor_name, original)
    if not is_parametrized(module):
        delattr(module, "parametrizations")
        module.__class__ = type(module)._parametrized_from
    return module


def type_before_parametrizations(module: Any) -> type:
    """The module's class before parametrizations replaced it by a subclass."""
    return type(module)._parametrized_from if is_parametrized(module) else type(module)


def transfer_parametrizations_and_params(from_module: Any, to_module: Any, tensor_name: str | None = None) -> Any:
    """Give to_module the parametrizations of from_module (or of tensor_name alone), with its Parameters; -> to_module."""
    if not is_parametrized(from_module):
        return to_module
    names = list(from_module.parametrizations) if tensor_name is None else [tensor_name]
    for name in names:
        if not hasattr(to_module, name):
            setattr(to_module, name, Parameter(getattr(from_module, name)))
        for parametrization in from_module.parametrizations[name]:
            register_parametrization(to_module, name, parametrization)
        source = from_module.parametrizations[name]
        for key in ("original",) if source.is_tensor else [f"original{i}" for i in range(source.ntensors)]:
            setattr(to_module.parametrizations[name], key, getattr(source, key))
    return to_module
