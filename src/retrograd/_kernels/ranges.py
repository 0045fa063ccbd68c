"""arange and linspace with PyTorch's roundings; without a kernel the last bit of float64 may be another."""
from __future__ import annotations

from typing import Any, Final

import numpy as np

from . import kernel

quick_arange: Final[Any] = kernel("arange")
quick_linspace: Final[Any] = kernel("linspace")
quick_powers: Final[Any] = kernel("powers")


def arange(n: int, start: float, step: float, want: Any) -> Any:
    """start + i step, (n,) of a floating dtype.

    PyTorch rounds the first number of each vector of 32 bytes and adds to that; what fills no two vectors is made one by one.
    """
    out = np.empty(n, want)
    if not quick_arange(out, start, step):
        wide = np.dtype(np.float32 if want.itemsize == 2 else np.float64)
        start, step = float(wide.type(start)), float(wide.type(step))
        width = 32 // want.itemsize
        paired = n - n % (2 * width)
        first = (start + step * np.arange(0, paired, width)).astype(wide).astype(want).astype(np.float64)
        out[:paired] = (first[:, None] + step * np.arange(width)).astype(wide).reshape(-1)
        out[paired:] = (start + step * np.arange(paired, n)).astype(wide)
    return out


def linspace(start: float, end: float, n: int, want: Any) -> Any:
    """n numbers from start to end, both included, of a floating dtype: from both ends, so that the last is exact."""
    out = np.empty(n, want)
    if n == 1:
        out[0] = start
    elif not quick_linspace(out, start, end):
        def rounded(x: Any) -> Any:
            return np.asarray(x).astype(want).astype(np.float64)
        near, far = rounded(start), rounded(end)
        step = rounded(rounded(far - near) / rounded(n - 1)) if n else 0.0
        up, down = np.arange(n // 2), np.arange(n - n // 2)[::-1]
        if want.itemsize == 2:                  # there each operation is rounded, the index too
            out[:n // 2], out[n // 2:] = near + rounded(step * rounded(up)), far - rounded(step * rounded(down))
        else:
            out[:n // 2], out[n // 2:] = near + step * up, far - step * down
    return out


def powers(base: float, x: Any) -> Any:
    """base ** x, by the C library where x is float64; complex numbers by NumPy."""
    return x if quick_powers(x, base) else np.power(base, x)
