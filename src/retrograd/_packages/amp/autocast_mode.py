"""autocast: products in bfloat16, losses in float32.  https://pytorch.org/docs/stable/amp.html"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from retrograd._engine.tensor import TensorBase
from retrograd._engine.warn import warn
from retrograd._functions import autocast as switches
from retrograd._missing import late_names
from retrograd._tensor import dtypes

__all__ = ["autocast_decorator", "autocast", "is_autocast_available", "custom_fwd", "custom_bwd"]
late_names(__name__)
NO_CUDA = "CUDA is not available or torch_xla is imported. Disabling autocast."
KINDS = dtypes.bfloat16, dtypes.float16
UNABLE = {"fpga", "ideep", "lazy", "meta", "mkldnn", "opencl", "opengl", "ve", "vulkan"}


def is_autocast_available(device_type: str) -> bool:
    """Does PyTorch have autocast for device_type?"""
    return dtypes.device(device_type).type not in UNABLE


class autocast(switches.Switched):
    """A context, or decorator, in which products of matrices and convolutions of floats are computed in `dtype`, and losses and
    decompositions in float32.

    device_type    "cpu"; another casts nothing, since there are no tensors on it ("cuda" says so)
    dtype          bfloat16 (what None means, unless it was set otherwise) or float16
    enabled        False: nothing is cast
    cache_enabled  cast a parameter once, and not in each function that it goes to
    https://pytorch.org/docs/stable/amp.html#torch.autocast
    """

    _asked, _constant = set[str](), ("device", "fast_dtype", "_enabled", "_cache_enabled")    # NOTE [Recorder]

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = switches.get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        if not is_autocast_available(device_type):
            raise RuntimeError(f"User specified an unsupported autocast device_type '{device_type}'")
        self._cache_enabled = switches.is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda":
            warn(NO_CUDA)
            enabled = False
        elif enabled and self.fast_dtype not in KINDS:
            device = device_type.upper()
            warn(f"In {device} autocast, but the target dtype is not supported. Disabling autocast.\n"
                 f"{device} Autocast only supports dtypes of {', '.join(map(str, KINDS))} currently.")
            enabled = False
        self._enabled = enabled

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        if not callable(func):
            raise TypeError(
                f"autocast()(func) requires a callable, but got {type(func).__name__}. Did you mean to use autocast as a "
                "context manager? For example:\n    with torch.autocast(device_type=...):\n        output = model(input)")
        return autocast_decorator(self, func)


def autocast_decorator(autocast_instance: autocast, func: Callable[..., Any]) -> Callable[..., Any]:
    """func, inside the context."""
    @functools.wraps(func)
    def decorate_autocast(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)
    return decorate_autocast


def _cast(value: Any, dtype: Any) -> Any:
    """value, or what it contains, with its tensors of floats but doubles in the dtype."""
    if isinstance(value, TensorBase):
        return value.to(dtype) if switches.castable(value) else value  # type: ignore[attr-defined]
    if isinstance(value, dict):
        return {_cast(k, dtype): _cast(v, dtype) for k, v in value.items()}
    return type(value)(_cast(v, dtype) for v in value) if isinstance(value, (list, tuple)) else value


def _check(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """Decorate fwd, the forward of a Function: with cast_inputs it runs without autocast, on inputs in that dtype.

    device_type: whose autocast that is.
    """
    _check(device_type)
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorate_fwd(*args: Any, **kwargs: Any) -> Any:
        on = switches.is_autocast_enabled(device_type)
        args[0]._dtype = switches.get_autocast_dtype(device_type)
        args[0]._fwd_used_autocast = on and cast_inputs is None
        if not on or cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(*_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))
    return decorate_fwd


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """Decorate bwd, the backward of a Function: it runs with or without device_type's autocast, as forward did."""
    _check(device_type)
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorate_bwd(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)
    return decorate_bwd
