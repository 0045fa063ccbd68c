"""torch.cuda, for programs that ask before they use it: there is none."""
from __future__ import annotations

from typing import Any

from .._missing import module_getattr
from ..dtypes import check_device

__getattr__ = module_getattr(__name__, lazy=("amp",))
_initialized = False                            # read by programs that put the generators of GPUs back


def is_available() -> bool:
    """False: tensors live on the CPU."""
    return False


def is_initialized() -> bool:
    """False: there is nothing to initialise."""
    return False


def device_count() -> int:
    """0"""
    return 0


def manual_seed(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without a GPU; the CPU's numbers come from torch.manual_seed."""


def manual_seed_all(seed: Any) -> None:
    """Accepted, as PyTorch does on a machine without a GPU; the CPU's numbers come from torch.manual_seed."""


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


def empty_cache() -> None:
    """There is nothing to free."""


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """False: there is no GPU."""
    return False


def memory_allocated(device: Any = None) -> int:
    """0"""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """0"""
    return 0


def reset_peak_memory_stats(device: Any = None) -> None:
    """There is nothing to reset."""
