"""Reading and writing along a dim: gather, scatter, index_add, ...

The functions take int64 index arrays whose bounds the caller has checked.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine.node import Array, Shape, Value
from .._engine.op import Binary, Unary
from .._engine.tensor import TensorBase
from .._kernels import kernel
from .indexed import add_at
from .packed import packed

np: Final[Any] = numpy
quick_gather: Final[Any] = kernel("gather")
quick_scatter: Final[Any] = kernel("scatter")
quick_slices: Final[Any] = kernel("slices")


def places(index: Array, dim: int, sizes: Shape) -> Array:
    """Flat positions in an array of `sizes` of what `index` names along dim."""
    if not sizes:
        return np.zeros(index.shape, np.int64)
    flat = np.zeros((), np.int64)
    step = 1
    for d in range(len(sizes) - 1, -1, -1):
        n = sizes[d]
        if d == dim:
            flat = flat + np.where(index < 0, index + n, index) * step
        else:
            m = index.shape[d]
            flat = flat + (np.arange(m) * step).reshape(
                tuple([m if i == d else 1 for i in range(len(sizes))]))
        step *= n
    return flat


def at_an_end(dim: int, ndim: int) -> bool:
    """Are slices along dim added by PyTorch's scatter_add?"""
    return ndim > 1 and (dim == 0 or dim == ndim - 1)


def at_dim(index: Array, dim: int) -> Any:
    """The NumPy index that stands for `index` along dim: a copy, NOTE [Indices of our own]."""
    return (slice(None),) * dim + (index.copy(),)


@final
class GatherBackward0(Unary):
    """y[i, j] = x[index[i, j], j] along dim 0, and so on."""

    holds = True
    shows: ClassVar[Any] = {"dim": "dim", "index": "index", "sparse_grad": "sparse_grad"}

    def __init__(self, dim: int, index: Array) -> None:
        self.dim = dim
        self.index: Array = index
        self.sparse_grad: bool = False

    def drop(self) -> None:
        self.index = None

    def quick(self, x: Array) -> Array:
        return quick_gather(x, self.dim, self.index) if self.index.size else None

    def forward(self, x: Array) -> Array:
        return picked(x, self.index, self.dim) if self.index.size else np.empty(self.index.shape, x.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        sizes: Shape = reduce.raw(x).shape
        if self.index.size and not sizes:
            return reduce.sum(g) * 1
        if self.index.size and not self.index.ndim:
            return scatter_zeros(shape.reshape(g, (1,)), self.dim, self.index.reshape(1), sizes, True)
        return scatter_zeros(g, self.dim, self.index, sizes, True)


def picked(x: Array, index: Array, dim: int) -> Array:
    """x at `index` along dim; a number and a row of one stand for each other."""
    if x.ndim == 0:
        return np.full(index.shape, x)
    if index.ndim == 0:
        return np.array(x[index])
    return packed(np.take_along_axis(x[below(index, dim)], index.copy(), dim))


@final
class ScatterZerosBackward0(Unary):
    """Zeros with x added at `index` along dim: the adjoint of gather."""

    holds = True

    def __init__(self, dim: int, index: Array, into: Shape, repeats: bool) -> None:
        self.dim = dim
        self.index: Array = index
        self.into = into
        self.repeats = repeats

    def drop(self) -> None:
        self.index = None

    def forward(self, x: Array) -> Array:
        out = np.zeros(self.into, x.dtype)
        if not self.index.size:
            return out
        quick = quick_scatter(out, self.dim, self.index, x, ADD if self.repeats else SET)
        if quick is not None:
            return quick
        if self.repeats:
            return add_at(out.reshape(-1), places(self.index, self.dim, self.into).reshape(-1), x.reshape(-1)).reshape(self.into)
        else:
            np.put_along_axis(out, self.index.copy(), x, self.dim)
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return gather(g, self.dim, self.index)


def gather(x: Value, dim: int, index: Array) -> Value:
    return GatherBackward0(dim, index).run(x)


def scatter_zeros(x: Value, dim: int, index: Array, into: Shape, repeats: bool) -> Value:
    """`repeats`: may index name an element twice?"""
    return ScatterZerosBackward0(dim, index, into, repeats).run(x)


class Along(Binary):
    """b written into a at `index` along dim.  Both have one dtype, each its own shape."""

    holds = True
    names: ClassVar[Any] = {}

    def __init__(self, dim: int, index: Array) -> None:
        self.dim = dim
        self.index: Array = index
        self.source: Shape = ()                 # the shape of b

    def drop(self) -> None:
        self.index = None

    def part(self, g: Value) -> Value:
        """What b gets of a gradient shaped like index: nothing where index did not read b."""
        if reduce.raw(g).shape == self.source:
            return g
        if not self.index.size:
            return shape.expand(reduce.sum(g), self.source)
        return slices.put(g, corner(self.index), self.source)

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        xa: Array = ta.array if ta is not None else a
        xb: Array = tb.array if tb is not None else b
        self.source = np.shape(xb)
        return self.forward(xa, xb)


class NumberAlong(Unary):
    """A number written into x at `index` along dim."""

    holds = True
    shows: ClassVar[Any] = {"dim": "dim", "index": "index"}

    def __init__(self, dim: int, index: Array, number: Any) -> None:
        self.dim = dim
        self.index: Array = index
        self.number: Any = number

    def drop(self) -> None:
        self.index = None


def corner(index: Array) -> Any:
    """The part of a source that an index of this shape reads."""
    return tuple([slice(n) for n in index.shape])


@final
class ScatterBackward0(Along):
    """a with b at index; b may be larger than index."""

    shows: ClassVar[Any] = {"dim": "dim", "index": "index"}

    def forward(self, a: Array, b: Array) -> Array:
        quick = quick_scatter(a, self.dim, self.index, b, SET)
        if quick is not None:
            return quick
        out = np.array(a, order="C")
        if self.index.size:
            out.reshape(-1)[places(self.index, self.dim, a.shape)] = b[corner(self.index)]
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return scatter_number(g, self.dim, self.index, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return self.part(gather(g, self.dim, self.index))


@final
class ScatterBackward1(NumberAlong):
    """x with a number at index."""

    def forward(self, x: Array) -> Array:
        tensor_index.check_number(self.number, x.dtype)
        quick = quick_scatter(x, self.dim, self.index, self.number, SET)
        if quick is not None:
            return quick
        out = np.array(x, order="C")
        if self.index.size:
            out.reshape(-1)[places(self.index, self.dim, x.shape)] = np.asarray(self.number).astype(x.dtype)
        return out

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return scatter_number(g, self.dim, self.index, 0.0)


@final
class ScatterAddBackward0(Along):
    """a with b added at index."""

    shows: ClassVar[Any] = {"dim": "dim", "index": "index"}

    def forward(self, a: Array, b: Array) -> Array:
        quick = quick_scatter(a, self.dim, self.index, b, ADD)
        if quick is not None:
            return quick
        out = np.array(a, order="C")
        if self.index.size:
            return add_at(out.reshape(-1), places(self.index, self.dim, a.shape).reshape(-1),
                          b[corner(self.index)].reshape(-1)).reshape(a.shape)
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return self.part(gather(g, self.dim, self.index))


UFUNCS: Final[dict[str, Any]] = {
    "sum": numpy.add, "mean": numpy.add, "prod": numpy.multiply, "amax": numpy.maximum, "amin": numpy.minimum,
    "add": numpy.add, "multiply": numpy.multiply,
}
STARTS: Final[dict[str, Any]] = {"sum": 0, "mean": 0, "prod": 1}
SET: Final = 0              # what the kernel `scatter` does
ADD: Final = 1
INFINITE: Final = float("inf")
HOWS: Final[dict[str, int]] = {"sum": ADD, "mean": ADD, "prod": 2, "amax": 3, "amin": 4}


class Reduced(Along):
    """a with what b holds for each element reduced into it: sum, prod, mean, amax, amin."""

    names: ClassVar[Any] = {"self": "a", "src": "b", "result": "y"}
    shows: ClassVar[Any] = {"dim": "dim", "include_self": "include_self", "index": "index", "reduce": "reduce"}

    def __init__(self, dim: int, index: Array, reduce: str, include_self: bool) -> None:
        self.dim = dim
        self.index: Array = index
        self.source: Shape = ()
        self.reduce = reduce
        self.include_self = include_self

    def forward(self, a: Array, b: Array) -> Array:
        how = self.reduce
        out = self.quick_reduce(a, b, how) if self.index.size else np.array(a, order="C")
        if out is not None:
            return self.mean_of(out, a) if how == "mean" and self.index.size else out
        out = np.array(a, order="C")
        flat = out.reshape(-1)
        at = places(self.index, self.dim, a.shape).reshape(-1)
        if not self.include_self:
            if how in STARTS:
                flat[at] = STARTS[how]
            elif a.dtype.kind in "fV":
                flat[at] = -np.inf if how == "amax" else np.inf
            else:
                flat[at] = b[corner(self.index)].reshape(-1)
        if how == "sum":
            return add_at(flat, at, b[corner(self.index)].reshape(-1)).reshape(a.shape)
        UFUNCS[how].at(flat, at, b[corner(self.index)].reshape(-1))
        return self.mean_of(out, a) if how == "mean" else out

    def quick_reduce(self, a: Array, b: Array, how: str) -> Array:
        """The sums, products or extremes by a kernel; None when it is not its case."""
        if not self.include_self:
            start: Any = STARTS[how] if how in STARTS else None
            if start is None and a.dtype.kind == "f":
                start = -INFINITE if how == "amax" else INFINITE
            a = quick_scatter(a, self.dim, self.index, b if start is None else start, SET)
        return quick_scatter(a, self.dim, self.index, b, HOWS[how])

    def mean_of(self, out: Array, a: Array) -> Array:
        count = self.counts(a)
        if a.dtype.kind in "fcV":
            return (out / count).astype(a.dtype)
        return np.floor_divide(out, count).astype(a.dtype)

    def counts(self, a: Array) -> Array:
        """How many numbers went into each element, at least 1."""
        count = np.full(a.shape, 1 if self.include_self else 0, np.int64)
        quick = quick_scatter(count, self.dim, self.index, 1, ADD)
        if quick is not None:
            return np.maximum(quick, 1)
        np.add.at(count.reshape(-1), places(self.index, self.dim, a.shape).reshape(-1), 1)
        return np.maximum(count, 1)

    def touched(self, a: Array) -> Array:
        hit = np.zeros(a.shape, bool)
        hit.reshape(-1)[places(self.index, self.dim, a.shape)] = True
        return hit

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        own = reduce.raw(a)
        how = self.reduce
        if not self.include_self and how not in ("amax", "amin"):
            return choose.where(self.touched(own), 0.0, g) if self.index.size else g
        if how == "sum" or not self.index.size:
            return g
        if how == "mean":
            return g / self.counts(own).astype(own.dtype)
        if how == "prod":
            return g * ScatterReduceBackward0(self.dim, self.index, "prod", True).run(np.ones_like(own), b)
        won, _, n = self.winners(own, reduce.raw(b), reduce.raw(y))
        got = g * (won / n).astype(own.dtype)
        return got if self.include_self else choose.where(self.touched(own), 0.0, got)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        own = reduce.raw(a)
        how = self.reduce
        if how == "sum" or not self.index.size:
            got = gather(g, self.dim, self.index)
        elif how == "mean":
            got = gather(g / self.counts(own).astype(own.dtype), self.dim, self.index)
        elif how == "prod":
            got = gather(g, self.dim, self.index) * self.prod_of_others(a, b)
        else:
            _, won, n = self.winners(own, reduce.raw(b), reduce.raw(y))
            got = gather(g / n.astype(own.dtype), self.dim, self.index) * won.astype(own.dtype)
        return self.part(got)

    def prod_of_others(self, a: Value, b: Value) -> Value:
        """Per element of b the product of all else that went into the same result."""
        b = slices.take(b, corner(self.index))
        own = reduce.raw(a)
        zero = reduce.raw(b) == 0
        filled = moment.nonzero(b)
        start: Value = a if self.include_self or not self.index.size else choose.where(self.touched(own), 1.0, a)
        whole = ScatterReduceBackward0(self.dim, self.index, "prod", True).run(start, filled)
        got = gather(whole, self.dim, self.index) / filled
        if not np.any(zero):
            return got
        zeros = np.zeros(own.shape, np.int64)
        np.add.at(zeros.reshape(-1), places(self.index, self.dim, own.shape).reshape(-1), zero.reshape(-1))
        there = picked(zeros, self.index, self.dim) - zero
        # among others with a zero the product is that zero times the rest: its value is 0, its derivative is not
        nought = ScatterAddBackward0(self.dim, self.index).run(np.zeros_like(own), choose.where(zero, b, 0.0))
        got = choose.where(there > 0, got * gather(nought, self.dim, self.index), got)
        return OnceBackward0(TWICE).run(got) if np.any(zero & (there > 0)) else got

    def winners(self, a: Array, b: Array, y: Array) -> Any:
        """(where a is the extreme, where b is, how many share each element)"""
        mine = a == y                           # counts, as in PyTorch, even where a itself did not take part
        theirs = picked(y, self.index, self.dim) == b[corner(self.index)]
        n = np.array(mine, np.int64, order="C")
        np.add.at(n.reshape(-1), places(self.index, self.dim, a.shape).reshape(-1), theirs.reshape(-1))
        return mine, theirs, n                              # none where the extreme is NaN: so is the gradient


@final
class ScatterReduceBackward0(Reduced):
    pass


@final
class IndexReduceBackward0(Reduced):
    """The same with whole slices."""


TWICE: Final = (
    "scatter_reduce(): Double backward is unsupported for src when >1 zeros in src are scattered to the same position "
    "in self")


@final
class OnceBackward0(Unary):
    """What cannot be differentiated again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.title = "torch::autograd::Error"

    def name(self) -> str:
        return self.title

    def forward(self, x: Array) -> Array:
        return x

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        raise RuntimeError(self.text)


def below(index: Array, dim: int) -> Any:
    return tuple([slice(None) if d == dim else slice(index.shape[d]) for d in range(index.ndim)])


@final
class NotImplemented_(Along):
    """scatter(reduce="add" or "multiply"), which PyTorch records without a derivative."""

    def __init__(self, dim: int, index: Array, reduce: str) -> None:
        self.dim = dim
        self.index: Array = index
        self.source: Shape = ()
        self.reduce = reduce
        self.what: str = "scatter"

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def forward(self, a: Array, b: Array) -> Array:
        out = np.array(a, order="C")
        at = places(self.index, self.dim, a.shape).reshape(-1)
        if not self.index.size:
            return out
        if not isinstance(b, np.ndarray):
            tensor_index.check_number(b, a.dtype)
        b = np.asarray(b).astype(a.dtype)
        UFUNCS[self.reduce].at(out.reshape(-1), at, b[corner(self.index)].reshape(-1) if b.ndim else b)
        return out

    def rules(self, g: Value, graph: bool, want_a: bool, want_b: bool) -> tuple[Value, Value]:
        raise RuntimeError(f"derivative for aten::{self.what} is not implemented")


def scatter_number(x: Value, dim: int, index: Array, number: Any) -> Value:
    return ScatterBackward1(dim, index, number).run(x)


# Whole slices along a dim.

@final
class IndexSelectBackward0(Unary):
    holds = True
    shows: ClassVar[Any] = {"dim": "dim", "index": "index", "self_sym_sizes": "was"}

    def __init__(self, dim: int, index: Array) -> None:
        self.dim = dim
        self.index: Array = index
        self.was: Shape = ()

    def drop(self) -> None:
        self.index = None

    def forward(self, x: Array) -> Array:
        self.was = x.shape
        if x.ndim == 0:
            return np.array(x)
        if x.ndim > 1 and self.index.size and not x.shape[self.dim]:
            raise RuntimeError("index_select(): self indexing axis dim should be positive")
        return x.take(self.index, self.dim)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if not self.was:
            return shape.reshape(g, ()) * 1
        if self.index.ndim == 0:
            g = shape.unsqueeze(shape.reshape(g, self.was[:self.dim] + self.was[self.dim + 1:]), self.dim) \
                if reduce.raw(g).ndim < len(self.was) else g
        back = indexed.IndexAddAtBackward0(at_dim(self.index.reshape(-1), self.dim), self.was)
        back.wide = at_an_end(self.dim, len(self.was))
        return back.run(g)


@final
class IndexAddBackward0(Along):
    """a with alpha times the slices of b added."""

    names: ClassVar[Any] = {"source": "b"}
    shows: ClassVar[Any] = {"alpha": "alpha", "dim": "dim", "index": "index", "source_dim": "source_dim"}

    def __init__(self, dim: int, index: Array, alpha: Any) -> None:
        self.dim = dim
        self.index: Array = index
        self.source: Shape = ()
        self.alpha: Any = alpha
        self.source_dim: int = 0

    def forward(self, a: Array, b: Array) -> Array:
        self.source_dim = b.ndim
        quick = quick_slices(a, self.dim, self.index, b, ADD) if self.alpha == 1 else None
        if quick is not None:
            return quick
        out = np.array(a, order="C")
        if a.size == 0:
            return out
        if a.ndim == 0:
            return np.asarray(out + self.alpha * b.sum(dtype=a.dtype)).astype(a.dtype)
        if self.alpha != 1:
            b = (b * self.alpha).astype(a.dtype)
        if self.alpha == 1 and at_an_end(self.dim, a.ndim):
            return add_at(out, at_dim(self.index, self.dim), b)
        np.add.at(out, at_dim(self.index, self.dim), b)
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        g = read_slices(g, self.dim, self.index, reduce.raw(b).shape)
        return g if self.alpha == 1 else g * self.alpha


@final
class IndexCopyBackward0(Along):
    """a with slices of b in the place of its own."""

    names: ClassVar[Any] = {"source": "b"}
    shows: ClassVar[Any] = {"dim": "dim", "index": "index", "source_dim": "source_dim"}
    source_dim: int = 0

    def forward(self, a: Array, b: Array) -> Array:
        self.source_dim = b.ndim
        quick = quick_slices(a, self.dim, self.index, b, SET)
        if quick is not None:
            return quick
        out = np.array(a, order="C")
        if a.ndim == 0:
            return b.reshape(()).copy() if self.index.size else out
        if a.size:
            out[at_dim(self.index, self.dim)] = b
        return out

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return index_fill(g, self.dim, self.index, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return read_slices(g, self.dim, self.index, reduce.raw(b).shape)


def read_slices(g: Value, dim: int, index: Array, sizes: Shape) -> Value:
    """The slices of g at index; where the source was a single number or had no dims, in that shape."""
    if reduce.raw(g).ndim == 0:
        return shape.expand(g, sizes)
    return shape.reshape(index_select(g, dim, index), sizes)


@final
class IndexFillBackward0(NumberAlong):
    """x with a number in some slices."""

    def forward(self, x: Array) -> Array:
        tensor_index.check_number(self.number, x.dtype)
        quick = quick_slices(x, self.dim, self.index, self.number, SET)
        if quick is not None:
            return quick
        out = np.array(x)
        value = np.asarray(self.number).astype(x.dtype)
        if x.ndim == 0:
            return value.copy() if self.index.size else out
        if x.size:
            out[at_dim(self.index, self.dim)] = value
        return out

    def overlapped(self) -> Optional[str]:
        return "index_fill_"

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return index_fill(g, self.dim, self.index, 0.0)


@final
class IndexFillBackward1(Along):
    """The same with a 0-dim tensor."""

    shows: ClassVar[Any] = {"dim": "dim", "index": "index"}

    def forward(self, a: Array, b: Array) -> Array:
        out = np.array(a)
        if b.dtype is not a.dtype and a.dtype.kind in "iu":
            tensor_index.check_number(b.item(), a.dtype)
        if a.ndim == 0:
            return b.astype(a.dtype) if self.index.size else out
        out[at_dim(self.index, self.dim)] = b.astype(a.dtype)
        return out

    def overlapped(self) -> Optional[str]:
        return "index_fill_"

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return index_fill(g, self.dim, self.index, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return reduce.sum(g if reduce.raw(g).ndim == 0 else index_select(g, self.dim, np.unique(self.index)))


def index_select(x: Value, dim: int, index: Array) -> Value:
    return IndexSelectBackward0(dim, index).run(x)


def index_fill(x: Value, dim: int, index: Array, number: Any) -> Value:
    return IndexFillBackward0(dim, index, number).run(x)


from . import choose, indexed, moment, reduce, shape, slices  # noqa: E402
from . import index as tensor_index  # noqa: E402
