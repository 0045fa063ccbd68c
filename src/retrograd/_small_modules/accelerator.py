"""torch.accelerator, for programs that ask before they use one: there is none."""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count", "empty_cache",
    "is_available", "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved", "memory_stats",
    "reset_accumulated_memory_stats", "reset_peak_memory_stats", "set_device_idx", "set_device_index", "set_stream",
    "synchronize",
]
late_names(__name__)


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def device_count() -> int:
    """0"""
    return 0


def current_accelerator(check_available: bool = False) -> None:
    """None."""


def none_there(device_index: Any = None, /) -> Any:
    """RuntimeError: there is no accelerator."""
    raise RuntimeError("Cannot access accelerator device when none is available.")


current_device_index = current_device_idx = current_stream = empty_cache = synchronize = set_device_index = none_there
set_device_idx = set_stream = memory_stats = memory_allocated = max_memory_allocated = memory_reserved = none_there
max_memory_reserved = reset_accumulated_memory_stats = reset_peak_memory_stats = none_there
