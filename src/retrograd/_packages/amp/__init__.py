"""torch.amp: mixed precision.  https://pytorch.org/docs/stable/amp.html

As PyTorch does on a machine without a GPU, autocast("cuda") and GradScaler("cuda") warn and are off.
"""
from __future__ import annotations

from retrograd._missing import late_names

from . import autocast_mode, grad_scaler
from .autocast_mode import autocast, custom_bwd, custom_fwd, is_autocast_available
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "autocast_mode", "custom_bwd", "custom_fwd", "grad_scaler", "is_autocast_available"]
late_names(__name__)
