"""Where retrograd.xpu is written.

Written by `make generate`.
"""
from retrograd._packages.xpu import (
    current_device as current_device,
    device_count as device_count,
    empty_cache as empty_cache,
    is_available as is_available,
    is_initialized as is_initialized,
    manual_seed as manual_seed,
    manual_seed_all as manual_seed_all,
    memory_allocated as memory_allocated,
    synchronize as synchronize,
)
