"""Where retrograd.amp.grad_scaler is written.

Written by `make generate`.
"""
from retrograd._packages.amp.grad_scaler import (
    GradScaler as GradScaler,
)
