"""Copies, and results that leave the graph."""
from __future__ import annotations

from typing import Any, Final, Optional, final

import numpy

from .._engine.node import Array, Shape, Value, ndarray
from .._engine.op import Unary, Written, attach
from .._engine.tensor import TensorBase, follow, shared_version, wrap

np: Final[Any] = numpy


@final
class CloneBackward0(Unary):
    """A copy: order K keeps the strides, C makes it contiguous."""

    def __init__(self, order: str) -> None:
        self.order = order

    def forward(self, x: Array) -> Array:
        if type(x) is not ndarray:
            return np.array(x)
        if self.order == "K" and 0 in x.strides and repeats(x):
            return dense_copy(x)
        return x.copy(self.order)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


class CopyBackwards(Written):
    """a.copy_(b): the gradient of the old a is zero."""

    def name(self) -> str:
        return "torch::autograd::CopyBackwards"

    casts = True
    itself: bool = False                        # the same memory in the same order

    def overlapped(self) -> Optional[str]:
        return "" if self.itself else None

    def forward(self, a: Array, b: Array) -> Array:
        b = np.asarray(b)
        if b.dtype is not a.dtype:
            b = cast.converted(b, a.dtype)
        return np.broadcast_to(b, a.shape)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return zeros_like(g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g


@final
class FillBackward3(CopyBackwards):
    """x.fill_(0-dim tensor)"""

    def name(self) -> str:
        return "FillBackward3"

    def reads_first(self, b: TensorBase) -> bool:
        return True


@final
class FillBackward2(Unary):
    """x.fill_(number)"""

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        return np.broadcast_to(cast.converted(np.asarray(self.number), x.dtype), x.shape)

    def overlapped(self) -> Optional[str]:
        return ""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return zeros_like(g)


@final
class ZeroBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return np.broadcast_to(np.zeros((), x.dtype), x.shape)

    def overlapped(self) -> Optional[str]:
        return ""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return zeros_like(g)


def repeats(x: Array) -> bool:
    """Is an element of x shown several times, as after expand?"""
    for n, step in zip(x.shape, x.strides):
        if step == 0 and n > 1:
            return bool(x.size)
    return False


def dense_like(x: Array, dtype: Any) -> Array:
    """Uninitialised, of x's shape, its strides in the order of x's but each element once: PyTorch's preserve_format."""
    sizes: Shape = x.shape
    strides: Shape = x.strides
    if not repeats(x):
        return np.empty_like(x, dtype, subok=False)
    order = list(range(len(sizes) - 1, -1, -1))         # innermost first; a stride of 0 is in no order with any other
    for i in range(1, len(sizes)):
        at = i
        for j in range(i - 1, -1, -1):
            inner = strides[order[j]]
            outer = strides[order[at]]
            if inner == 0 or outer == 0:
                continue
            if inner < outer or (inner == outer and sizes[order[j]] <= sizes[order[at]]):
                if inner < outer:
                    break
                continue
            order[j], order[at] = order[at], order[j]
            at = j
    order.reverse()
    return np.empty([sizes[d] for d in order], dtype).transpose(np.argsort(order))


def dense_copy(x: Array) -> Array:
    y = dense_like(x, x.dtype)
    np.copyto(y, x)
    return y


def clone(x: Value) -> Value:
    return CloneBackward0("K").run(x)


def copied(x: TensorBase) -> TensorBase:
    """A copy under the name that PyTorch gives the first .grad under create_graph."""
    out = wrap(np.array(x.array))
    op = CopyBackwards()
    op.note_shapes(None, x)
    op.link(None, x, None, x)
    attach(out, op)
    return out


def contiguous_copy(x: Value) -> Value:
    return CloneBackward0("C").run(x)


def detached(x: TensorBase) -> TensorBase:
    """An alias outside the graph; edits through it count for both."""
    out = wrap(x.array)
    follow(out, x)
    if not x.inference:
        out.version = shared_version(x)
    return out


def zero_(x: TensorBase) -> TensorBase:
    return ZeroBackward0().run_(x)


def fill_(x: TensorBase, number: Any) -> TensorBase:
    return FillBackward2(number).run_(x)


def zeros_like(x: Value) -> Value:
    """Zeros of x's shape and dtype: array for array, Tensor for Tensor."""
    return wrap(np.zeros(x.array.shape, x.array.dtype)) if isinstance(x, TensorBase) else np.zeros(x.shape, x.dtype)


from . import cast  # noqa: E402
