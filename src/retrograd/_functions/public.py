"""What users call: a function behind the question whether somebody takes the call over (`_engine/dispatch.py`)."""
from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .. import _kernels
from .._engine.dispatch import FACTORY as FACTORY
from .._engine.dispatch import OWN, ask
from .._engine.dispatch import PARSED as PARSED
from .._engine.dispatch import PYTHON as PYTHON
from .._engine.dispatch import SELF as SELF
from .._engine.dispatch import parts as parts
from .._engine.modes import modes, set_grad
from .._tensor import Tensor, _disabled_torch_function_impl, dtypes, size
from ..random import Generator
from .parsing import Checks

PLAIN = (
    Tensor, int, float, type(None), str, slice, type(Ellipsis), dict, complex, type, range, size.Size, np.ndarray,
    np.float32, np.float64, np.int64, np.bool_, dtypes.dtype, dtypes.device, dtypes.layout, dtypes.memory_format, Generator,
    type(len), type(ask), type(lambda: 0),
)
# Methods that are Python in PyTorch, and those in C that take arguments but have no row in `forms`.
PYTHON_METHODS = set("""
    __array__ __array_wrap__ __contains__ __deepcopy__ __dlpack__ __dlpack_device__ __format__ __len__ __repr__ __reversed__
    __rlshift__ __rrshift__ backward dim_order is_shared lu norm register_hook register_post_accumulate_grad_hook share_memory_
    split storage storage_type unflatten unique unique_consecutive
""".split())
PARSED_METHODS = set("""
    __lshift__ __rshift__ __ilshift__ __irshift__ cpu index_put index_put_ is_contiguous is_pinned is_same_size map_ map2_ mul_
    numpy polygamma requires_grad_ size stride where
""".split())
SELF_METHODS = set("__bool__ __complex__ __float__ __index__ __int__ apply_ data_ptr new new_tensor untyped_storage".split())
# Operators that call themselves as the function that they are in PyTorch.
RENAMED = {"__pow__": "pow", "__ipow__": "pow_", "__rtruediv__": "__rdiv__"}
METHODS_UNTOLD = {"as_subclass", "set_", "record_stream", "__delitem__"}


def register_plain(cls: type) -> None:
    """cls is a class of ours without __torch_function__, or with Tensor's."""
    plain.insert(1, cls)                        # the C code looks at them in this order
    parts.plain = frozenset(plain)
    if _kernels.dispatcher is not None:
        _kernels.dispatcher(ask, tuple(plain))


plain: list[type] = [*PLAIN]
parts.tensor, parts.disabled = Tensor, _disabled_torch_function_impl
register_plain(bool)


MADE: list[Callable[[Any, str], None]] = []         # called for every function made later, by `retrograd run`


def public(impl: Callable[..., Any], how: int, module: str, place: str, name: str, func: Any = None) -> Callable[..., Any]:
    """impl, behind the question.

    how           what __torch_function__ is told: see dispatch.py
    module, place where users find it
    name          what it calls itself
    func          what it is told of instead of the function itself
    """
    call: Any
    checks = impl if isinstance(impl, Checks) else None
    inner = impl if checks is None else checks.f
    home = f"retrograd.{module}" if module else "retrograd"
    if _kernels.Function is not None:
        call = _kernels.Function(impl, how, func, None if checks is None else inner, home, place, name)
        if checks is not None:
            checks.function = call
            if checks.refusal is not None:
                call.watch()
    else:
        told = [func]

        @functools.wraps(inner)
        def call(*args: Any, **kwargs: Any) -> Any:
            if modes.dispatching or not parts.plain.issuperset(map(type, args)) or (
                    kwargs and not parts.plain.issuperset(map(type, kwargs.values()))):
                return ask(told[0] or call, impl, how, args, kwargs or None)
            return impl(*args, **kwargs)
        call.told = told
        call.__module__, call.__qualname__, call.__name__ = home, place, name
        call.unchecked = inner                                      # for another name
    for told_of in MADE:
        told_of(call, "__module__")
    return call


def tell(call: Any, func: Any) -> None:
    """What __torch_function__ gets when `call` is called."""
    if hasattr(call, "told"):
        call.told[0] = func
    else:
        call.func = func


def how_of(method: str, takes: bool) -> int:
    """How a method tells; takes: arguments besides self, as `forms` says."""
    if method in PYTHON_METHODS:
        return PYTHON
    if method in SELF_METHODS or method in PARSED_METHODS:
        return SELF if method in SELF_METHODS else PARSED
    return OWN if method == "__reduce_ex__" else PARSED if takes else SELF


def seal() -> None:
    """Put methods and properties of Tensor behind the question, too."""
    for operator, name in RENAMED.items():
        f = getattr(Tensor, operator)
        if isinstance(f, FunctionType):
            f.__name__, f.__qualname__ = name, f"TensorBase.{name}"
        elif _kernels.rename is not None:
            _kernels.rename(f, name)
    made: dict[int, Any] = {}
    for name, value in list(vars(Tensor).items()):
        if id(value) in made:
            setattr(Tensor, name, made[id(value)])
        elif isinstance(value, property):
            made[id(value)] = told_property(name, value)
            setattr(Tensor, name, made[id(value)])
        elif callable(value) and not hasattr(value, "unchecked") and name not in METHODS_UNTOLD and (
                not name.startswith("_") or name in SELF_METHODS or name in PYTHON_METHODS or name == "__reduce_ex__"):
            made[id(value)] = public(value, how_of(name, False), "", f"Tensor.{name}", name)
            setattr(Tensor, name, made[id(value)])
    parts.nowrap = frozenset(vars(Tensor)[name].__get__ for name in ("_base", "grad", "_grad"))


def told_property(name: str, value: property) -> property:
    calls = [None if f is None or hasattr(f, "refuses") else public(f, SELF, "", f"Tensor.{name}", name)
             for f in (value.fget, value.fset, value.fdel)]
    made = property(calls[0], calls[1] or value.fset, calls[2] or value.fdel, value.__doc__)
    for call, func in zip(calls, (made.__get__, made.__set__, made.__delete__)):
        if call is not None:
            tell(call, func)
    return made


@functools.cache
def parameters(f: Callable[..., Any]) -> inspect.Signature:
    return inspect.signature(f)


# Arguments of ours that PyTorch's functions in Python do not hand on; with a * those that go by place all the same, with a =
# those that go by name.
OTHERWISE = {
    "split": "*split_size_or_sections split_size", "Tensor.split": "*split_size_or_sections split_size", "Tensor.norm": "out",
    "chain_matmul": "out", "rrelu": "generator", "batch_norm": "cudnn_enabled", "instance_norm": "cudnn_enabled",
    "layer_norm": "cudnn_enable", "group_norm": "cudnn_enabled", "l1_loss": "weight", "Tensor.__array__": "copy",
    "Tensor.__array_wrap__": "=array context return_scalar", "Tensor.dim_order": "ambiguity_check",
}


def arrange(func: Any, impl: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> tuple[Any, Any]:
    """The arguments as a function of PyTorch's in Python hands them on: what has a default goes by its name."""
    impl = getattr(impl, "impl", impl)          # of an Unasked, in _fast.c
    impl = impl.f if isinstance(impl, Checks) else impl
    if hasattr(impl, "handed_on"):
        return impl.handed_on(*args), kwargs or {}
    bound = parameters(impl).bind(*args, **kwargs or {})
    bound.apply_defaults()
    otherwise = OTHERWISE.get(func.__qualname__, "").split()
    places: list[Any] = []
    names: dict[str, Any] = {}
    for p in parameters(impl).parameters.values():
        value = bound.arguments[p.name]
        if p.name in otherwise:
            continue
        if p.kind is p.VAR_POSITIONAL:
            places += value
        elif p.kind is p.VAR_KEYWORD:
            names |= value
        elif f"*{p.name}" in otherwise or (p.default is p.empty and p.kind is not p.KEYWORD_ONLY and not (
                f"={p.name}" in otherwise or func.__module__.endswith("nn.init"))):
            places.append(value)
        else:
            names[p.name] = value
    return tuple(places), names


parts.arrange = arrange
parts.set_grad = public(set_grad, FACTORY, "_C", "_set_grad_enabled", "_set_grad_enabled")
