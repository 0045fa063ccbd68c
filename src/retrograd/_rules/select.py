"""np.where without branches."""
from __future__ import annotations

from typing import Any, Final

import numpy

from .._engine.node import Array
from .._kernels import kernel

np: Final[Any] = numpy
quick_choose: Final[Any] = kernel("choose")


def select(mask: Array, a: Any, b: Any) -> Array:
    """a where the mask holds, else b; arrays of one dtype, or one array and a number, in the array's dtype."""
    if not isinstance(a, np.ndarray):
        if not isinstance(b, np.ndarray):
            return np.where(mask, a, b)
        a = np.asarray(a, b.dtype)
    elif not isinstance(b, np.ndarray):
        b = np.asarray(b, a.dtype)
    quick = quick_choose(mask, a, b)
    return np.where(mask, a, b) if quick is None else quick
