"""Inputs of a gradient through which nothing flows, and which PyTorch counts as inputs all the same.

The backward of an average pool, say, is handed the pool's input for its shape.  So under create_graph its gradient requires
grad whenever the input does, and differentiated again gives zeros where we would find no way.
"""
from __future__ import annotations

from typing import Final, final

import numpy

from .._engine.nary import Nary
from .._engine.node import Array, Value
from .._engine.op import recording
from .._engine.tensor import TensorBase, wrap

NOT_IMPLEMENTED: Final = "torch::autograd::NotImplemented"


@final
class TiedBackward0(Nary):
    """The first input; zeros for the others, or the error `refusal`."""

    def __init__(self, title: str, refusal: str) -> None:
        super().__init__()
        self.title = title
        self.refusal = refusal

    def name(self) -> str:
        return self.title

    def forward(self, xs: list[Array]) -> Array:
        return xs[0]

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        if self.refusal:
            raise RuntimeError(self.refusal)
        out: list[Value] = [g]
        for like in self.like[1:]:
            if like is None:
                out.append(None)
            else:
                zeros = numpy.zeros(like[0], like[1])
                out.append(wrap(zeros) if isinstance(g, TensorBase) else zeros)
        return out


def tied(g: Value, xs: list[Value], title: str, refusal: str = "") -> Value:
    """g, in a graph also a function of xs."""
    if isinstance(g, TensorBase):
        for x in xs:
            if isinstance(x, TensorBase) and recording(x):
                return TiedBackward0(title, refusal).run([g] + xs)
    return g
