"""Functions with steps or bounds: floor, round, nan_to_num, clamp."""

from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine import promote
from .._engine.nary import Nary
from .._engine.node import Array, Value
from .._engine.op import Binary, Unary, X, Y, is_complex
from .._kernels import kernel
from .binary import together
from .pointwise import SignOf, like, wide

np: Final[Any] = numpy
quick_frac: Final[Any] = kernel("frac")
quick_angle: Final[Any] = kernel("angle")
quick_sign: Final[Any] = kernel("sign")
quick_nan_to_num: Final[Any] = kernel("nan_to_num")
quick_clamp: Final[Any] = kernel("clamp")


@final
class AngleBackward0(Unary):
    """pi where x < 0, else 0: the angle of a real number; the angle of a complex one"""

    keep = X                                    # as PyTorch
    conjugates = False

    def quick(self, x: Array) -> Array:
        return quick_angle(x)

    def forward(self, x: Array) -> Array:
        if x.dtype.kind == "c":
            return np.angle(x)
        return np.where(x != x, x, np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0)))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if is_complex(x):
            return choose.where(x == 0, 0.0, g / complexes.conj(x) * 1j)
        return g * 0


@final
class FloorBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.floor(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class CeilBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.ceil(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class TruncBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.trunc(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class RoundBackward0(Unary):
    """To the nearest integer, halves to even."""

    def forward(self, x: Array) -> Array:
        return x.copy() if x.dtype.kind in "iu" else np.rint(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class RoundBackward1(Unary):
    """To a number of decimals; negative ones round to tens, hundreds, ..."""

    def __init__(self, decimals: int) -> None:
        self.decimals = decimals

    def forward(self, x: Array) -> Array:
        z = wide(x)
        if self.decimals >= 0:
            return like(np.rint(z * 10.0 ** self.decimals) / 10.0 ** self.decimals, x)
        return like(np.rint(z / 10.0 ** -self.decimals) * 10.0 ** -self.decimals, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class FracBackward0(Unary):
    """x - trunc(x)"""

    def quick(self, x: Array) -> Array:
        return quick_frac(x)

    def forward(self, x: Array) -> Array:
        return x - np.trunc(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


@final
class SgnBackward0(SignOf):
    """x / |x|"""

    keep = X | Y                                # as PyTorch
    conjugates = False

    def forward(self, x: Array) -> Array:
        if x.dtype.kind != "c":
            return super().forward(x)
        size = np.abs(x)
        y: Array = np.zeros_like(x)
        np.divide(x.real, size, y.real, where=size != 0)        # NumPy's own quotient overflows for denormal sizes
        np.divide(x.imag, size, y.imag, where=size != 0)
        return y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if not is_complex(x):
            return super().grad(g, x, y)
        size = pointwise.abs(x)
        return choose.where(size == 0, 0.0, g / size - complexes.real(g / x) * y)


@final
class NanToNumBackward0(Unary):
    """nan, inf and -inf replaced by numbers."""

    def __init__(self, nan: Any, posinf: Any, neginf: Any) -> None:
        self.nan: Any = nan
        self.posinf: Any = posinf
        self.neginf: Any = neginf

    def quick(self, x: Array) -> Array:
        return quick_nan_to_num(x, self.nan, self.posinf, self.neginf)

    def forward(self, x: Array) -> Array:
        if x.dtype.kind in "iub":
            return x.copy()
        if x.dtype.kind == "c" and x.ndim and x.flags.c_contiguous:
            y = quick_nan_to_num(x.view(x.real.dtype), self.nan, self.posinf, self.neginf)
            if y is not None:
                return y.view(x.dtype)
        y = np.array(x, order="C" if 0 in x.strides else "K")
        for part in (y.real, y.imag) if y.dtype.kind == "c" else (y,):
            which = part != part, part == np.inf, part == -np.inf       # before a number takes the place of another
            for mask, number in zip(which, (self.nan, self.posinf, self.neginf)):
                part[mask] = number
        return y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        own: Array = reduce.raw(x)
        return g * np.isfinite(own).astype(own.dtype)


@final
class ClampMinBackward0(Unary):
    """max(x, number)"""

    shows: ClassVar[Any] = {"min": "bound"}

    def __init__(self, bound: Any) -> None:
        self.bound: Any = bound

    def quick(self, x: Array) -> Array:
        return quick_clamp(x, self.bound, None)

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.bound, x, promote.SAME)
        return np.maximum(n, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return choose.where(x >= self.bound, g, 0.0)


@final
class ClampMaxBackward0(Unary):
    """min(x, number)"""

    shows: ClassVar[Any] = {"max": "bound"}

    def __init__(self, bound: Any) -> None:
        self.bound: Any = bound

    def quick(self, x: Array) -> Array:
        return quick_clamp(x, None, self.bound)

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.bound, x, promote.SAME)
        return np.minimum(n, x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return choose.where(x <= self.bound, g, 0.0)


@final
class Heaviside(Binary):
    """0 below zero, 1 above, b at zero.  PyTorch records it without a derivative."""

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def forward(self, a: Array, b: Array) -> Array:
        return np.where(a == 0, b, (a > 0).astype(a.dtype))

    def rules(self, g: Value, graph: bool, want_a: bool, want_b: bool) -> tuple[Value, Value]:
        raise RuntimeError("derivative for aten::heaviside is not implemented")


@final
class ClampMinBackward1(Binary):
    """max(a, b) of a tensor and its lower bound, which passes the gradient at equality."""

    names: ClassVar[Any] = {"self": "a", "min": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a >= b, g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a < b, g, 0.0)


@final
class ClampMaxBackward1(Binary):
    """min(a, b) of a tensor and its upper bound, which passes the gradient at equality."""

    names: ClassVar[Any] = {"self": "a", "max": "b"}

    def forward(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a <= b, g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a > b, g, 0.0)


@final
class ClampBackward0(Nary):
    """x between two tensors, either of which may be None; passes the gradient at both bounds."""

    names: ClassVar[Any] = {"self": 0, "min": 1, "max": 2}

    def forward(self, xs: list[Array]) -> Array:
        xs = together(xs)
        y = xs[0]
        if xs[1] is not None:
            y = np.maximum(y, xs[1])
        return y if xs[2] is None else np.minimum(y, xs[2])

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        x, low, high = xs
        outs: list[Value] = [None, None, None]
        if low is None:
            under: Any = None
            over: Any = x > high
            inside: Any = x <= high
        elif high is None:
            under = x < low
            over = None
            inside = x >= low
        else:
            under = (low < high) & (x < low)
            over = (x > high) | (high < low)
            inside = (x >= low) & (x <= high)
        if want[0]:
            outs[0] = choose.where(inside, g, 0.0)
        if want[1]:
            outs[1] = choose.where(under, g, 0.0)
        if want[2]:
            outs[2] = choose.where(over, g, 0.0)
        return outs


from . import choose, complexes, create, pointwise, reduce  # noqa: E402  rules of other families
