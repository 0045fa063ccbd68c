"""The cache of array memory: statistics, its limit, letting go of it.  RETROGRAD_BLOCK_CACHE=0 switches it off."""
from __future__ import annotations

from .._kernels.blocks import Stats, clear, limit, stats

__all__ = ["Stats", "clear", "limit", "stats"]
