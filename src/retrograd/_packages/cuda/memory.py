"""torch.cuda.memory: names of torch.cuda.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.cuda",
    "set_per_process_memory_fraction empty_cache memory_stats reset_peak_memory_stats memory_allocated "
    "max_memory_allocated memory_reserved max_memory_reserved mem_get_info MemPool ")
