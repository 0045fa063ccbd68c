"""Maxima over windows that lie at fractional steps (Graham 2014): where they begin differs from plane to plane."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .inert_inputs import tied
from .pool import PlaceAt, count, doubled

np: Final[Any] = numpy


def starts(samples: Array, n: int, m: int, k: int, dtype: Any) -> Array:
    """(planes, m): where m windows of k begin in a dim of n, one plane for each number of samples in [0, 1).

    Computed in the input's dtype, as in PyTorch: int((i + u) a) - int(u a) with a = (n - k) / (m - 1), the last at the end.
    """
    out = np.full((samples.shape[0], m), n - k, np.int64)
    if m > 1:
        step = dtype.type(n - k) / dtype.type(m - 1)
        u = samples[:, None].astype(dtype)
        out[:, :-1] = ((np.arange(m - 1).astype(dtype) + u) * step).astype(np.int64) - (u * step).astype(np.int64)
    return out


class FractionalMax(Unary):
    """The largest element of each window; the first of equals, the last nan over all.

    samples (N, C, dims) in the order of the dims as PyTorch reads them; kernel and sizes in the order of x's dims.
    """

    holds = True

    def __init__(self, samples: Array, kernel: Shape, sizes: Shape) -> None:
        self.samples: Array = samples
        self.kernel: Any = kernel
        self.sizes: Any = sizes
        self.where: Array = None

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        dims = len(self.sizes)
        lead: Shape = x.shape[:x.ndim - dims]
        planes = count(lead)
        inside: Shape = x.shape[x.ndim - dims:]
        flat = x.reshape((planes, count(inside)))
        drawn = self.samples[:lead[0] if len(lead) > 1 else 1].reshape((planes, dims))
        # places (planes, *windows, *taps), one dim after the other
        places: Array = np.zeros((planes,) + (1,) * (2 * dims), np.int64)
        for i in range(dims):
            begin = starts(drawn[:, i], inside[i], self.sizes[i], self.kernel[i], x.dtype)
            at = begin[:, :, None] + np.arange(self.kernel[i])
            form = [planes] + [1] * (2 * dims)
            form[1 + i] = self.sizes[i]
            form[1 + dims + i] = self.kernel[i]
            places = places * inside[i] + at.reshape(form)
        places = places.reshape((planes, count(self.sizes), count(self.kernel)))
        values = np.take_along_axis(flat, places.reshape((planes, count(places.shape[1:]))), 1).reshape(places.shape)
        ranked = values.astype(np.float32) if values.dtype.itemsize == 2 else values
        best = ranked.argmax(-1)[..., None]
        lost = ranked != ranked
        if lost.any():
            best = np.where(lost.any(-1, keepdims=True), lost.shape[-1] - 1 - lost[..., ::-1].argmax(-1)[..., None], best)
        self.where = np.take_along_axis(places, best, -1).reshape(lead + self.sizes)
        return np.take_along_axis(values, best, -1).reshape(lead + self.sizes)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = tuple(x.shape[len(x.shape) - len(self.sizes):])
        return tied(PlaceAt(self.where, sizes, True, doubled(self.name())).run(g), [x], doubled(self.name()))


@final
class FractionalMaxPool2DBackward0(FractionalMax):
    shows: ClassVar[Any] = {"kernel_size": "kernel", "output_size": "sizes", "result1": "where"}


@final
class FractionalMaxPool3DBackward0(FractionalMax):
    shows: ClassVar[Any] = {"kernel_size": "kernel", "output_size": "sizes", "result1": "where"}
