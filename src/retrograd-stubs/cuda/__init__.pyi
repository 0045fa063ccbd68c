"""Where retrograd.cuda is written.

Written by `make generate`.
"""
from retrograd._small_modules.cuda import (
    _initialized as _initialized,
    amp as amp,
    current_device as current_device,
    device_count as device_count,
    empty_cache as empty_cache,
    get_device_name as get_device_name,
    is_available as is_available,
    is_bf16_supported as is_bf16_supported,
    is_initialized as is_initialized,
    manual_seed as manual_seed,
    manual_seed_all as manual_seed_all,
    max_memory_allocated as max_memory_allocated,
    memory_allocated as memory_allocated,
    reset_peak_memory_stats as reset_peak_memory_stats,
    set_device as set_device,
    synchronize as synchronize,
)
