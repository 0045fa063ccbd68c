"""Window functions for signals: torch.hann_window, hamming_window, blackman_window, bartlett_window, kaiser_window."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names
from .._tensor import dtypes
from .fromdata import leaf


def window(name: str, shape: Callable[[Any], Any], length: Any, periodic: bool, dtype: Any, device: Any,
           requires_grad: bool) -> Any:
    """shape(k / (n - 1)) for n points, or the first n of n + 1 if periodic."""
    dtypes.check_device(device)
    want = dtypes.get_default_dtype().numpy if dtype is None else dtypes.to_numpy(dtype, name)
    if want.kind not in "fcV":
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={names.C[want.name]}, device=cpu, layout=Strided "
            "(default), requires_grad=false (default), pinned_memory=false, memory_format=(nullopt))")
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    n = length + 1 if periodic else length
    if length <= 1:
        return leaf(np.ones(length, want), requires_grad)
    if want.kind == "c":
        raise NotImplementedError(f"\"arange_cpu\" not implemented for '{names.SCALAR[want.name]}'")
    return leaf(shape(np.arange(length) / (n - 1)).astype(want), requires_grad)


def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                    pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """A triangle."""
    return window("bartlett_window", lambda t: 1 - np.abs(2 * t - 1), window_length, periodic, dtype, device, requires_grad)


def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                    pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t)"""
    return window("blackman_window", lambda t: 0.42 - 0.5 * np.cos(2 * np.pi * t) + 0.08 * np.cos(4 * np.pi * t),
                  window_length, periodic, dtype, device, requires_grad)


def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None,
                   layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """alpha - beta cos(2 pi t)"""
    return window("hamming_window", lambda t: alpha - beta * np.cos(2 * np.pi * t), window_length, periodic, dtype, device,
                  requires_grad)


def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """0.5 - 0.5 cos(2 pi t)"""
    return window("hann_window", lambda t: 0.5 - 0.5 * np.cos(2 * np.pi * t), window_length, periodic, dtype, device,
                  requires_grad)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None,
                  device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """I0(beta sqrt(1 - (2 t - 1)^2)) / I0(beta)"""
    return window("kaiser_window", lambda t: np.i0(beta * np.sqrt(1 - (2 * t - 1) ** 2)) / np.i0(float(beta)), window_length,
                  periodic, dtype, device, requires_grad)
