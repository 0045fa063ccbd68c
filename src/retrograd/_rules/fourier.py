"""Discrete Fourier transforms over dims, by NumPy's pocketfft or, over several at once, SciPy's; both keep single precision.

Each derivative is a transform again.  `mode` scales the sum: NONE, ROOT by 1/sqrt(n), COUNT by 1/n, n points in all.
NOTE [Complex numbers] in _engine/op.py: the rules here are the whole truth.
"""
from __future__ import annotations

from typing import Any, Final, final

import numpy

from .._engine.modes import meet_complex
from .._engine.node import Array, Shape, Value
from .._engine.op import Unary
from .._engine.tensor import TensorBase

np: Final[Any] = numpy
MANY: Final = 4096                          # for fewer, importing SciPy would take longer than it saves
NONE: Final = 0
ROOT: Final = 1
COUNT: Final = 2
FORWARD: Final = ("backward", "ortho", "forward")           # NumPy's names of the modes
INVERSE: Final = ("forward", "ortho", "backward")


def scipys() -> Any:
    """scipy.fft, where it is installed."""
    try:
        import scipy.fft
    except ImportError:
        return None
    return scipy.fft


def whole(x: Array, dims: Shape, mode: int, forward: bool) -> Array:
    if len(dims) > 1 and x.size >= MANY:
        lib = scipys()
        if lib is not None:                     # over several dims it takes 0.8 of NumPy's time
            return lib.fftn(x, None, dims, FORWARD[mode]) if forward else lib.ifftn(x, None, dims, INVERSE[mode])
    for dim in dims:
        x = np.fft.fft(x, None, dim, FORWARD[mode]) if forward else np.fft.ifft(x, None, dim, INVERSE[mode])
    return x


class Transform(Unary):
    conjugates = False

    def __init__(self, dims: Shape, mode: int, forward_: bool, n: int) -> None:
        self.dims = dims
        self.mode = mode
        self.forward_ = forward_
        self.n = n                              # points of the last dim, for transforms to or from half of them


@final
class FftC2CBackward0(Transform):
    def forward(self, x: Array) -> Array:
        return whole(x, self.dims, self.mode, self.forward_)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return FftC2CBackward0(self.dims, self.mode, not self.forward_, 0).run(g)


@final
class FftR2CBackward0(Transform):
    """Of real numbers: all points where n is 0, else the first half along the last of the dims."""

    def forward(self, x: Array) -> Array:
        meet_complex()
        if not self.n:
            return whole(x, self.dims, self.mode, self.forward_)
        y = np.fft.rfft(x, None, self.dims[-1], FORWARD[self.mode])
        return whole(y, self.dims[:-1], self.mode, True)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if not self.n:
            return complexes.real(FftC2CBackward0(self.dims, self.mode, not self.forward_, 0).run(g))
        return FftC2RBackward0(self.dims, self.mode, False, self.n).run(g * weights(g, self.dims[-1], self.n, 0.5))


@final
class FftC2RBackward0(Transform):
    """Back from the first half: the sum over all points, the others being the conjugates of those given."""

    def forward(self, x: Array) -> Array:
        y = whole(x, self.dims[:-1], self.mode, False)
        return np.fft.irfft(y, self.n, self.dims[-1], INVERSE[self.mode])

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        got = FftR2CBackward0(self.dims, self.mode, True, self.n).run(g)
        return got * weights(got, self.dims[-1], self.n, 2.0)


def weights(g: Value, dim: int, n: int, inner: float) -> Array:
    """1 for the points of a half that have no partner in the other, the first and, of an even number, the last; else `inner`."""
    like = g.array if isinstance(g, TensorBase) else g
    sizes = [1] * like.ndim
    sizes[dim] = like.shape[dim]
    out = np.full(sizes, inner, like.real.dtype)
    flat = out.reshape(-1)
    flat[0] = 1
    if n % 2 == 0:
        flat[-1] = 1
    return out


def c2c(x: Value, dims: Shape, mode: int, forward: bool) -> Value:
    return FftC2CBackward0(dims, mode, forward, 0).run(x)


def r2c(x: Value, dims: Shape, mode: int, forward: bool, n: int) -> Value:
    return FftR2CBackward0(dims, mode, forward, n).run(x)


def c2r(x: Value, dims: Shape, mode: int, n: int) -> Value:
    return FftC2RBackward0(dims, mode, False, n).run(x)


from . import complexes  # noqa: E402
