"""Where retrograd.mps is written.

Written by `make generate`.
"""
from retrograd._packages.mps import (
    current_allocated_memory as current_allocated_memory,
    device_count as device_count,
    empty_cache as empty_cache,
    is_available as is_available,
    manual_seed as manual_seed,
    synchronize as synchronize,
)
