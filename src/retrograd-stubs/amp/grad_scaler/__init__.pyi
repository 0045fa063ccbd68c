"""Where retrograd.amp.grad_scaler is written.

Written by `make generate`.
"""
from retrograd._small_modules.amp.grad_scaler import (
    GradScaler as GradScaler,
)
