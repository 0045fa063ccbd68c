"""Views: the same numbers under another shape."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .. import _kernels
from .._engine.modes import modes
from .._engine.node import Array, Shape, Value, ndarray
from .._engine.op import Unary, View, recording, shown
from .._engine.region import Region
from .._engine.tensor import TensorBase
from .._engine.views import AsStridedBackward0, AsStridedBackward1

np: Final[Any] = numpy
view_kernel: Final[Any] = _kernels.view
quick_spread: Final[Any] = _kernels.spread
quick_rows: Final[Any] = _kernels.sum_rows


class Reshaped(View):
    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, to: Shape) -> None:
        self.to = to
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.reshape(self.to)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return fold(g, self.was)


@final
class ViewBackward0(Reshaped):
    pass


@final
class ReshapeAliasBackward0(Reshaped):
    """reshape of what is not contiguous, where strides allow a view."""


@final
class UnsafeViewBackward0(Unary):
    """reshape of a fresh copy: no view of anything the user holds."""

    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, to: Shape) -> None:
        self.to = to
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.reshape(self.to)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return fold(g, self.was)


@final
class ExpandBackward0(View):
    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self, to: Shape) -> None:
        self.to = to
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        quick = None if quick_spread is None else quick_spread(x, self.to)
        return spread(x, self.to) if quick is None else quick

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return sum_to(g, self.was)


def spread(x: Array, to: Shape) -> Array:
    """x broadcast to a shape, with PyTorch's strides: where it is as long as before, its own."""
    y = np.broadcast_to(x, to)
    if type(x) is not ndarray:                  # a NumPy scalar, which nobody may write
        return np.array(y) if y.size == 1 else y
    steps = list(y.strides)
    lead = len(to) - x.ndim
    for i in range(len(to) - 1, -1, -1):
        if i >= lead:
            steps[i] = x.strides[i - lead] if x.shape[i - lead] == to[i] else 0
        elif to[i] == 1 and x.ndim:
            steps[i] = to[i + 1] * steps[i + 1]
    return np.lib.stride_tricks.as_strided(x, to, steps)


class TransposeOf(View):
    shows: ClassVar[Any] = {"dim0": "dim0", "dim1": "dim1"}

    def __init__(self, dim0: int, dim1: int) -> None:
        self.dim0 = dim0
        self.dim1 = dim1

    def forward(self, x: Array) -> Array:
        return x.swapaxes(self.dim0, self.dim1) if x.ndim else x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return transpose(g, self.dim0, self.dim1)


@final
class TransposeBackward0(TransposeOf):
    pass


@final
class TransposeBackward1(TransposeOf):
    """In place."""


class TOf(View):
    """Matrix transpose."""

    def forward(self, x: Array) -> Array:
        return x.T

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return t(g)


@final
class TBackward0(TOf):
    pass


@final
class TBackward1(TOf):
    """In place."""


@final
class PermuteBackward0(View):
    shows: ClassVar[Any] = {"dims": "dims"}

    def __init__(self, dims: Shape) -> None:
        self.dims = dims

    def forward(self, x: Array) -> Array:
        return x.transpose(self.dims)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        back = [0] * len(self.dims)
        for i in range(len(self.dims)):
            back[self.dims[i]] = i
        return permute(g, tuple(back))


class UnsqueezeOf(View):
    shows: ClassVar[Any] = {"dim": "dim"}

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def forward(self, x: Array) -> Array:
        sizes: Shape = x.shape
        at = self.dim if self.dim >= 0 else len(sizes) + 1 + self.dim
        return x.reshape(sizes[:at] + (1,) + sizes[at:])    # x[None] would give stride 0

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return squeeze_dim(g, self.dim)


@final
class UnsqueezeBackward0(UnsqueezeOf):
    pass


@final
class UnsqueezeBackward1(UnsqueezeOf):
    """In place."""


class SqueezeOf(View):
    """All dims of size 1."""

    shows: ClassVar[Any] = {"self_sym_sizes": "was"}

    def __init__(self) -> None:
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.reshape(tuple([n for n in x.shape if n != 1])) if 1 in x.shape else x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return reshape(g, self.was)


@final
class SqueezeBackward0(SqueezeOf):
    pass


@final
class SqueezeBackward3(SqueezeOf):
    """In place."""


@final
class SqueezeBackward1(View):
    """One dim, if its size is 1."""

    shows: ClassVar[Any] = {"dim": "dim", "self_sym_sizes": "was"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.squeeze(self.dim) if x.ndim and x.shape[self.dim] == 1 else x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return unsqueeze(g, self.dim) if self.was and self.was[self.dim] == 1 else g


@final
class SqueezeBackward4(View):
    """What matmul and linear do to the dim they added: no view of anything the user holds.  In place: one dim."""

    shows: ClassVar[Any] = {"dim": "dim", "self_sym_sizes": "was"}

    def __init__(self, dim: int) -> None:
        self.dim = dim
        self.was: Shape = ()

    def run(self, x: Value) -> Value:
        return Unary.run(self, x)

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        return x.squeeze(self.dim) if x.ndim and x.shape[self.dim] == 1 else x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return unsqueeze(g, self.dim) if self.was and self.was[self.dim] == 1 else g


class SqueezeDimsOf(View):
    """Those of some dims whose size is 1."""

    shows: ClassVar[Any] = {"dim": "dim", "self_sym_sizes": "was"}

    def __init__(self, dim: Shape) -> None:
        self.dim = dim
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        gone = tuple([d for d in self.dim if d < x.ndim and x.shape[d] == 1])
        return x.squeeze(gone) if gone else x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return reshape(g, self.was)


@final
class SqueezeBackward2(SqueezeDimsOf):
    pass


@final
class SqueezeBackward5(SqueezeDimsOf):
    """In place."""


@final
class AliasBackward0(View):
    def forward(self, x: Array) -> Array:
        return x.view()

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


@final
class UnfoldBackward0(View):
    """Windows of `size` along a dim, every `step`, as a new last dim."""

    shows: ClassVar[Any] = {"dimension": "dim", "self_sym_sizes": "was", "size": "size", "step": "step"}

    def __init__(self, dim: int, size: int, step: int) -> None:
        self.dim = dim
        self.size = size
        self.step = step
        self.was: Shape = ()

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        if x.ndim == 0:
            return np.lib.stride_tricks.as_strided(x, (self.size,), (x.itemsize,))
        count = (x.shape[self.dim] - self.size) // self.step + 1
        sizes = list(x.shape)
        steps = list(x.strides)
        sizes[self.dim] = count
        sizes.append(self.size)
        steps[self.dim] = x.strides[self.dim] * self.step
        steps.append(x.strides[self.dim])
        return np.lib.stride_tricks.as_strided(x, tuple(sizes), tuple(steps))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return FoldBackward0(self.dim, self.size, self.step, self.was).run(g)


@final
class FoldBackward0(Unary):
    """Windows added up where they overlap: the adjoint of unfold."""

    def __init__(self, dim: int, size: int, step: int, into: Shape) -> None:
        self.dim = dim
        self.size = size
        self.step = step
        self.into = into

    def forward(self, x: Array) -> Array:
        out = np.zeros(self.into, x.dtype)
        if not self.into:
            return np.asarray(reduce.total(x, None, False, None))
        lead = (slice(None),) * self.dim
        span = (x.shape[self.dim] - 1) * self.step + 1
        for i in range(self.size):
            out[lead + (slice(i, i + span, self.step),)] += x[..., i]
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return UnfoldBackward0(self.dim, self.size, self.step).run(g)


def reshape(x: Value, to: Shape) -> Value:
    """A view when memory allows; of a Tensor it must (the caller knows), an array may be copied."""
    return ViewBackward0(to).run(x)


def fold(x: Value, to: Shape) -> Value:
    """reshape, in PyTorch's nodes: a view where memory allows, else a view of a copy."""
    if not isinstance(x, TensorBase) or x.array.flags.c_contiguous:
        return reshape(x, to)
    try:
        np.reshape(x.array, to, copy=False)
    except ValueError:
        return unsafe_view(create.contiguous_copy(x), to)
    return ReshapeAliasBackward0(to).run(x)


def view(x: TensorBase, sizes: Any) -> Optional[TensorBase]:
    """x under sizes as the user gave them (numbers or one tuple); None where that needs a closer look."""
    y: Array = None if view_kernel is None else view_kernel(x.array, sizes)
    if y is None:
        return None
    if not recording(x):
        return shown(x, y) if modes.observer is None else None      # run() tells the observer
    op = ViewBackward0(())
    op.was = x.array.shape
    return op.show(x, y)


def unsafe_view(x: Value, to: Shape) -> Value:
    return UnsafeViewBackward0(to).run(x)


def expand(x: Value, to: Shape) -> Value:
    return ExpandBackward0(to).run(x)


def transpose(x: Value, dim0: int, dim1: int) -> Value:
    return TransposeBackward0(dim0, dim1).run(x)


def mT(x: Value) -> Value:
    return TransposeBackward0(-2, -1).run(x)


def t(x: Value) -> Value:
    return TBackward0().run(x)


def permute(x: Value, dims: Shape) -> Value:
    return PermuteBackward0(dims).run(x)


def unsqueeze(x: Value, dim: int) -> Value:
    return UnsqueezeBackward0(dim).run(x)


def squeeze_dim(x: Value, dim: int) -> Value:
    return SqueezeBackward1(dim).run(x)


def squeeze(x: Value) -> Value:
    return SqueezeBackward0().run(x)


def squeeze_added(x: Value, dim: int) -> Value:
    return SqueezeBackward4(dim).run(x)


def alias(x: Value) -> Value:
    return AliasBackward0().run(x)


def flat(x: Value) -> Value:
    return ViewBackward0((-1,)).run(x)


def squeeze_dims(x: Value, dims: Shape) -> Value:
    return SqueezeBackward2(dims).run(x)


def t_(x: TensorBase) -> TensorBase:
    return TBackward1().run_(x)


def transpose_(x: TensorBase, dim0: int, dim1: int) -> TensorBase:
    return TransposeBackward1(dim0, dim1).run_(x)


def unsqueeze_(x: TensorBase, dim: int) -> TensorBase:
    return UnsqueezeBackward1(dim).run_(x)


def squeeze_(x: TensorBase) -> TensorBase:
    return SqueezeBackward3().run_(x)


def squeeze_dim_(x: TensorBase, dim: int) -> TensorBase:
    return SqueezeBackward4(dim).run_(x)


def squeeze_dims_(x: TensorBase, dims: Shape) -> TensorBase:
    return SqueezeBackward5(dims).run_(x)


def as_strided(x: TensorBase, view: Array) -> Value:
    """`view`: an array that shows some of x's memory."""
    return AsStridedBackward0(Region(x.array, view)).show(x, view)


def as_strided_(x: TensorBase, view: Array) -> TensorBase:
    op = AsStridedBackward1(Region(x.array, view))
    op.now = view
    return op.run_(x)


def unfold(x: Value, dim: int, size: int, step: int) -> Value:
    return UnfoldBackward0(dim, size, step).run(x)


def sum_to(x: Value, to: Shape) -> Value:
    """x summed over the axes that broadcasting `to` to x.shape would stretch; x itself when there are none."""
    have: Shape = x.array.shape if isinstance(x, TensorBase) else x.shape
    if have == to:
        return x
    if quick_rows is not None and not isinstance(x, TensorBase):
        quick = quick_rows(x, to)
        if quick is not None:
            return quick
    extra = len(have) - len(to)
    axes: list[int] = []
    for i in range(len(have)):
        if i < extra or (to[i - extra] == 1 and have[i] != 1):
            axes.append(i)
    y = reduce.sum_dims(x, tuple(axes), True)
    return reshape(y, to) if extra else y


from . import create, reduce  # noqa: E402  expand and sum are each other's derivative
