"""Where retrograd.cuda.amp is written.

Written by `make generate`.
"""
from retrograd._packages.cuda.amp import (
    GradScaler as GradScaler,
    amp_definitely_not_available as amp_definitely_not_available,
    autocast as autocast,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    deprecated as deprecated,
)
