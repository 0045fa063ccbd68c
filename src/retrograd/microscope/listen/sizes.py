"""How large tensors are, and how many of their units are dead or saturated: of arrays, and of what is on a device."""
from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from ... import _kernels

quick: Any = _kernels.kernel("squares")
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

    def lend(self, t: Any) -> Any:
        """What the kernel `squares` takes for a tensor."""
        raise NotImplementedError

    def lent(self, tensors: list[Any]) -> tuple[Any, ...]:
        """... for each."""
        return tuple([self.lend(t) for t in tensors])

    def squares(self, tensors: list[Any]) -> list[Any]:
        """The sums of squares of plain floats in memory, NaN or inf where they are; None for other tensors."""
        found = quick(self.lent(tensors))
        return [self.square(t) for t in tensors] if found is None else list(found)

    def square(self, t: Any) -> Any:
        """squares() of one."""
        found = quick(self.lend(t))
        if found is not None:
            return found
        x = self.here(t)
        return float(np.vdot(x, x)) if x is not None and x.dtype.char in "fd" else None

    def dead(self, y: Any) -> Any:
        """The share of units that are 0 for the whole batch."""
        return dead(self.here(y))

    def alive(self, y: Any) -> Any:
        """Which units are above 0 for some of the batch: an array."""
        x = self.here(y)
        return alive(self.here(y.detach().cpu()) if x is None else x)

    def saturated(self, y: Any, low: float, high: float) -> Any:
        """The share of values near a bound."""
        return saturated(self.here(y), low, high)

    def fetch(self, values: list[Any]) -> list[Any]:
        """Floats, with one wait for a device."""
        return values


class Lent:
    """A tensor for np.from_dlpack.  After its numpy() nobody could resize its memory; FSDP2 frees that of parameters so."""

    __slots__ = ("t", "torch")

    def __init__(self, t: Any, torch: Any) -> None:
        self.t, self.torch = t, torch

    def __dlpack__(self, **_: Any) -> Any:
        return self.torch._C._to_dlpack(self.t)

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0                             # the processor's memory


def local(t: Any) -> Any:
    """This rank's part of a DTensor; another tensor as it is."""
    return t._local_tensor if type(t).__name__ == "DTensor" else t


class SizesThere(Sizes):
    """... of PyTorch's, on a device, too: there they are tensors, that are fetched together."""

    torch: Any
    types: tuple[Any, ...]                      # of tensors that have memory of their own

    def here(self, t: Any) -> Any:
        t = local(t.detach())
        if t.device.type != "cpu" or t.layout is not self.torch.strided:
            return None
        if t.is_complex() or t.is_neg():
            t = t.resolve_conj().resolve_neg()
        t = t.float() if t.dtype is self.torch.bfloat16 else t
        return np.from_dlpack(Lent(t, self.torch)) if type(t) is self.torch.Tensor else t.numpy()

    def copy(self, p: Any) -> Any:
        return p.detach().clone()

    def distance(self, p: Any, old: Any) -> Any:
        return self.norm(p.detach() - old)

    def lend(self, t: Any) -> Any:
        try:
            return self.torch._C._to_dlpack(t) if type(t) in self.types else None
        except (RuntimeError, BufferError):     # of what has no memory
            return None

    def lent(self, tensors: list[Any]) -> tuple[Any, ...]:
        lend, types = self.torch._C._to_dlpack, self.types      # half the time of np.from_dlpack's way
        try:
            return tuple([lend(t) if type(t) in types else None for t in tensors])
        except (RuntimeError, BufferError):
            return None,

    def norm(self, t: Any) -> Any:
        x = self.here(t)
        if x is not None:
            return norm(x)
        t = t.detach()
        t = t.coalesce().values() if t.is_sparse else t
        return self.torch.linalg.vector_norm(t if t.is_complex() else t.float())

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
    if flat.dtype.kind == "c":
        flat = flat.view(flat.real.dtype)
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
    return float(np.mean(~np.any(y, axis=samples(y))))


def alive(y: Any) -> Any:
    return np.any(y > 0, axis=samples(y))


def samples(y: Any) -> tuple[int, ...]:
    """The dimensions along which one unit has several values."""
    channels = 1 if y.ndim > 3 else y.ndim - 1
    return tuple(i for i in range(y.ndim) if i != channels)


def saturated(y: Any, low: float, high: float) -> float:
    margin = NEAR * (high - low)
    return float(np.mean((y < low + margin) | (y > high - margin))) if y.size else 0.0
