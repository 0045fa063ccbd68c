"""torch.mps, for programs that ask before they use it: there is none.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names

__all__ = [
    "current_allocated_memory",
    "device_count",
    "empty_cache",
    "is_available",
    "manual_seed",
    "synchronize",
]
late_names(__name__)


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def synchronize() -> None:
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute deviceSynchronize() without MPS backend.")


def empty_cache() -> None:
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute emptyCache() without MPS backend.")


def current_allocated_memory() -> int:
    """RuntimeError: there is no such device."""
    raise RuntimeError("Cannot execute getCurrentAllocatedMemory() without MPS backend.")
