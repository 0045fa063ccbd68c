"""Where retrograd.amp is written.

Written by `make generate`.
"""
from retrograd._packages.amp import (
    GradScaler as GradScaler,
    autocast as autocast,
    autocast_mode as autocast_mode,
    custom_bwd as custom_bwd,
    custom_fwd as custom_fwd,
    grad_scaler as grad_scaler,
    is_autocast_available as is_autocast_available,
)
