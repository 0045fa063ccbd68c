"""torch.cpu.amp: torch.amp for "cpu", under names that PyTorch has deprecated."""
from __future__ import annotations

from typing import Any

from retrograd import amp
from retrograd._engine.warn import warn
from retrograd._missing import late_names
from retrograd._tensor import dtypes

late_names(__name__)
OLD = "`torch.cpu.amp.{0}(args...)` is deprecated. Please use `torch.amp.{0}('cpu', args...)` instead."


class autocast(amp.autocast):
    """torch.amp.autocast("cpu")."""

    def __init__(self, enabled: bool = True, dtype: Any = dtypes.bfloat16, cache_enabled: bool = True) -> None:
        warn(OLD.format("autocast"), FutureWarning)
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """torch.amp.GradScaler("cpu")."""

    def __init__(self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5,
                 growth_interval: int = 2000, enabled: bool = True) -> None:
        warn(OLD.format("GradScaler"), FutureWarning)
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
