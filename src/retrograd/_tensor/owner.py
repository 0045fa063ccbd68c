"""Whose memory an array shows."""
from __future__ import annotations

from typing import Any

import numpy as np


def owner(array: Any) -> Any:
    """The array that owns the memory of `array`.  What NumPy's as_strided makes has an object in between that is no array."""
    while True:
        base = array.base
        if not isinstance(base, np.ndarray):
            base = getattr(base, "base", None)
            if not isinstance(base, np.ndarray):
                return array
        array = base
