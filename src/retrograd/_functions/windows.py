"""Window functions for signals: torch.hann_window, hamming_window, blackman_window, bartlett_window, kaiser_window."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names
from .._tensor import dtypes
from .fromdata import leaf

Steps = Callable[..., Any]      # steps(x, f, (g, number), ...): functions in turn; numbers and results are rounded to the dtype


def window(name: str, shape: Callable[[Any, Any, Steps], Any], length: Any, periodic: bool, dtype: Any, device: Any,
           requires_grad: bool) -> Any:
    """shape(0 ... n - 1, n - 1, steps) of n points, or the first n of n + 1 if periodic.

    Computed in the dtype, 16 bits in float32, and rounded after every step: to PyTorch's numbers.
    """
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
    wide = want if want.itemsize > 2 else np.dtype("float32")

    def steps(x: Any, *functions: Any) -> Any:
        for f in functions:
            f, *numbers = f if isinstance(f, tuple) else (f,)
            x = f(x.astype(wide), *(np.asarray(n).astype(want).astype(wide) for n in numbers)).astype(want)
        return x
    return leaf(shape(np.arange(n).astype(want), n - 1, steps)[:length].astype(want), requires_grad)


def triangle(k: Any, last: int, steps: Steps) -> Any:
    rise = steps(k, (np.multiply, 2 / last))
    return np.where(np.arange(last + 1) <= last // 2, rise, steps(rise, np.negative, (np.add, 2)))


def blackman(k: Any, last: int, steps: Steps) -> Any:
    t = steps(k, (np.multiply, np.pi / last))
    twice, once = (steps(t, (np.multiply, n), np.cos, (np.multiply, weight)) for n, weight in ((4, 0.08), (2, 0.5)))
    return steps(twice, (np.subtract, once), (np.add, 0.42))


def cosine(alpha: float, beta: float) -> Callable[[Any, Any, Steps], Any]:
    return lambda k, last, steps: steps(k, (np.multiply, 2 * np.pi / last), np.cos, (np.multiply, -beta), (np.add, alpha))


def kaiser(beta: float) -> Callable[[Any, Any, Steps], Any]:
    def shape(k: Any, last: int, steps: Steps) -> Any:
        middle = np.asarray(last / 2).astype(k.dtype).astype(np.float64)
        t = (k.astype(np.float64) - middle) / middle
        return np.i0(beta * np.sqrt(np.maximum(1 - t * t, 0))) / np.i0(float(beta))
    return shape


def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                    pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """A triangle: 1 - |2 t - 1|, t from 0 to 1."""
    return window("bartlett_window", triangle, window_length, periodic, dtype, device, requires_grad)


def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                    pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """0.42 - 0.5 cos(2 pi t) + 0.08 cos(4 pi t)"""
    return window("blackman_window", blackman, window_length, periodic, dtype, device, requires_grad)


def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *, dtype: Any = None,
                   layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """alpha - beta cos(2 pi t)"""
    return window("hamming_window", cosine(alpha, beta), window_length, periodic, dtype, device, requires_grad)


def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None, device: Any = None,
                pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """0.5 - 0.5 cos(2 pi t)"""
    return window("hann_window", cosine(0.5, 0.5), window_length, periodic, dtype, device, requires_grad)


def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None, layout: Any = None,
                  device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Any:
    """I0(beta sqrt(1 - (2 t - 1)^2)) / I0(beta)"""
    return window("kaiser_window", kaiser(beta), window_length, periodic, dtype, device, requires_grad)
