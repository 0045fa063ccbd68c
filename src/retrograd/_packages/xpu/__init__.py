"""torch.xpu, for programs that ask before they use it: there is none.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names

__all__ = [
    "current_device",
    "device_count",
    "empty_cache",
    "is_available",
    "is_initialized",
    "manual_seed",
    "manual_seed_all",
    "memory_allocated",
    "synchronize",
]
late_names(__name__)


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialize."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def manual_seed_all(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def empty_cache() -> None:
    """There is nothing to free."""


def memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def synchronize(device: Any = None) -> None:
    """AssertionError: there is no such device."""
    raise AssertionError("Torch not compiled with XPU enabled")


def current_device() -> int:
    """AssertionError: there is no such device."""
    raise AssertionError("Torch not compiled with XPU enabled")
