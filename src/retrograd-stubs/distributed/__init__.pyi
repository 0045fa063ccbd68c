"""Where retrograd.distributed is written.

Written by `make generate`.
"""
from retrograd._small_modules.distributed import (
    is_available as is_available,
    is_initialized as is_initialized,
    is_torchelastic_launched as is_torchelastic_launched,
)
