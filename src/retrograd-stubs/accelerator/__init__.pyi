"""Where retrograd.accelerator is written.

Written by `make generate`.
"""
from retrograd._packages.accelerator import (
    current_accelerator as current_accelerator,
    current_device_idx as current_device_idx,
    current_device_index as current_device_index,
    current_stream as current_stream,
    device_count as device_count,
    empty_cache as empty_cache,
    is_available as is_available,
    max_memory_allocated as max_memory_allocated,
    max_memory_reserved as max_memory_reserved,
    memory_allocated as memory_allocated,
    memory_reserved as memory_reserved,
    memory_stats as memory_stats,
    reset_accumulated_memory_stats as reset_accumulated_memory_stats,
    reset_peak_memory_stats as reset_peak_memory_stats,
    set_device_idx as set_device_idx,
    set_device_index as set_device_index,
    set_stream as set_stream,
    synchronize as synchronize,
)
