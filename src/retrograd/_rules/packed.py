"""Results that PyTorch lays out in C order, whatever the layout of the inputs."""
from __future__ import annotations

from .._engine.node import Array


def packed(y: Array) -> Array:
    """y in C order."""
    return y if y.flags.c_contiguous else y.copy()
