"""torch.cuda, for programs that ask before they use it: there is none.

Written by `make generate` from the table in tools/small_modules.py.
"""
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from retrograd._missing import late_names
from retrograd._tensor.dtypes import check_device
from retrograd.cuda import _types

if TYPE_CHECKING:
    from retrograd._small_modules.cuda import amp as amp

_initialized = False                            # read by programs that put the generators of GPUs back

late_names(__name__, lazy=("amp",), also=_types.LATE)


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU."""
    return False


def device_count() -> int:
    """0."""
    return 0


def manual_seed(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def manual_seed_all(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without such a device."""


def synchronize(device: Any = None) -> None:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def current_device() -> int:
    """AssertionError: there is no GPU."""
    check_device("cuda")
    return 0


def get_device_name(device: Any = None) -> str:
    """AssertionError: there is no GPU."""
    check_device("cuda")
    return ""


def set_device(device: Any) -> None:
    """AssertionError: there is no GPU."""
    check_device("cuda")


def memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0."""
    return 0


def empty_cache() -> None:
    """There is nothing to free."""


def reset_peak_memory_stats(device: Any = None) -> None:
    """There is nothing to reset."""
