"""torch.distributed, for programs that ask before they use it: as in a PyTorch built without it, not available.

Written by `make generate` from the table in tools/small_modules.py.
"""
from __future__ import annotations

from retrograd._missing import late_names

__all__ = [
    "is_available",
    "is_initialized",
    "is_torchelastic_launched",
]
late_names(__name__)


def is_available() -> bool:
    """False: a program is one process."""
    return False


def is_initialized() -> bool:
    """False: there is no group of processes."""
    return False


def is_torchelastic_launched() -> bool:
    """False."""
    return False
