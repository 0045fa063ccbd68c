"""What a view would show, copied: permute_copy and the like.  The rule is that of the view."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Many
from .._engine.node import Array, Value
from .._engine.op import Unary

np: Final[Any] = numpy


class Copied(Unary):
    """`op`: the view's node; `made`: what it shows."""

    def __init__(self, op: Any, made: Array) -> None:
        self.op: Any = op
        self.made: Any = made

    def forward(self, x: Array) -> Array:
        made = self.made
        self.made = None
        return np.array(made, order="C")

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return self.op.grad(g, None, None)


class CopiedParts(Many):
    """The same of a view in several parts."""

    def __init__(self, op: Any, made: list[Array]) -> None:
        super().__init__()
        self.op: Any = op
        self.made: Any = made

    def forward(self, x: Array) -> list[Array]:
        made = self.made
        self.made = None
        return [np.array(part, order="C") for part in made]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return self.op.grad(gs, None, [])


@final
class AliasBackward0_copy(Copied):
    pass


@final
class AsStridedBackward0_copy(Copied):
    shows: ClassVar[Any] = {
        "size": "op.region.view_shape", "stride": "op.region.strides", "storage_offset": "op.region.offset"}


@final
class ExpandBackward0_copy(Copied):
    shows: ClassVar[Any] = {"self_sym_sizes": "op.was"}


@final
class PermuteBackward0_copy(Copied):
    shows: ClassVar[Any] = {"dims": "op.dims"}


@final
class SelectBackward0_copy(Copied):
    shows: ClassVar[Any] = {"dim": "op.dim", "index": "op.index", "self_sym_sizes": "op.was"}


@final
class SliceBackward0_copy(Copied):
    shows: ClassVar[Any] = {
        "dim": "op.dim", "start": "op.start", "end": "op.end", "step": "op.step", "self_sym_sizes": "op.was"}


@final
class SqueezeBackward0_copy(Copied):
    shows: ClassVar[Any] = {"self_sym_sizes": "op.was"}


@final
class SqueezeBackward1_copy(Copied):
    shows: ClassVar[Any] = {"dim": "op.dim", "self_sym_sizes": "op.was"}


@final
class SqueezeBackward2_copy(Copied):
    shows: ClassVar[Any] = {"dim": "op.dim", "self_sym_sizes": "op.was"}


@final
class TBackward0_copy(Copied):
    pass


@final
class TransposeBackward0_copy(Copied):
    shows: ClassVar[Any] = {"dim0": "op.dim0", "dim1": "op.dim1"}


@final
class UnfoldBackward0_copy(Copied):
    shows: ClassVar[Any] = {
        "dimension": "op.dim", "self_sym_sizes": "op.was", "size": "op.size", "step": "op.step"}


@final
class UnsqueezeBackward0_copy(Copied):
    shows: ClassVar[Any] = {"dim": "op.dim"}


@final
class ViewBackward0_copy(Copied):
    shows: ClassVar[Any] = {"self_sym_sizes": "op.was"}


@final
class SplitBackward0_copy(CopiedParts):
    shows: ClassVar[Any] = {"dim": "op.dim", "self_sym_sizes": "op.was", "split_size": "op.split_size"}


@final
class SplitWithSizesBackward0_copy(CopiedParts):
    shows: ClassVar[Any] = {"dim": "op.dim", "self_sym_sizes": "op.was", "split_sizes": "op.split_sizes"}


@final
class UnbindBackward0_copy(CopiedParts):
    shows: ClassVar[Any] = {"dim": "op.dim"}


@final
class NotImplemented_(Copied):
    """detach_copy, which PyTorch records without a derivative."""

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def rule(self, g: Value, graph: bool) -> Value:
        raise RuntimeError("derivative for aten::detach_copy is not implemented")
