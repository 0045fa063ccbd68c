"""GradScaler: scales a loss so that gradients of half precision do not vanish."""
from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from retrograd._engine.modes import modes
from retrograd._engine.tensor import TensorBase
from retrograd._engine.warn import warn
from retrograd._tensor.dtypes import float16
from retrograd.optim._replayed import live


class GradScaler:
    """Multiplies losses by a scale, divides gradients by it again, skips steps whose gradients are not finite, adapts the
    scale.   https://pytorch.org/docs/stable/amp.html#gradient-scaling

    init_scale        the first scale
    growth_interval   after how many finite steps the scale is multiplied by growth_factor
    backoff_factor    what it is multiplied by after one that was not
    enabled           False: losses and gradients stay as they are

    For "cuda", the default, it is off with a warning, as in PyTorch on a machine without a GPU: it passes losses on and
    steps optimizers.
    """

    _asked, _constant = {"scale", "unscale_", "step", "update", "is_enabled"}, ("_enabled",)

    def __init__(self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0,
                 backoff_factor: float = 0.5, growth_interval: int = 2000, enabled: bool = True) -> None:
        if enabled and device == "cuda":
            warn("torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.")
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if enabled and backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._device, self._enabled = device, enabled
        self._init_scale, self._growth_factor, self._backoff_factor = float(init_scale), growth_factor, backoff_factor
        self._scale: float | None = None            # until a loss was scaled
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._found: dict[int, bool | None] = {}    # optimizer -> were its gradients not finite, once unscaled; None: it had none
        self._stepped: set[int] = set()

    def scale(self, outputs: Any) -> Any:
        """outputs, a tensor or an iterable of tensors, times the scale."""
        if not self._enabled:
            return outputs
        if modes.clerk is not None:
            modes.clerk.scales(self, "scaled")
        if self._scale is None:
            self._scale = self._init_scale
        if isinstance(outputs, TensorBase):
            return outputs * (self._scale if modes.recorder is None else modes.recorder.number(self, "_scale"))
        if not hasattr(outputs, "__iter__"):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        made = [self.scale(o) for o in outputs]
        return type(outputs)(made) if isinstance(outputs, (list, tuple)) else made

    def _used(self, name: str) -> float:
        """The scale, once a loss was multiplied by it."""
        if self._scale is None:
            raise AssertionError(f"Attempted {name} but _scale is None.  This may indicate your script did not use "
                                 "scaler.scale(loss or outputs) earlier in the iteration.")
        return self._scale

    def unscale_(self, optimizer: Any) -> None:
        """The optimizer's gradients divided by the scale; once between two updates."""
        if not self._enabled:
            return
        params = [p for group in optimizer.param_groups for p in group["params"]]
        if modes.recorder is None:
            self._unscale(params, optimizer)
        else:
            modes.recorder.outright(self._unscale, params, optimizer)

    def _unscale(self, params: list[Any], optimizer: Any) -> None:
        scale = self._used("unscale_")
        if modes.clerk is not None:
            modes.clerk.scales(self, "unscaled")
        if id(optimizer) in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if id(optimizer) in self._found:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        grads = [p.grad for p in params if p.grad is not None]
        if any(g.dtype is float16 for g in grads):
            raise ValueError("Attempting to unscale FP16 gradients.")
        found: bool | None = False if grads else None
        for g in grads:
            found = found or not bool(np.isfinite(g.array.astype(np.float32)).all())
            g.mul_(1.0 / scale)
        self._found[id(optimizer)] = found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step() unless a gradient is inf or nan; unscales first where that was not done."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._used("step")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        if modes.recorder is None:
            return self._step(optimizer, *args, **kwargs)
        return modes.recorder.step(optimizer, (args, kwargs) if args or kwargs else None,
                                   partial(self._step, optimizer, *args, **kwargs))

    def _step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        if self._found[id(optimizer)] is None:
            raise AssertionError("No inf checks were recorded for this optimizer.")
        self._stepped.add(id(optimizer))
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    @live
    def update(self, new_scale: Any = None) -> None:
        """The scale for the next iteration: new_scale, or if that is None smaller after gradients that were not finite, and
        larger after many that were.
        """
        if not self._enabled:
            return
        scale = self._used("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            found = [f for f in self._found.values() if f is not None]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(found):
                self._scale = scale * self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = scale * self._growth_factor
                    self._scale = grown if math.isfinite(np.float32(grown)) else scale
                    self._growth_tracker = 0
        self._found, self._stepped = {}, set()

    def get_scale(self) -> float:
        """The scale; 1 when off."""
        return (self._init_scale if self._scale is None else self._scale) if self._enabled else 1.0

    def is_enabled(self) -> bool:
        """Is it on?"""
        return self._enabled

    def get_growth_factor(self) -> float:
        """By what the scale grows."""
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """By what the scale shrinks."""
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def set_growth_factor(self, new_factor: float) -> None:
        """Set by what the scale grows to new_factor."""
        self._growth_factor = new_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set by what the scale shrinks to new_factor."""
        self._backoff_factor = new_factor

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many good steps the scale grows to new_interval."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """The scale and how it changes; empty when off."""
        if not self._enabled:
            return {}
        return {"scale": self.get_scale(), "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """What state_dict gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of "
                               "GradScaler.")
        self._init_scale, self._growth_factor = state_dict["scale"], state_dict["growth_factor"]
        self._scale = None if self._scale is None else self._init_scale
        self._backoff_factor, self._growth_interval = state_dict["backoff_factor"], state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
