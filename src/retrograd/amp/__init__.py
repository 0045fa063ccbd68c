"""torch.amp: mixed precision.  Off it is what PyTorch's is when off; on it is refused, for the CPU gains nothing from it here.

As PyTorch does on a machine without a GPU, autocast("cuda") and GradScaler("cuda") warn and are off.
"""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal

from .._engine.warn import warn
from .._missing import late_names
from .._tensor import dtypes
from . import grad_scaler
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "grad_scaler", "is_autocast_available"]
late_names(__name__)
FAST = {"cpu": dtypes.bfloat16}                  # what autocast would cast to
NO_CUDA = "CUDA is not available or torch_xla is imported. Disabling autocast."


class autocast:
    """A context, or decorator, in which nothing is cast.  NotImplementedError where it would have to be."""

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        if device_type == "cuda" and enabled:
            warn(NO_CUDA)
            enabled = False
        if enabled:
            raise NotImplementedError(
                f"autocast({device_type!r}): retrograd computes in the dtypes that its inputs have. Leave autocast out, give it "
                "enabled=False, or cast the model and its inputs: model.to(torch.bfloat16)")
        self.device, self.fast_dtype, self._enabled = device_type, dtype or FAST.get(device_type, dtypes.float16), False

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *error: object) -> Literal[False]:
        return False

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(func)
        def inside(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)
        return inside


def is_autocast_available(device_type: str) -> bool:
    """Can autocast be on for the device?"""
    dtypes.device(device_type)
    return False


def custom_fwd(fwd: Any = None, *, device_type: str, cast_inputs: Any = None) -> Any:
    """fwd itself: without autocast there is nothing to prepare."""
    return (lambda f: f) if fwd is None else fwd


def custom_bwd(bwd: Any = None, *, device_type: str) -> Any:
    """bwd itself: without autocast there is nothing to restore."""
    return (lambda f: f) if bwd is None else bwd
