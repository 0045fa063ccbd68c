"""GradScaler: scales a loss so that gradients of half precision do not vanish."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from retrograd._engine.modes import modes
from retrograd._engine.tensor import TensorBase
from retrograd._engine.warn import warn


class GradScaler:
    """Multiplies losses by a scale, divides gradients by it again, skips steps whose gradients are not finite, adapts the
    scale.   https://pytorch.org/docs/stable/amp.html#gradient-scaling

    For "cuda", the default, it is off with a warning, as in PyTorch on a machine without a GPU: it passes losses on and
    steps optimizers.
    """

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
        self._scale, self._growth_factor, self._backoff_factor = float(init_scale), growth_factor, backoff_factor
        self._growth_interval, self._growth_tracker = growth_interval, 0
        self._found: dict[int, bool] = {}           # optimizer -> were its gradients not finite, once unscaled
        self._stepped: set[int] = set()

    def scale(self, outputs: Any) -> Any:
        """outputs, a tensor or an iterable of tensors, times the scale."""
        if not self._enabled:
            return outputs
        if modes.clerk is not None:
            modes.clerk.scales(self, "scaled")
        if isinstance(outputs, TensorBase):
            return outputs * self._scale
        if not hasattr(outputs, "__iter__"):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        made = [self.scale(o) for o in outputs]
        return type(outputs)(made) if isinstance(outputs, (list, tuple)) else made

    def unscale_(self, optimizer: Any) -> None:
        """The optimizer's gradients divided by the scale; once between two updates."""
        if not self._enabled:
            return
        if modes.clerk is not None:
            modes.clerk.scales(self, "unscaled")
        if id(optimizer) in self._stepped:
            raise RuntimeError("unscale_() is being called after step().")
        if id(optimizer) in self._found:
            raise RuntimeError("unscale_() has already been called on this optimizer since the last update().")
        found = False
        for group in optimizer.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    found |= not bool(np.isfinite(p.grad.array.astype(np.float32)).all())
                    p.grad.mul_(1.0 / self._scale)
        self._found[id(optimizer)] = found

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """optimizer.step() unless a gradient is inf or nan; unscales first where that was not done."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        if id(optimizer) in self._stepped:
            raise RuntimeError("step() has already been called since the last update().")
        if id(optimizer) not in self._found:
            self.unscale_(optimizer)
        self._stepped.add(id(optimizer))
        return None if self._found[id(optimizer)] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """The scale for the next iteration: smaller after gradients that were not finite, larger after many that were."""
        if not self._enabled:
            return
        if new_scale is not None:
            self._scale = float(new_scale)
        else:
            if not self._found:
                raise AssertionError("No inf checks were recorded prior to update.")
            if any(self._found.values()):
                self._scale *= self._backoff_factor
                self._growth_tracker = 0
            else:
                self._growth_tracker += 1
                if self._growth_tracker == self._growth_interval:
                    grown = self._scale * self._growth_factor
                    self._scale = grown if math.isfinite(np.float32(grown)) else self._scale
                    self._growth_tracker = 0
        self._found, self._stepped = {}, set()

    def get_scale(self) -> float:
        """The scale; 1 when off."""
        return self._scale if self._enabled else 1.0

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
        """Set by what the scale grows."""
        self._growth_factor = new_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set by what the scale shrinks."""
        self._backoff_factor = new_factor

    def set_growth_interval(self, new_interval: int) -> None:
        """Set after how many good steps the scale grows."""
        self._growth_interval = new_interval

    def state_dict(self) -> dict[str, Any]:
        """The scale and how it changes; empty when off."""
        if not self._enabled:
            return {}
        return {"scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
                "growth_interval": self._growth_interval, "_growth_tracker": self._growth_tracker}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """What state_dict gave."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("The source state dict is empty, possibly because it was saved from a disabled instance of "
                               "GradScaler.")
        self._scale, self._growth_factor = state_dict["scale"], state_dict["growth_factor"]
        self._backoff_factor, self._growth_interval = state_dict["backoff_factor"], state_dict["growth_interval"]
        self._growth_tracker = state_dict["_growth_tracker"]
