"""Ops of several inputs (Nary) and of several outputs (Many)."""
from __future__ import annotations

from typing import Any, ClassVar, Optional

import numpy
from mypy_extensions import i64, u8

from .modes import grad_on, hush, inference_on, modes, unhush
from .node import Array, Node, Task, Value
from .op import (
    OUT,
    X,
    Y,
    alias,
    attach,
    check_watched,
    edge,
    fit,
    is_complex,
    keeper,
    own_kind,
    pack_watched,
    recording,
)
from .reads import derive
from .saved import freed, keep, keep_output, use, use_output
from .tensor import INFERENCE, MULTI, OK, TensorBase, Version, shared_version, wrap


def carries(x: Value) -> bool:
    """Will a node made now be asked for the gradient of x?"""
    return isinstance(x, TensorBase) and recording(x)


class Nary(Node):
    """A list of inputs (Tensors, arrays or None), one output.

    Bit i of `reads` says that some rule reads input i, OUT that one reads the output.
    """

    reads: int = 0
    conjugates: bool = True                     # NOTE [Complex numbers] in op.py
    lends: bool = True                          # a gradient may be an array that somebody else holds, besides g itself
    names: ClassVar[Any] = {"result": "y"}
    shows: ClassVar[Any] = {}

    def __init_subclass__(cls) -> None:
        derive(cls)

    def __init__(self) -> None:
        self.nexts: list[Optional[Node]] = []
        self.nrs: list[i64] = []
        self.kept: list[Value] = []
        self.edits: list[i64] = []
        self.like: list[Any] = []               # (shape, dtype) of each input that wants a gradient
        self.y: Value = None
        self.y_version: Optional[Version] = None
        self.y_edits: i64 = 0
        self.freed: bool = False

    def forward(self, xs: list[Array]) -> Array:
        raise NotImplementedError

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        raise NotImplementedError

    def run(self, xs: list[Value]) -> Value:
        some = False
        arrays: list[Array] = []
        for x in xs:
            if isinstance(x, TensorBase):
                some = True
                arrays.append(x.array)
            else:
                arrays.append(x)
        if not some:
            return self.forward(arrays)
        if not modes.usual:
            other = keeper()
            if other is not None:
                return other.run(self, (xs,))
        token = hush()
        try:
            out = wrap(self.forward(arrays))
        finally:
            unhush(token)
        self.record(xs, out)
        if modes.observer is not None:
            modes.observer.op(self, xs, out)
        return out

    def record(self, xs: list[Value], out: TensorBase) -> None:
        """The node of out, when grad is on."""
        if self.wanted(xs):
            self.link(xs)
            attach(out, self)
            if self.reads & OUT:
                self.hold(out)

    def run_(self, xs: list[Value]) -> TensorBase:
        """In place: the first input gets the result."""
        first: TensorBase = xs[0]
        record = self.wanted(xs)
        views.guard(first, record)
        for x in xs:
            if isinstance(x, TensorBase) and x is not first and (
                    first.array.base is not None or x.array.base is not None):
                views.apart(first, x)
        token = hush()
        try:
            y = self.forward([x.array if isinstance(x, TensorBase) else x for x in xs])
        except RuntimeError:
            if views.repeats(first.array):
                views.check_repeated(self)
            raise
        finally:
            unhush(token)
        if record:
            kept = list(xs)
            if self.reads & 1:
                kept[0] = create.clone(first)
            self.link(xs)
            if self.reads & 1:
                self.kept[0] = keep(kept[0])
                self.edits[0] = 0
        views.store(first, y, False)
        if record:
            views.rebase(first, self)
            if self.reads & OUT:
                self.hold(first)
        if modes.observer is not None:
            modes.observer.op(self, xs, first)
        return first

    def wanted(self, xs: list[Value]) -> bool:
        for x in xs:
            if carries(x):
                return True
        return False

    def reads_field(self, field: Any) -> bool:
        if isinstance(field, int):
            return self.reads >> field & 1 != 0
        return self.reads & OUT != 0 if field == "y" else True

    def link(self, xs: list[Value]) -> None:
        if self._watched is not None:
            pack_watched(self)
        for i in range(len(xs)):
            x = xs[i]
            if isinstance(x, TensorBase):
                self.nexts.append(edge(x))
                self.nrs.append(x.nr)
                self.like.append((x.array.shape, x.array.dtype))
                if self.reads >> i & 1:
                    self.kept.append(keep(x))
                    self.edits.append(0 if x.version is None else x.version.edits)
                else:
                    self.kept.append(None)
                    self.edits.append(0)
            else:
                self.nexts.append(None)
                self.nrs.append(0)
                self.like.append(None)
                self.kept.append(x if self.reads >> i & 1 else None)
                self.edits.append(0)

    def hold(self, out: TensorBase) -> None:
        self.y = keep_output(out, self)
        self.y_version = shared_version(out)
        self.y_edits = self.y_version.edits

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        return self.rules(gs[0], graph, [n is not None for n in self.nexts])

    def rules(self, g: Value, graph: bool, want: list[bool]) -> list[Value]:
        if g is None:
            return [None for _ in self.nexts]
        if self.freed:
            raise freed()
        if self._watched is not None:
            check_watched(self)
        xs: list[Value] = []
        for i in range(len(self.kept)):
            xs.append(use(self.kept[i], self.edits[i], self, graph))
        y: Value = None
        if self.reads & OUT:
            y = use_output(self.y, self.y_version, self.y_edits, self, 0, graph)
        turn = modes.imaginary and self.conjugates and is_complex(g)
        outs = self.grads(complexes.conj(g) if turn else g, xs, y, want)
        for i in range(len(outs)):
            if outs[i] is not None:
                if turn:
                    outs[i] = complexes.conj(outs[i])
                like = self.like[i]
                if like is None or not want[i]:
                    outs[i] = None
                else:
                    outs[i] = fit(outs[i], like[0], like[1])
        return outs

    def push(self, task: Task, g: Value, more: Optional[list[Value]], shared: bool) -> None:
        outs = self.rules(g, task.graph, [task.wants(n) for n in self.nexts])
        lends = self.lends
        if self._hooks is not None:
            outs = self.late(task, outs)
            lends = True
        for i in range(len(outs)):
            to = self.nexts[i]
            if to is not None:
                task.deliver(to, self.nrs[i], outs[i], lends or outs[i] is g)

    def edge_count(self) -> int:
        return len(self.nexts)

    def edge_node(self, i: int) -> Optional[Node]:
        return self.nexts[i]

    def edge_nr(self, i: int) -> int:
        return self.nrs[i]

    def release(self) -> None:
        if self.reads != 0:
            self.kept = []
            self.y = None
            self.freed = True
            self._watched = None
            self.drop()

    def drop(self) -> None:
        """Let go of the arrays an op keeps in fields of its own."""


class Many(Node):
    """One tensor in, several out.  `keep` may hold X and Y; the rule gets lists, with zeros where no gradient came."""

    keep: u8 = 0
    conjugates: bool = True
    views: bool = False
    names: ClassVar[Any] = {"self": "x"}
    shows: ClassVar[Any] = {}

    def __init_subclass__(cls) -> None:
        derive(cls)

    def __init__(self) -> None:
        self.next: Optional[Node] = None
        self.next_nr: i64 = 0
        self.x: Value = None
        self.x_edits: i64 = 0
        self.ys: list[Value] = []
        self.ys_version: list[Version] = []
        self.ys_edits: list[i64] = []
        self.like: list[Any] = []
        self.real: Any = None
        self.freed: bool = False

    def forward(self, x: Array) -> list[Array]:
        raise NotImplementedError

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        raise NotImplementedError

    def run(self, x: Value) -> list[Value]:
        if not isinstance(x, TensorBase):
            return self.forward(x)
        if not modes.usual:
            other = keeper()
            if other is not None:
                return other.run(self, (x,))
        token = hush()
        try:
            arrays = self.forward(x.array)
        finally:
            unhush(token)
        outs = [wrap(y) for y in arrays]
        if self.views:
            for out in outs:
                out.inference = False
                alias(out, x, OK)
                origin = out.origin
                if origin is not None and (
                        origin.state == OK or (origin.state != INFERENCE and grad_on() and not inference_on())):
                    origin.state = MULTI
        self.record(x, outs)
        if modes.observer is not None:
            modes.observer.op(self, (x,), outs)
        found: list[Value] = list(outs)
        return found

    def record(self, x: TensorBase, outs: list[TensorBase]) -> None:
        """The node of outs, when grad is on."""
        if recording(x) and not (self.views and x.inference):
            self.next = edge(x)
            self.next_nr = x.nr
            self._outputs = len(outs)
            self.like = [(y.array.shape, y.array.dtype) for y in outs]
            if (modes.imaginary or modes.coarse) and x.array.dtype.kind != "c":
                self.real = x.array.dtype
            if self.keep & X:
                self.x = keep(x)
                self.x_edits = 0 if x.version is None else x.version.edits
            nr = 0
            for out in outs:
                if out.array.dtype.kind in "fcV":
                    attach(out, self, nr)
                nr += 1
            if self.keep & Y:
                for out in outs:
                    self.ys.append(keep_output(out, self))
                    self.ys_version.append(shared_version(out))
                    self.ys_edits.append(shared_version(out).edits)

    def reads_field(self, field: Any) -> bool:
        return self.keep & X != 0 if field == "x" else True

    def output_likes(self) -> list[Any]:
        return self.like

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        if self.next is None:
            return [None]
        some = False
        for g in gs:
            some = some or g is not None
        if not some:
            return [None]
        if self.freed:
            raise freed()
        x: Value = None
        ys: list[Value] = []
        if self.keep & X:
            x = use(self.x, self.x_edits, self, graph)
        if self.keep & Y:
            for i in range(len(self.ys)):
                ys.append(use_output(self.ys[i], self.ys_version[i], self.ys_edits[i], self, i, graph))
        whole: list[Value] = []
        for i in range(len(self.like)):
            g = gs[i] if i < len(gs) else None
            if g is None:
                zeros = numpy.zeros(self.like[i][0], self.like[i][1])
                g = wrap(zeros) if graph else zeros
            whole.append(g)
        if not modes.imaginary:
            got: Value = self.grad(whole, x, ys)
            return [own_kind(got, self.real) if modes.coarse else got]
        turn = False
        for g in whole:
            turn = turn or (self.conjugates and is_complex(g))
        got = self.grad([complexes.conj(g) for g in whole] if turn else whole, x, ys)
        return [own_kind(complexes.conj(got) if turn else got, self.real)]

    def edge_count(self) -> int:
        return 1

    def edge_node(self, i: int) -> Optional[Node]:
        return self.next

    def edge_nr(self, i: int) -> int:
        return self.next_nr

    def release(self) -> None:
        if self.keep != 0:
            self.x = None
            self.ys = []
            self.freed = True


from .._rules import complexes, create  # noqa: E402
from . import views  # noqa: E402  in-place runs rebase views; views are ops
