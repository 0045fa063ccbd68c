"""The cache of memory blocks for arrays: blocks.c says how, this file when.

It serves every array made in a context that uses it: the thread that imports retrograd, and each thread as it first runs a
backward pass or changes a mode.  Arrays made elsewhere, and all arrays where there is no native code, use NumPy's allocator.

RETROGRAD_BLOCK_CACHE=0 switches it off; another number is the MiB it may keep (256, also where it is empty or, with a
warning, no number).
"""
from __future__ import annotations

import os
import sys
import warnings
from typing import NamedTuple

from . import nn

DEFAULT = 256
MIB = 1 << 20
MOST = sys.maxsize // MIB


class Stats(NamedTuple):
    """kept, most: bytes of free blocks now, and the most so far; limit: what may be kept, 0 when off.

    reused, made: how many blocks came from the cache, and from the system.
    """

    kept: int
    most: int
    limit: int
    reused: int
    made: int


def asked() -> int:
    """MiB to keep, from the environment."""
    text = os.environ.get("RETROGRAD_BLOCK_CACHE", "").strip()
    if text.isdecimal():
        return int(text) if len(text) < 20 else MOST
    if text:
        warnings.warn(
            f"RETROGRAD_BLOCK_CACHE={text!r}: expected the MiB that the block cache may keep, 0 for no cache; "
            f"it keeps {DEFAULT}", RuntimeWarning, stacklevel=2)
    return DEFAULT


def start() -> None:
    """Let arrays made in this thread's context use the cache, unless it is off."""
    if nn is not None and wanted:
        nn.blocks_start(min(wanted, MOST) * MIB)


def limit(mib: int) -> None:
    """Keep at most so many MiB from now on; 0: let go of everything and use NumPy's allocator in this context."""
    global wanted
    if mib < 0:
        raise ValueError(f"limit: expected MiB to keep, 0 for no cache, got {mib}")
    wanted = mib
    if nn is not None:
        nn.blocks_clear()
        nn.blocks_start(min(mib, MOST) * MIB)
        if mib == 0:
            nn.blocks_stop()


def clear() -> None:
    """Give all free blocks back to the system."""
    if nn is not None:
        nn.blocks_clear()


def stats() -> Stats:
    """What the cache holds and has done; zeros where there is none."""
    return Stats(0, 0, 0, 0, 0) if nn is None else Stats(*nn.blocks_stats())


wanted = asked()
