"""beta * c + alpha * (a times b) for the products of linalg.py; F.linear.   Letters as there."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy
from mypy_extensions import i64

from .._engine import names
from .._engine.modes import hush, modes, unhush
from .._engine.nary import Nary, carries
from .._engine.node import Array, Node, Task, Value
from .._engine.op import attach, edge, fit, number, recording
from .._engine.saved import active_hooks, keep, use
from .._engine.tensor import OK, Origin, TensorBase, public, shared_version, wrap
from .._kernels import kernel
from . import shape
from .linalg import (
    bmm,
    check_batches,
    count,
    expand_to,
    kind,
    matmul,
    mm,
    mv,
    no_product,
    product,
    raw,
    sizes,
    unrounded,
)

np: Final[Any] = numpy
quick_linear: Final[Any] = kernel("linear")
quick_linear_grad: Final[Any] = kernel("linear_grad")
quick_bias: Final[Any] = kernel("add_bias")


class Affine(Nary):
    """beta * c + alpha * (a times b), for some product; a and b are kept only for each other's gradient."""

    names: ClassVar[Any] = {}
    shows: ClassVar[Any] = {"alpha": "alpha", "beta": "beta"}

    def __init__(self, beta: Any, alpha: Any) -> None:
        super().__init__()
        self.beta: Any = beta
        self.alpha: Any = alpha

    def link(self, xs: list[Value]) -> None:
        reads = 0
        if carries(xs[1]):
            reads |= 4
        if carries(xs[2]):
            reads |= 2
        self.reads = reads
        super().link(xs)

    def combine(self, c: Array, y: Array) -> Array:
        """beta * c + alpha * y; in half precision, of which y is the float32, rounded once."""
        own = c.dtype
        if self.alpha != 1:
            y = np.asarray(y * np.asarray(self.alpha).astype(y.dtype))
        c = expand_to(c if own is y.dtype else c.astype(y.dtype), y.shape, self.beta)
        if self.beta != 0:
            y = y + c
        return y if y.dtype is own else y.astype(own)

    def scaled(self, g: Value) -> Value:
        return g if self.alpha == 1 else g * self.alpha

    def first(self, g: Value) -> Value:
        return g if self.beta == 1 else g * self.beta


@final
class AddmmBackward0(Affine):
    """c + a @ b; made by `linear`, too, from a weight whose transpose nobody has seen."""

    names: ClassVar[Any] = {"mat1": 1, "mat2": 2}
    turned: bool = False                        # as in MmBackward0
    lends = False
    weight: Optional[TensorBase] = None         # b is its transpose, a Tensor that is made when somebody asks for it
    weight_array: Array = None

    def forward(self, xs: list[Array]) -> Array:
        c = xs[0]
        a = xs[1]
        b = xs[2]
        self.turned = b.flags.fnc
        if a.ndim != 2 or b.ndim != 2:
            name, odd = ("mat1", a) if a.ndim != 2 else ("mat2", b)
            raise RuntimeError(f"{name} must be a matrix, got {odd.ndim}-D tensor")
        if a.shape[1] != b.shape[0]:
            raise no_product(a, b)
        check_same(c, a, b)
        y = unrounded(a, b, "addmm_impl_cpu_")
        if self.alpha == 1 and self.beta == 1 and c.ndim == 1 and c.shape[0] == y.shape[1] and c.dtype is y.dtype:
            if not quick_bias(y, c):
                y += c
            return y
        return self.combine(c, y)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        return [
            self.first(g) if want[0] else None,
            self.scaled(mm(g, shape.t(xs[2]))) if want[1] else None,
            self.scaled(shape.t(mm(shape.t(g), xs[1])) if self.turned else mm(shape.t(xs[1]), g)) if want[2] else None]

    def link_linear(self, x: TensorBase, w: TensorBase, b: TensorBase) -> None:
        """The edges of F.linear(x, w, b), and what its rules read."""
        turn: Optional[Node] = None
        reads = 0
        w_edits: i64 = 0
        x_edits: i64 = 0
        if recording(w):
            node = shape.TBackward0()
            node.link(w)
            number(node)
            turn = node
            reads = 2
            x_edits = 0 if x.version is None else x.version.edits
        if recording(x):
            reads |= 4
            self.weight = w
            self.weight_array = w.array
            w_edits = shared_version(w).edits
        self.reads = reads
        self.turned = True
        self.nexts = [edge(b), edge(x), turn]
        self.nrs = [b.nr, x.nr, 0]
        self.kept = [None, keep(x) if reads & 2 else None, None]
        self.edits = [0, x_edits, w_edits]
        self.like = [(b.array.shape, b.array.dtype), (x.array.shape, x.array.dtype), (w.array.shape[::-1], w.array.dtype)]

    def settle(self) -> None:
        """Make the transposed weight, as `linear` would have kept it."""
        w = self.weight
        if w is None:
            return
        self.weight = None
        was = w.origin
        origin = Origin(w if was is None else was.base, OK if was is None else was.state)
        origin.seen = self.edits[2]
        out: TensorBase = public.new(public.tensor)
        out.array = self.weight_array.T
        out.version = w.version
        out.origin = origin
        turn = self.nexts[2]
        if turn is not None:
            out.fn = turn
            out.rg = True
        self.weight_array = None
        self.kept[2] = out

    def reads_field(self, field: Any) -> bool:
        self.settle()                           # whoever asks looks into `kept` next
        return True

    def rules(self, g: Value, graph: bool, want: list[bool]) -> list[Value]:
        self.settle()
        return super().rules(g, graph, want)

    def push(self, task: Task, g: Value, more: Optional[list[Value]], shared: bool) -> None:
        w = self.weight
        if w is None or task.graph or g is None or self._hooks is not None or self.freed:
            super().push(task, g, more, shared)
            return
        if w.cut > self._seq or shared_version(w).edits != self.edits[2]:
            self.settle()
            use(self.kept[2], self.edits[2], self, False)       # raises
        to_b = self.nexts[0]
        to_x = self.nexts[1]
        to_w = self.nexts[2]
        x: Array = use(self.kept[1], self.edits[1], self, False)
        got: Value = None
        if to_b is not None:
            if task.wants(to_b):
                got = fit(g, self.like[0][0], self.like[0][1])
            task.deliver(to_b, self.nrs[0], got, got is g)
        got = None
        if to_x is not None:
            if task.wants(to_x):
                got = fit(product(g, self.weight_array, "addmm_impl_cpu_"), self.like[1][0], self.like[1][1])
            task.deliver(to_x, self.nrs[1], got, False)
        got = None
        if to_w is not None:
            if task.wants(to_w):
                got = quick_linear_grad(g, x)
                if got is None:
                    got = fit(product(g.T, x, "addmm_impl_cpu_").T, self.like[2][0], self.like[2][1])
            task.deliver(to_w, 0, got, False)

    def release(self) -> None:
        self.weight = None
        self.weight_array = None
        super().release()


def check_same(c: Array, a: Array, b: Array) -> None:
    if c.dtype is b.dtype and a.dtype is b.dtype:
        return
    if c.dtype != b.dtype and a.dtype == c.dtype or c.dtype != b.dtype and a.dtype == b.dtype:
        raise RuntimeError(f"self and mat2 must have the same dtype, but got {kind(c)} and {kind(b)}")
    if a.dtype != b.dtype:
        raise RuntimeError(f"mat1 and mat2 must have the same dtype, but got {kind(a)} and {kind(b)}")


def check_3d(a: Array, b: Array) -> None:
    if a.ndim != 3:
        raise RuntimeError("batch1 must be a 3D tensor")
    if b.ndim != 3:
        raise RuntimeError("batch2 must be a 3D tensor")


@final
class AddmvBackward0(Affine):
    names: ClassVar[Any] = {"mat": 1, "vec": 2}

    def forward(self, xs: list[Array]) -> Array:
        c = xs[0]
        a = xs[1]
        b = xs[2]
        if a.ndim != 2 or b.ndim != 1 or c.ndim > 1:
            raise RuntimeError(f"vector + matrix @ vector expected, got {c.ndim}, {a.ndim}, {b.ndim}")
        n, m = a.shape
        if m != b.shape[0] or (c.size != 1 and c.size != n):
            raise RuntimeError(f"size mismatch, got input ({c.size}), mat ({n}x{m}), vec ({b.shape[0]})")
        if c.dtype != a.dtype or a.dtype != b.dtype:
            raise RuntimeError(
                f"addmv input tensors must have the same dtype, but got {kind(c)}, {kind(a)}, and {kind(b)}")
        return self.combine(c, unrounded(a, b, "addmv_impl_cpu"))

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        return [
            self.first(g) if want[0] else None,
            self.scaled(shape.unsqueeze(g, 1) * shape.unsqueeze(xs[2], 0)) if want[1] else None,
            self.scaled(mv(shape.t(xs[1]), g)) if want[2] else None]


@final
class BaddbmmBackward0(Affine):
    names: ClassVar[Any] = {"batch1": 1, "batch2": 2}

    def forward(self, xs: list[Array]) -> Array:
        c = xs[0]
        a = xs[1]
        b = xs[2]
        check_3d(a, b)
        check_batches(a, b)
        if c.dtype != a.dtype or a.dtype != b.dtype:
            raise RuntimeError(
                f"Input dtypes must be the same, got: input {names.C[c.dtype.name]}, batch1: "
                f"{names.C[a.dtype.name]}, batch2: {names.C[b.dtype.name]}")
        return self.combine(c, unrounded(a, b, "baddbmm"))

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        return [
            self.first(g) if want[0] else None,
            self.scaled(bmm(g, shape.mT(xs[2]))) if want[1] else None,
            self.scaled(bmm(shape.mT(xs[1]), g)) if want[2] else None]


@final
class AddbmmBackward0(Affine):
    """beta * c + alpha * sum over the batch of a @ b"""

    names: ClassVar[Any] = {"batch1": 1, "batch2": 2}

    def forward(self, xs: list[Array]) -> Array:
        c = xs[0]
        a = xs[1]
        b = xs[2]
        check_3d(a, b)
        if a.shape[0] != b.shape[0]:
            raise RuntimeError(
                f"batch1 and batch2 must have same number of batches, got {a.shape[0]} and {b.shape[0]}")
        if a.shape[2] != b.shape[1]:
            raise RuntimeError(
                f"Incompatible matrix sizes for bmm ({a.shape[1]}x{a.shape[2]} and {b.shape[1]}x{b.shape[2]})")
        check_same(c, a, b)
        n = a.shape[1]
        p = b.shape[2]
        y = product(a.transpose(1, 0, 2).reshape(n, -1), b.reshape(-1, p), "addmm_impl_cpu_")
        return self.combine(c, y)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        out: list[Value] = [self.first(g) if want[0] else None, None, None]
        kept = xs[1] if xs[1] is not None else xs[2]
        if kept is not None:
            wide = shape.expand(shape.unsqueeze(g, 0), (sizes(kept)[0],) + sizes(g))
            if want[1]:
                out[1] = self.scaled(bmm(wide, shape.mT(xs[2])))
            if want[2]:
                out[2] = self.scaled(bmm(shape.mT(xs[1]), wide))
        return out


@final
class AddrBackward0(Affine):
    """beta * c + alpha * outer(a, b)"""

    names: ClassVar[Any] = {"vec1": 1, "vec2": 2}

    def forward(self, xs: list[Array]) -> Array:
        for i in range(1, 3):
            if xs[i].ndim != 1:
                raise RuntimeError(f"addr: Expected 1-D argument vec{i}, but got {xs[i].ndim}-D")
        return self.combine(xs[0], xs[1][:, None] * xs[2])

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        return [
            self.first(g) if want[0] else None,
            self.scaled(mv(g, xs[2])) if want[1] else None,
            self.scaled(mv(shape.t(g), xs[1])) if want[2] else None]


def addmm(c: Value, a: Value, b: Value, beta: Any = 1, alpha: Any = 1) -> Value:
    return AddmmBackward0(beta, alpha).run([c, a, b])


def linear(x: Value, w: Value, b: Value) -> Value:
    """x @ w.T + b, in the nodes that F.linear makes; b may be None."""
    if ((modes.observer is None or modes.recorder is not None)
            and isinstance(x, TensorBase) and isinstance(w, TensorBase) and isinstance(b, TensorBase)):
        found = quick(x, w, b)
        if found is not None:
            return found
    nx: int = x.ndim
    nw: int = w.ndim
    if nx == 2 and nw == 2:
        return mm(x, shape.t(w)) if b is None else addmm(b, x, shape.t(w))
    if nx == 0 or nw == 0:
        raise RuntimeError(f"both arguments to linear need to be at least 1D, but they are {nx}D and {nw}D")
    if nw > 2:
        raise RuntimeError(f"t() expects a tensor with <= 2 dimensions, but self is {nw}D")
    if b is None:
        return matmul(x, shape.t(w))
    if not raw(x).flags.c_contiguous:
        return matmul(x, shape.t(w)) + b
    lead = sizes(x)[:-1]
    flat = shape.reshape(x, (count(lead), sizes(x)[-1]))
    y = addmm(b, flat, shape.t(w))
    return shape.reshape(y, lead + (sizes(y)[1],))


def quick(x: TensorBase, w: TensorBase, b: TensorBase) -> Optional[TensorBase]:
    """F.linear of matrices by a kernel, without a Tensor for the transposed weight; None where that cannot be."""
    record = recording(x) or recording(w) or recording(b)
    if record and (x.inference or w.inference or (not modes.usual and active_hooks() is not None)):
        return None                             # what is kept is refused, or shown to them: the transposed weight, too
    y: Array = quick_linear(x.array, w.array, b.array, False)
    if y is None:
        token = hush()
        try:
            y = quick_linear(x.array, w.array, b.array, True)
        finally:
            unhush(token)
        if y is None:
            return None
    out = wrap(y)
    node: Optional[AddmmBackward0] = None
    if record:
        node = AddmmBackward0(1, 1)
        node.link_linear(x, w, b)
        attach(out, node)
    if modes.recorder is not None:
        modes.recorder.linear(node, b, x, w, out)
    return out
