"""A tensor at index tensors and masks: read, added to, put into."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Unary, Written
from .._engine.tensor import TensorBase, wrap
from .._engine.warn import instead
from .packed import packed

np: Final[Any] = numpy


@final
class IndexBackward0(Unary):
    """x at index tensors and masks (`where`: a NumPy index)."""

    holds = True
    shows: ClassVar[Any] = {"indices": "indices", "self_sym_sizes": "was"}
    once: bool = False                          # names no element twice: the gradient is placed, not added up

    def __init__(self, where: Any) -> None:
        self.where: Any = where
        self.was: Shape = ()

    @property
    def indices(self) -> Any:
        return tensors_of(self.where)

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        where = self.where
        if len(where) == 1 and where[0].dtype.kind == "i":
            return x.take(where[0], 0)                  # twice as fast for a few rows
        return packed(x[own(where)])

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return place(g, self.where, self.was) if self.once else index_add(g, self.where, self.was)


@final
class IndexAddAtBackward0(Unary):
    """Zeros with x added at index tensors, repeated indices adding up: the adjoint of Index."""

    holds = True
    once: bool = False
    wide: bool = False          # half precision adds up in float32

    def __init__(self, where: Any, into: Shape) -> None:
        self.where: Any = where
        self.into = into

    def drop(self) -> None:
        self.where = None

    def forward(self, x: Array) -> Array:
        out = np.zeros(self.into, x.dtype)
        if self.wide:
            return add_at(out, self.where, x)
        if not self.once and repeats(self.where):
            np.add.at(out, own(self.where), x)
        else:
            out[own(self.where)] = x
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return pick(g, self.where) if self.once else index(g, self.where)


def tensors_of(where: Any) -> Any:
    """A NumPy index as PyTorch shows it: a tensor per dim, None for a whole one."""
    found: list[Any] = []
    for w in where:
        found.append(wrap(w) if isinstance(w, np.ndarray) else None)
    return tuple(found)


def add_at(out: Array, where: Any, x: Array) -> Array:
    """np.add.at; half precision adds up in float32 and is rounded once."""
    if out.dtype.itemsize == 2 and out.dtype.kind in "fV":
        wide = out.astype(np.float32)
        np.add.at(wide, own(where), x.astype(np.float32))
        return wide.astype(out.dtype)
    np.add.at(out, own(where), x)
    return out


def own(where: Any) -> Any:
    """NOTE [Indices of our own]  NumPy checks indices, or counts what a mask holds, and reads them again without the GIL: where
    another thread writes to them meanwhile it would reach outside.  So it gets copies; `take` checks as it goes."""
    if not isinstance(where, tuple):
        return where.copy() if isinstance(where, np.ndarray) else where
    return tuple([w.copy() if isinstance(w, np.ndarray) else w for w in where])


def repeats(where: Any) -> bool:
    """May the index name an element twice?  (Masks cannot.)"""
    for w in where:
        if isinstance(w, np.ndarray) and w.dtype.kind != "b":
            return True
    return False


def index(x: Value, where: Any) -> Value:
    return IndexBackward0(where).run(x)


def index_add(x: Value, where: Any, into: Shape) -> Value:
    return IndexAddAtBackward0(where, into).run(x)


def pick(x: Value, where: Any) -> Value:
    """index, of arrays that name no element twice"""
    op = IndexBackward0(where)
    op.once = True
    return op.run(x)


def place(x: Value, where: Any, into: Shape) -> Value:
    """Zeros with x at index arrays that name no element twice: the adjoint of pick."""
    op = IndexAddAtBackward0(where, into)
    op.once = True
    return op.run(x)


@final
class IndexPutBackward0(Written):
    """a with b at (or added at) index tensors."""

    holds = True
    casts = True
    shows: ClassVar[Any] = {"accumulate": "accumulate", "indices": "indices"}

    def __init__(self, where: Any, accumulate: bool) -> None:
        self.where: Any = where
        self.accumulate = accumulate

    @property
    def indices(self) -> Any:
        return tensors_of(self.where)

    def drop(self) -> None:
        self.where = None

    def forward(self, a: Array, b: Array) -> Array:
        out = np.array(a)
        where = own(self.where)
        b = np.asarray(b)
        b = (b.real if b.dtype.kind == "c" and a.dtype.kind not in "cb" else b).astype(a.dtype)
        try:
            if b.ndim > 1 or self.accumulate or b.shape == (1,):    # where a mask is, NumPy takes no more than a row
                b = np.broadcast_to(b, out[where].shape)
            if self.accumulate:
                np.add.at(out, where, b)
            else:
                out[where] = b
        except (ValueError, TypeError):
            raise instead(mismatch(b.shape, out[where].shape)) from None
        return out

    def overlapped(self) -> Optional[str]:
        return "index_put_"

    def reads_first(self, b: TensorBase) -> bool:
        """A number where a mask holds: it fills."""
        where = self.where
        return b.array.size == 1 and len(where) == 1 and where[0].dtype.kind == "b"

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g if self.accumulate else index_put(g, self.where, 0.0, False)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return index(g, self.where)


def index_put(a: Value, where: Any, b: Value, accumulate: bool) -> Value:
    return IndexPutBackward0(where, accumulate).run(a, b)


def mismatch(have: Any, want: Any) -> RuntimeError:
    return RuntimeError(
        f"shape mismatch: value tensor of shape {list(have)} cannot be broadcast to indexing result of shape "
        f"{list(want)}")
