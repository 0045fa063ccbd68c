"""Where retrograd.cpu.amp is written.

Written by `make generate`.
"""
from retrograd._packages.cpu.amp import (
    GradScaler as GradScaler,
    OLD as OLD,
    autocast as autocast,
)
