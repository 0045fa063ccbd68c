"""torch.utils._device: a mode that gives factories a device.  https://pytorch.org/docs/stable/tensor_attributes.html"""
from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from typing import Any

from .._functions.function_modes import TorchFunctionMode, _pop_mode, _push_mode
from .._tensor import dtypes

CURRENT_DEVICE: Any = None
CONSTRUCTORS = """arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye
    full hamming_window hann_window kaiser_window linspace logspace ones rand randint randn randperm range
    scalar_tensor tensor tril_indices triu_indices zeros""".split()


@functools.lru_cache
def _device_constructors() -> set[Callable[..., Any]]:
    """The functions that take device= and are given no tensor to take it from."""
    torch: Any = sys.modules[__name__.partition(".")[0]]
    return {getattr(torch, name) for name in CONSTRUCTORS}


class DeviceContext(TorchFunctionMode):
    """Factories called inside make their tensors on `device`, unless they are told another one."""

    def __init__(self, device: Any) -> None:
        self.device = dtypes.device(device)

    def __enter__(self) -> Any:
        global CURRENT_DEVICE
        self.old_device, CURRENT_DEVICE = CURRENT_DEVICE, self.device
        _push_mode(self)
        return self

    def __exit__(self, *_: Any) -> None:
        global CURRENT_DEVICE
        CURRENT_DEVICE = self.old_device
        _pop_mode()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if kwargs.get("device") is None and func in _device_constructors():
            kwargs["device"] = self.device
        return func(*args, **kwargs)


def device_decorator(device: Any, func: Callable[..., Any]) -> Callable[..., Any]:
    """func, inside DeviceContext(device)."""
    @functools.wraps(func)
    def call(*args: Any, **kwargs: Any) -> Any:
        with DeviceContext(device):
            return func(*args, **kwargs)
    return call


def set_device(device: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator: the function's factories make their tensors on `device`."""
    return lambda func: device_decorator(dtypes.device(device), func)
