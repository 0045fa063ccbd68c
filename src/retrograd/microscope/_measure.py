"""Norm, least and greatest value, zeros, NaN and inf of an array: what a recording keeps of a gradient."""
from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from .. import _kernels
from .._engine.modes import hush, unhush

Row = tuple[int, float, float, float, int, int, int]
NAMES = ("count", "norm", "min", "max", "zeros", "nans", "infs")
quick: Any = _kernels.kernel("stats")
compared: Any = _kernels.kernel("same")
TINY, HUGE = 1e-30, 1e30            # sums of squares beyond these are taken again, scaled


def measure(x: Any) -> Row:
    """(count, norm, min, max, zeros, nans, infs) of an array of floats.

    NaN and inf are counted apart: norm, min and max are those of the finite values (0, 0, 0 when there are none).  Of
    complex numbers min and max are those of the real and imaginary parts.
    """
    count = x.size
    if count == 0:
        return 0, 0.0, 0.0, 0.0, 0, 0, 0
    if x.dtype.kind == "c":
        _, norm, low, high, *_ = measure(np.ascontiguousarray(x).reshape(-1).view(x.real.dtype))
        nans = int(np.count_nonzero(np.isnan(x)))
        return count, norm, low, high, int(np.count_nonzero(x == 0)), nans, int(np.count_nonzero(np.isinf(x) & ~np.isnan(x)))
    found = quick(x)
    if found is None:
        flat = x.ravel("K")                     # no copy unless there are gaps
        if flat.dtype.kind != "f" or flat.itemsize < 4:
            flat = flat.astype(np.float32)
        found = quick(flat)
    if found is not None and TINY < found[0] < HUGE:
        return count, sqrt(found[0]), found[1], found[2], found[3], 0, 0
    flat = x.ravel("K")
    if flat.dtype.kind != "f" or flat.itemsize < 4:
        flat = flat.astype(np.float32)
    token = hush()
    try:
        if count == 1:
            value = float(flat[0])
            if value - value == 0.0:
                return 1, abs(value), value, value, int(value == 0.0), 0, 0
            return 1, 0.0, 0.0, 0.0, 0, int(value != value), int(value == value)
        squares = float(np.dot(flat, flat))
        if TINY < squares < HUGE:
            return (count, sqrt(squares), float(flat.min()), float(flat.max()),
                    int(np.count_nonzero(flat == 0)), 0, 0)
        return carefully(flat, count)
    finally:
        unhush(token)


def carefully(flat: Any, count: int) -> Row:
    """The same where squares overflow or underflow, or values are not finite."""
    fine = np.isfinite(flat)
    good = int(np.count_nonzero(fine))
    nans = infs = 0
    if good < count:
        nans = int(np.count_nonzero(np.isnan(flat)))
        infs = count - good - nans
        flat = flat[fine]
        if good == 0:
            return count, 0.0, 0.0, 0.0, 0, nans, infs
    low, high = float(flat.min()), float(flat.max())
    zeros = int(np.count_nonzero(flat == 0))
    scale = max(-low, high)
    if scale == 0.0:
        return count, 0.0, low, high, zeros, nans, infs
    scaled = flat.astype(np.float64) / scale
    return count, scale * sqrt(float(np.dot(scaled, scaled))), low, high, zeros, nans, infs


def same(a: Any, b: Any) -> bool:
    """Are two arrays of one shape and dtype equal, NaN to NaN?"""
    found = compared(a, b)
    if found is not None:
        return bool(found)
    bits = BITS.get(a.dtype.str)
    if bits is not None and bool((a.view(bits) == b.view(bits)).all()):
        return True
    return bool(np.array_equal(a, b, equal_nan=a.dtype.kind in "fcV"))


BITS = {"<f4": np.uint32, "<f8": np.uint64, "<f2": np.uint16}   # integers compare faster, and NaN with NaN
