"""The cross entropy of a linear layer as one node, which cannot be differentiated twice: F.linear_cross_entropy in chunks.

x (N, I)   w (C, I)   b (C,) or None   target (N,) with a class wherever share is 0   share (N,): what each row's loss counts for
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Nary
from .._engine.node import Array, Value
from .._engine.tensor import TensorBase, wrap
from . import linalg, reduce, shape
from .pointwise import wide
from .softmax import SoftmaxBackward0

np: Final[Any] = numpy
TWICE: Final = (
    "linear_cross_entropy chunked backward called twice; retain_graph=True / double backward are not supported.")
ALL: Final = "GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_defaultBackward"
EACH: Final = "GeneratedBackwardFor_torch_nn__linear_cross_entropy_batch_chunked_no_reduction_defaultBackward"


def parts(xs: list[Value], target: Array, share: Array, want: list[bool]) -> list[Value]:
    """The gradients of the wanted inputs."""
    x: Array = wide(reduce.raw(xs[0]))
    w: Array = wide(reduce.raw(xs[1]))
    z = linalg.matmul(x, shape.mT(w))
    if xs[2] is not None:
        z = z + wide(reduce.raw(xs[2]))
    p: Array = np.array(SoftmaxBackward0(1).run(z))
    p[np.arange(len(p)), target] -= 1
    p *= share.astype(p.dtype)[:, None]
    return [linalg.matmul(p, w) if want[0] else None, linalg.matmul(shape.mT(p), x) if want[1] else None,
            p.sum(0) if want[2] else None]


@final
class Chunked(Nary):
    """The mean or the sum: gradients are made with the loss, and handed out once unless `again`."""

    names: ClassVar[Any] = {}

    def __init__(self, loss: Array, target: Array, share: Array, again: bool) -> None:
        super().__init__()
        self.loss: Array = loss
        self.target: Array = target
        self.share: Array = share
        self.again = again
        self.made: list[Value] = []

    def name(self) -> str:
        return ALL

    def forward(self, xs: list[Array]) -> Array:
        return self.loss

    def link(self, xs: list[Value]) -> None:
        super().link(xs)
        self.made = parts(xs, self.target, self.share, [n is not None for n in self.nexts])

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        made = self.made
        if not made:
            raise RuntimeError(TWICE)
        if not self.again:
            self.made = []
        return without_graph([None if m is None else m * reduce.raw(g) for m in made], g)


@final
class ChunkedEach(Nary):
    """The loss of each row."""

    holds: bool = True
    names: ClassVar[Any] = {}

    def __init__(self, loss: Array, target: Array, share: Array) -> None:
        super().__init__()
        self.loss: Array = loss
        self.target: Array = target
        self.share: Array = share

    def drop(self) -> None:
        self.target = None
        self.share = None

    def name(self) -> str:
        return EACH

    def forward(self, xs: list[Array]) -> Array:
        return self.loss

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        return without_graph(parts(xs, self.target, self.share * reduce.raw(g), want), g)


def without_graph(found: list[Value], g: Value) -> list[Value]:
    """As the pass wants them: tensors where g is one."""
    return [wrap(x) if isinstance(g, TensorBase) and x is not None else x for x in found]
