"""torch.cuda.amp: torch.amp for "cuda", under names that PyTorch has deprecated.  As there without a GPU, all of it is off."""
from __future__ import annotations

from typing import Any

from retrograd import amp
from retrograd._engine.warn import warn
from retrograd._missing import late_names
from retrograd._tensor import dtypes

__all__ = ["GradScaler", "amp_definitely_not_available", "autocast", "custom_bwd", "custom_fwd"]
late_names(__name__)


def amp_definitely_not_available() -> bool:
    """True: there is no GPU."""
    return True


def deprecated(name: str, use: str) -> None:
    warn(f"`torch.cuda.amp.{name}(args...)` is deprecated. Please use `torch.amp.{use}` instead.", FutureWarning)


class autocast(amp.autocast):
    """torch.amp.autocast("cuda"): warns, and is off."""

    def __init__(self, enabled: bool = True, dtype: Any = dtypes.float16, cache_enabled: bool = True) -> None:
        deprecated("autocast", "autocast('cuda', args...)")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cuda"): warns, and is off."""

    def __init__(self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        deprecated("GradScaler", "GradScaler('cuda', args...)")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Any = None, *, cast_inputs: Any = None) -> Any:
    """torch.amp.custom_fwd with device_type="cuda": fwd itself."""
    deprecated("custom_fwd", "custom_fwd(args..., device_type='cuda')")
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Any) -> Any:
    """torch.amp.custom_bwd with device_type="cuda": bwd itself."""
    deprecated("custom_bwd", "custom_bwd(args..., device_type='cuda')")
    return amp.custom_bwd(bwd, device_type="cuda")
