"""One of two values, element by element."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine import promote
from .._engine.node import Array, Value
from .._engine.op import Binary, Unary, watch
from .._engine.tensor import TensorBase
from .._kernels import kernel
from .packed import packed
from .select import select

np: Final[Any] = numpy
quick_clamp: Final[Any] = kernel("clamp")


@final
class WhereBackward0(Binary):
    """a where the condition holds, else b."""

    holds = True
    shows: ClassVar[Any] = {"condition": "condition"}

    def __init__(self, condition: Value) -> None:
        self.condition: Array = watch(self, condition)

    def drop(self) -> None:
        self.condition = None

    def forward(self, a: Array, b: Array) -> Array:
        return select(self.condition, a, b)

    def compute(self, a: Value, b: Value, ta: Any, tb: Any) -> Array:
        if type(a) is int and tb is not None and tb.array.dtype.kind in "iu":
            check_number(a, tb.array.dtype)
        elif type(b) is int and ta is not None and ta.array.dtype.kind in "iu":
            check_number(b, ta.array.dtype)
        y: Array = super().compute(a, b, ta, tb)
        self.unlike = (
            None if ta is None else ta.array.shape, None if ta is None else ta.array.dtype,
            None if tb is None else tb.array.shape, None if tb is None else tb.array.dtype)
        return y

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return where(self.condition, g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return where(self.condition, 0.0, g)


@final
class MaximumBackward0(Binary):
    """Ties share the gradient equally; NaN wins."""

    def forward(self, a: Array, b: Array) -> Array:
        return np.maximum(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return share(g, a, b, a < b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return share(g, a, b, b < a)


@final
class MinimumBackward0(Binary):
    def forward(self, a: Array, b: Array) -> Array:
        return np.minimum(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return share(g, a, b, b < a)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return share(g, a, b, a < b)


def share(g: Value, a: Value, b: Value, lost: Value) -> Value:
    """g unless this operand lost (NaN loses to nobody), half of it at a tie."""
    return where(lost, 0.0, where(a == b, g / 2, g))


@final
class ClampBackward1(Unary):
    """Passes the gradient at both bounds."""

    shows: ClassVar[Any] = {"min": "low", "max": "high"}

    def __init__(self, low: Any, high: Any) -> None:
        self.low: Any = low
        self.high: Any = high

    def quick(self, x: Array) -> Array:
        return quick_clamp(x, self.low, self.high)

    def forward(self, x: Array) -> Array:
        y = x
        for bound, how in ((self.low, np.maximum), (self.high, np.minimum)):
            if bound is not None:
                if type(bound) is int and x.dtype.kind in "iu":
                    check_number(bound, x.dtype)
                y, n = promote.operands(y, bound, promote.SAME)
                y = how(n, y)                   # in this order -0. stays -0.
        return y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        inside: Any = True
        if self.low is not None:
            inside = inside & (x >= self.low)
        if self.high is not None:
            inside = inside & (x <= self.high)
        return where(inside, g, 0.0)


@final
class MaskedFillBackward0(Unary):
    holds = True
    shows: ClassVar[Any] = {"mask": "mask"}

    def __init__(self, mask: Value, number: Any) -> None:
        self.mask: Array = watch(self, mask)
        self.number: Any = number
        self.was: Any = ()

    def drop(self) -> None:
        self.mask = None

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        check_number(self.number, x.dtype)
        number = np.asarray(self.number)
        number = number.real if number.dtype.kind == "c" and x.dtype.kind not in "cb" else number
        return packed(np.where(self.mask, number.astype(x.dtype), x))

    def overlapped(self) -> Optional[str]:
        return "masked_fill_"

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return shape.sum_to(where(self.mask, 0.0, g), self.was)


def where(condition: Value, a: Value, b: Value) -> Value:
    """condition bool, broadcasts against a and b."""
    return WhereBackward0(condition).run(a, b)


def maximum(a: Value, b: Value) -> Value:
    return MaximumBackward0().run(a, b)


def minimum(a: Value, b: Value) -> Value:
    return MinimumBackward0().run(a, b)


def clamp(x: Value, low: Any, high: Any) -> Value:
    return ClampBackward1(low, high).run(x)


def clamp_(x: TensorBase, low: Any, high: Any) -> TensorBase:
    return ClampBackward1(low, high).run_(x)


def masked_fill(x: Value, mask: Value, number: Any) -> Value:
    return MaskedFillBackward0(mask, number).run(x)


def masked_fill_(x: TensorBase, mask: Value, number: Any) -> TensorBase:
    return MaskedFillBackward0(mask, number).run_(x)


from . import shape  # noqa: E402
from .index import check_number  # noqa: E402
