"""torch.overrides: who takes calls of public functions over, by __torch_function__.

https://pytorch.org/docs/stable/torch.overrides.html

relevant_args, relevant_arg   arguments of a call: tensors, or anything
inp, func, f                  any object
types                         the types that took part, as __torch_function__ was given them
"""
from __future__ import annotations

import functools
import inspect
import types
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from retrograd import _functions
from retrograd._engine.dispatch import PYTHON, consider, hand_over, takes_part
from retrograd._engine.modes import state
from retrograd._functions.function_modes import BaseTorchFunctionMode as BaseTorchFunctionMode
from retrograd._functions.function_modes import TorchFunctionMode as TorchFunctionMode
from retrograd._functions.function_modes import _pop_mode as _pop_mode
from retrograd._functions.function_modes import _push_mode as _push_mode
from retrograd._functions.public import parts
from retrograd._missing import late_names
from retrograd._tensor import Tensor
from retrograd.nn import functional as F
from retrograd.nn import init

__all__ = [
    "get_ignored_functions", "get_overridable_functions", "get_testing_overrides", "handle_torch_function",
    "has_torch_function", "resolve_name", "is_tensor_like", "is_tensor_method_or_property", "wrap_torch_function",
    "redispatch_function",
]
late_names(__name__)

# Functions that nobody takes over, though a mode sees some of them: factories among them.
IGNORED = {
    "": """arange are_deterministic_algorithms_enabled as_strided as_tensor asarray bartlett_window blackman_window can_cast
        compile device dtype empty empty_permuted empty_strided enable_grad eye fill finfo from_numpy frombuffer full
        get_autocast_cpu_dtype get_autocast_dtype get_autocast_gpu_dtype get_default_device get_default_dtype
        get_deterministic_debug_mode get_float32_matmul_precision get_num_interop_threads get_num_threads get_rng_state
        hamming_window hann_window iinfo inference_mode initial_seed is_anomaly_check_nan_enabled is_anomaly_enabled
        is_autocast_cache_enabled is_autocast_cpu_enabled is_autocast_enabled is_deterministic_algorithms_warn_only_enabled
        is_grad_enabled is_inference_mode_enabled is_storage is_tensor is_warn_always_enabled kaiser_window layout linspace load
        logspace manual_seed memory_format no_grad normal ones promote_types rand rand_like randint randint_like randn
        randn_like randperm range result_type save scalar_tensor seed set_default_device set_default_tensor_type
        set_deterministic_debug_mode set_float32_matmul_precision set_flush_denormal set_grad_enabled set_num_interop_threads
        set_num_threads set_printoptions set_rng_state set_warn_always tensor tril_indices triu_indices typename
        use_deterministic_algorithms vander vmap zeros broadcast_shapes""",
    "Tensor": """__class__ __delitem__ __dir__ __hash__ __init_subclass__ __iter__ __new__ __torch_function__ _make_subclass
        _make_wrapper_subclass as_subclass new new_empty new_empty_strided new_full new_ones new_tensor new_zeros stride
        unflatten""",
    "nn.functional": "hardsigmoid hardswish sigmoid tanh upsample upsample_bilinear upsample_nearest",
    "nn.init": """calculate_gain constant dirac eye kaiming_normal kaiming_uniform normal orthogonal sparse uniform xavier_normal
        xavier_uniform""",
}


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions that __torch_function__ of types is never told of."""
    places = {"": import_module(__package__), "Tensor": Tensor, "nn.functional": F, "nn.init": init}
    return {getattr(places[place], name) for place, names in IGNORED.items() for name in names.split()
            if hasattr(places[place], name)}


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Functions whose results Tensor.__torch_function__ gives as they are."""
    return set(parts.nowrap)


@functools.cache
def _overridable() -> tuple[dict[Any, list[Callable[..., Any]]], dict[Any, str]]:
    torch = import_module(__package__)
    found: dict[Any, list[Callable[..., Any]]] = {}
    names: dict[Any, str] = {}
    more = "can_cast", "is_inference", "promote_types", "result_type"
    public = [n for n in (*_functions.__all__, *_functions.LATER, *more) if not n.startswith("_")]
    for place, owner, members in (
            ("torch", torch, public), ("torch.functional", torch.functional, torch.functional.__all__),
            ("torch.nn.functional", F, F.__all__), ("torch.nn.init", init, init.__all__), ("torch.Tensor", Tensor, dir(Tensor)),
            ("torch.linalg", torch.linalg, torch.linalg.__all__), ("torch.special", torch.special, torch.special.__all__),
            ("torch.fft", torch.fft, torch.fft.__all__)):
        for name in members:
            value = inspect.getattr_static(Tensor, name) if owner is Tensor else getattr(owner, name)
            if owner is Tensor and name.startswith("__") and getattr(object, name, None) in (value, getattr(Tensor, name)):
                continue
            if isinstance(value, property):
                names |= {value.__get__: f"{place}.{name}.__get__", value.__set__: f"{place}.{name}.__set__"}
                found.setdefault(value, []).append(value.__get__)
                continue
            value = getattr(Tensor, name, None) if owner is Tensor else value
            hidden = owner is not Tensor and (name.startswith("_") or name.endswith("_") or not name[0].islower())
            if callable(value) and not isinstance(value, (type, types.ModuleType)):
                if owner is not Tensor or value not in names or value.__name__ == name or name.startswith("__"):
                    names[value] = f"{place}.{name}"
                if not hidden and value not in get_ignored_functions() and not (
                        owner is Tensor and name.startswith("_") and not name.startswith("__")):
                    found.setdefault(owner, []).append(value)
    return found, names


def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """{namespace: functions that reach __torch_function__}; of a property its __get__, under the property."""
    return _overridable()[0]


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., Any]]:
    """{function: one of the same signature that gives -1}"""
    inits = [init.uniform_, init.normal_, init.constant_, init.kaiming_uniform_]
    return {f: _dummy(f) for members in (*get_overridable_functions().values(), inits) for f in members}


def _dummy(f: Callable[..., Any]) -> Callable[..., Any]:
    try:
        signature = inspect.signature(f)
    except (TypeError, ValueError):
        signature = inspect.signature(lambda self, *args, **kwargs: -1)

    def dummy(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1
    dummy.__signature__ = signature  # type: ignore[attr-defined]
    return dummy


def resolve_name(f: Any) -> str | None:
    """'torch.Tensor.add' of torch.Tensor.add; None for what is nobody's."""
    return _overridable()[1].get(f)


@functools.cache
def _tensor_methods() -> set[Any]:
    return set(get_overridable_functions()[Tensor])


def is_tensor_method_or_property(func: Any) -> bool:
    """Is it a method of Tensor, or the __get__ of a property?"""
    return func in _tensor_methods() or getattr(func, "__name__", "") == "__get__"


def is_tensor_like(inp: Any) -> bool:
    """Is it a tensor, or of a type with __torch_function__?"""
    return type(inp) is Tensor or hasattr(inp, "__torch_function__")


def _others_ask(values: Iterable[Any]) -> bool:
    it = state()
    if it.skip:
        it.skip = False
        return False
    if it.functions and it.closed < 2:
        return True
    return it.closed == 0 and any(type(x) is not Tensor and takes_part(type(x)) for x in values)


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Does a mode, or one of these arguments, take calls over?"""
    if not isinstance(relevant_args, (tuple, list)):
        raise TypeError("expected a sequence")
    return _others_ask(relevant_args)


def has_torch_function_unary(relevant_arg: Any) -> bool:
    """has_torch_function of one argument."""
    return _others_ask((relevant_arg,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """has_torch_function of these arguments."""
    return _others_ask(relevant_args)


def _get_overloaded_args(relevant_args: Iterable[Any]) -> list[Any]:
    """One argument of each type with __torch_function__, in the order in which they are asked."""
    found: list[Any] = []
    for x in relevant_args:
        if not isinstance(x, (tuple, list)):
            consider(found, x, True)
    return found


def handle_torch_function(public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any) -> Any:
    """What the mode, or the first of `relevant_args` whose type does not decline, makes of public_api(*args, **kwargs)."""
    found = _get_overloaded_args(relevant_args)
    return hand_over(state(), public_api, None, PYTHON, args, kwargs, found)


def wrap_torch_function(dispatcher: Callable[..., Iterable[Any]]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function may be taken over by the arguments that dispatcher(*args, **kwargs) names."""
    def wrap(func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def call(*args: Any, **kwargs: Any) -> Any:
            relevant = dispatcher(*args, **kwargs)
            if has_torch_function(relevant):
                return handle_torch_function(call, relevant, *args, **kwargs)
            return func(*args, **kwargs)
        return call
    return wrap


def redispatch_function(func: Callable[..., Any], types: Any, args: Any, kwargs: Any) -> Any:
    """func(*args, **kwargs), and nobody is asked about this call; those inside a function of the user's are asked about."""
    it = state()
    it.skip = True
    try:
        return func(*args, **kwargs or {})
    finally:
        it.skip = False


@contextmanager
def _pop_mode_temporarily() -> Iterator[Any]:
    mode = _pop_mode()
    try:
        yield mode
    finally:
        _push_mode(mode)


def _get_current_function_mode() -> Any:
    it = state()
    return it.functions[-1] if it.functions else None


def _get_current_function_mode_stack() -> list[Any]:
    return [mode for mode in state().functions if not hasattr(mode, "hidden")]


@contextmanager
def _enable_torch_function() -> Iterator[None]:
    it = state()
    had, it.closed = it.closed, 0
    try:
        yield
    finally:
        it.closed = had

