"""torch.accelerator, for programs that ask before they use one: there is none.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names

__all__ = [
    "current_accelerator",
    "current_device_idx",
    "current_device_index",
    "current_stream",
    "device_count",
    "empty_cache",
    "is_available",
    "max_memory_allocated",
    "max_memory_reserved",
    "memory_allocated",
    "memory_reserved",
    "memory_stats",
    "reset_accumulated_memory_stats",
    "reset_peak_memory_stats",
    "set_device_idx",
    "set_device_index",
    "set_stream",
    "synchronize",
]
late_names(__name__)


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None."""


def empty_cache() -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_idx() -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def current_device_index() -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def set_device_idx(device: Any, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def set_device_index(device: Any, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def set_stream(stream: Any) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def current_stream(device: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def synchronize(device: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def max_memory_allocated(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def max_memory_reserved(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def memory_allocated(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def memory_reserved(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def memory_stats(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def reset_accumulated_memory_stats(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


def reset_peak_memory_stats(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")
