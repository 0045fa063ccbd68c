"""How large tensors are, and how many of their units are dead or saturated: of arrays, and of what is on a device."""
from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

NEAR = 0.02             # of the range: so close to a bound counts as saturated


class Sizes:
    """The part of an Engine that measures tensors for watch()."""

    def here(self, t: Any) -> Any:
        """An array that shows a tensor; None for what is on a device."""
        raise NotImplementedError

    def copy(self, p: Any) -> Any:
        """The numbers of a parameter, for distance()."""
        return self.here(p).copy()

    def distance(self, p: Any, old: Any) -> Any:
        """How far a parameter is from a copy."""
        return norm(self.here(p) - old)

    def norm(self, t: Any) -> Any:
        return norm(self.here(t))

    def dead(self, y: Any) -> Any:
        """The share of units that are 0 for the whole batch."""
        return dead(self.here(y))

    def saturated(self, y: Any, low: float, high: float) -> Any:
        """The share of values near a bound."""
        return saturated(self.here(y), low, high)

    def fetch(self, values: list[Any]) -> list[Any]:
        """Floats, with one wait for a device."""
        return values


class SizesThere(Sizes):
    """... of PyTorch's, on a device, too: there they are tensors, that are fetched together."""

    torch: Any

    def here(self, t: Any) -> Any:
        t = t.detach()
        if t.device.type != "cpu" or t.layout is not self.torch.strided:
            return None
        return (t.float() if t.dtype is self.torch.bfloat16 else t).numpy()

    def copy(self, p: Any) -> Any:
        return p.detach().clone()

    def distance(self, p: Any, old: Any) -> Any:
        return self.norm(p.detach() - old)

    def norm(self, t: Any) -> Any:
        x = self.here(t)
        if x is not None:
            return norm(x)
        t = t.detach()
        return self.torch.linalg.vector_norm((t.coalesce().values() if t.is_sparse else t).float())

    def dead(self, y: Any) -> Any:
        x = self.here(y)
        if x is not None:
            return dead(x)
        y = y.detach()
        channels = 1 if y.ndim > 3 else y.ndim - 1
        return (y.transpose(0, channels).flatten(1) == 0).all(1).float().mean() if y.ndim > 1 else (y == 0).float().mean()

    def saturated(self, y: Any, low: float, high: float) -> Any:
        x = self.here(y)
        if x is not None:
            return saturated(x, low, high)
        margin = NEAR * (high - low)
        y = y.detach()
        return ((y < low + margin) | (y > high - margin)).float().mean()

    def fetch(self, values: list[Any]) -> list[Any]:
        there = [v for v in values if isinstance(v, self.torch.Tensor)]
        if not there:
            return values
        numbers = iter(self.torch.stack([v.float().to(there[0].device) for v in there]).tolist())
        return [next(numbers) if isinstance(v, self.torch.Tensor) else v for v in values]


def norm(x: Any) -> float:
    flat = x.ravel("K")
    if flat.dtype.itemsize < 4:
        flat = flat.astype(np.float32)
    with np.errstate(all="ignore"):
        squares = float(np.dot(flat, flat))
        if 1e-30 < squares < 1e30:
            return sqrt(squares)
        return float(np.linalg.norm(flat.astype(np.float64)))


def dead(y: Any) -> float:
    if y.ndim < 2 or not y.size:
        return float(np.mean(y == 0)) if y.size else 0.0
    channels = 1 if y.ndim > 3 else y.ndim - 1
    others = tuple(i for i in range(y.ndim) if i != channels)
    return float(np.mean(~np.any(y, axis=others)))


def saturated(y: Any, low: float, high: float) -> float:
    margin = NEAR * (high - low)
    return float(np.mean((y < low + margin) | (y > high - margin))) if y.size else 0.0
