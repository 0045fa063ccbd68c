"""Base classes of ops.  An op says its forward on arrays and one rule per input; what its rules read is derived from them.

A rule is written once.  `backward` hands it arrays (fast) or Tensors (create_graph=True); operators and the functions
of `_rules` accept both, so the rule does not know the difference.

    Unary    one tensor in, one out            View     the same, sharing memory
    Binary   two in (broadcast), one out       Product  two in, shapes as the op says
    nary.py: Nary, a list in, one out; Many, one in, several out
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

from mypy_extensions import i64, u8

from .. import _kernels
from . import promote
from .modes import hush, modes, state, unhush
from .node import Array, Node, Shape, Task, Value
from .reads import derive
from .saved import active_hooks, freed, keep, keep_output, use, use_output
from .tensor import (
    INFERENCE,
    NO_GRAD,
    OK,
    Origin,
    TensorBase,
    Version,
    bump,
    public,
    shared_version,
    sink_of,
    wants_grad,
    wrap,
)

A: Final[u8] = 1        # the rule reads the first input
B: Final[u8] = 2        # ... the second input
Y: Final[u8] = 4        # ... the output
X: Final[u8] = A        # ... the only input of a unary op

untrack: Final[Any] = _kernels.untrack
once_kernel: Final[Any] = _kernels.once
OUT: Final = 1 << 30     # ... the output of an Nary op


def edge(t: TensorBase) -> Optional[Node]:
    """Where t's gradient goes: the op that made it, or its leaf's AccumulateGrad; None when nowhere."""
    if t.origin is not None:
        views.refresh(t)
    fn = t.fn
    if fn is not None:
        return fn
    return sink_of(t) if t.rg else None


def recording(t: TensorBase) -> bool:
    """Will an op on t make a node?"""
    if not t.rg and (t.origin is None or not wants_grad(t)):
        return False
    return modes.usual or records(t)


def records(t: TensorBase) -> bool:
    """Does the mode let an op on t, which wants a gradient, make a node?"""
    it = state()
    return not it.inference and (it.grad or (it.tangent is not None and it.tangent(t)))


def keeper() -> Any:
    """NOTE [Keeper] in modes.py; None: nobody keeps."""
    return state().keeper


def sources(args: tuple[Any, ...]) -> tuple[tuple[bool, ...], Any, Any]:
    """Of a custom op on these: who wants a gradient; edges and output numbers of the tensors, None where nothing is recorded."""
    needs: list[bool] = []
    record = False
    for x in args:
        wants = isinstance(x, TensorBase) and wants_grad(x)
        needs.append(wants)
        record = record or (wants and (modes.usual or records(x)))
    if not record:
        return tuple(needs), None, None
    edges: list[Optional[Node]] = []
    nrs: list[int] = []
    for x in args:
        if isinstance(x, TensorBase):
            edges.append(edge(x))
            nrs.append(x.nr)
    return tuple(needs), edges, nrs


def attach(out: TensorBase, node: Node, nr: i64 = 0) -> None:
    """Make `node` the op that made `out`, its output `nr`."""
    number(node)
    if not modes.usual:
        it = state()
        if not it.grad and it.tangent is not None:
            fork(out, edge(out), out.nr, node, nr)
            return
    out.rg = True
    out.fn = node
    out.nr = nr


# NOTE [Forks]
# no_grad ends gradients, but no tangents, and the latter are computed by backward passes, too: NOTE [Dual tensors] in
# autograd/forward_ad.py.  So under no_grad an op on what has a tangent is recorded, and between its node and its result lies an
# Identity: passes that compute tangents go on to the node, others to what the tensor was before.

@final
class Identity(Node):
    """Two histories of a tensor: one for gradients, one for tangents; None: it is a constant there."""

    def __init__(self, reverse: Optional[Node], reverse_nr: i64, forward: Optional[Node], forward_nr: i64) -> None:
        self.reverse: Optional[Node] = reverse
        self.reverse_nr: i64 = reverse_nr
        self.forward: Optional[Node] = forward
        self.forward_nr: i64 = forward_nr

    def name(self) -> str:
        return "torch::autograd::Identity"

    def edge_count(self) -> int:
        return 1

    def edge_node(self, i: int) -> Optional[Node]:
        return self.forward if state().pushing else self.reverse

    def edge_nr(self, i: int) -> int:
        return self.forward_nr if state().pushing else self.reverse_nr

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        g = gs[0]
        if graph and isinstance(g, TensorBase) and state().pushing:
            out = wrap(g.array)                 # what comes back along g is a tangent, and no part of the other history
            fork(out, None, 0, edge(g), g.nr)
            g = out
        return [g]


def fork(t: TensorBase, reverse: Optional[Node], reverse_nr: i64, forward: Optional[Node], forward_nr: i64) -> None:
    """Make an Identity the history of t."""
    node = Identity(reverse, reverse_nr, forward, forward_nr)
    number(node)
    t.rg = True
    t.fn = node
    t.nr = 0


# NOTE [Nodes and the cyclic garbage collector]
# The collector visits every live object about five times: half the cost of recording a long chain.  A graph is no cycle
# unless hooks or create_graph make it one.  So nodes hide from the collector until the first hook is registered, and a
# create_graph pass shows it the nodes it visits.  What PyTorch's own nodes, which no collector sees, would leak and ours
# do too: a tensor that holds, as an attribute of its own, one computed from it.

def number(node: Node) -> None:
    """The next sequence number; under anomaly mode the stack too."""
    modes.seq += 1
    node._seq = modes.seq
    if modes.light:
        untrack(node)
    if modes.anomaly:
        anomaly.note(node)


def watch(node: Node, t: Value) -> Array:
    """The array of an index or mask that `node` keeps; backward will refuse if it was edited meanwhile."""
    if not isinstance(t, TensorBase):
        return t
    if node._watched is None:
        node._watched = []
    if node._seq != 0 and (t.inference or not modes.usual):     # recorded already
        node._watched.append((keep(t), 0 if t.version is None else t.version.edits))
    else:
        node._watched.append((t, 0 if t.version is None else t.version.edits))
    return t.array


def pack_watched(node: Node) -> None:
    """Show what `watch` noted to the hooks on saved tensors.  The node goes on with the arrays it has."""
    if not modes.usual and active_hooks() is not None:
        node._watched = [(keep(t), edits) for t, edits in node._watched]
        return
    for t, _ in node._watched:
        if t.inference:
            keep(t)                             # refuses


def check_watched(node: Node) -> None:
    for t, edits in node._watched:
        use(t, edits, node, False)


# NOTE [Complex numbers]
# The gradient of a real loss is conj(dL/dz), PyTorch's convention: where y = f(z) has a derivative, that of z is
# g * conj(f'(z)).  Rules say g * f'(z), which is what they compute, for complex numbers, between two conjugations:
# conj(conj(g) * f'(z)).  An op without a derivative in that sense (abs, real, conj, ...) says so, `conjugates = False`, and
# its rule is the whole truth.  What arrives at a real input loses its imaginary part: `fit`, `own_kind`.
# Nobody looks for complex numbers before the first one was met: modes.imaginary.

def is_complex(g: Value) -> bool:
    kind: str = g.array.dtype.kind if isinstance(g, TensorBase) else g.dtype.kind
    return kind == "c"


def own_kind(g: Value, real: Any) -> Value:
    """A gradient for an input whose dtype is `real`; None: it is complex, or nobody knows."""
    if real is None or g is None:
        return g
    if real.kind == "V":                        # bfloat16
        have: Any = g.array.dtype if isinstance(g, TensorBase) else g.dtype
        return g if have is real else cast.cast(g, real)
    return cast.cast(g, real) if is_complex(g) else g


def fit(g: Value, shape_: Shape, dtype: Any) -> Value:
    """The adjoint of broadcasting and promotion: g summed to a shape and cast to a dtype; None stays None."""
    if g is None:
        return None
    if g.shape != shape_:
        g = shape.sum_to(g, shape_)
    if isinstance(g, TensorBase):
        if g.array.dtype is not dtype:
            g = cast.cast(g, dtype)
    elif g.dtype is not dtype:
        g = cast.cast(g, dtype) if modes.imaginary else g.astype(dtype)
    return g


def once(ufunc: Any, x: Array) -> Array:
    """ufunc(x), when a kernel can call it; else None."""
    return None if once_kernel is None else once_kernel(ufunc, x)


class Unary(Node):
    """An op of one tensor."""

    keep: u8 = 0                                # what the rule reads: in reads.py, like all that is so declared
    conjugates: bool = True                     # NOTE [Complex numbers]
    real: Any = None                            # the dtype of x, noted where it is real and complex numbers or bfloat16 are about
    holds: bool = False                         # keeps arrays besides x and y (a mask, indices): see drop()
    names: ClassVar[Any] = {"self": "x", "result": "y"}     # _saved_NAME -> field
    shows: ClassVar[Any] = {}
    next: Optional[Node] = None
    next_nr: i64 = 0
    x: Value = None
    x_edits: i64 = 0
    y: Value = None
    y_version: Optional[Version] = None
    y_edits: i64 = 0
    freed: bool = False

    def __init_subclass__(cls) -> None:
        derive(cls)

    def forward(self, x: Array) -> Array:
        raise NotImplementedError

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        raise NotImplementedError

    def quick(self, x: Array) -> Array:
        """The result, when a kernel can make it, which never warns; else None."""
        return None

    def run(self, x: Value) -> Value:
        """Arrays in, array out; Tensor in, Tensor out, recorded when grad is on."""
        if not isinstance(x, TensorBase):
            made = self.quick(x)
            return made if made is not None else self.forward(x)
        if not modes.usual:
            other = keeper()
            if other is not None:
                return other.run(self, (x,))
        y = self.quick(x.array)
        if y is None:
            token = hush()
            try:
                y = self.forward(x.array)
            finally:
                unhush(token)
        out = wrap(y)
        self.record(x, out)
        if modes.observer is not None:
            modes.observer.op(self, (x,), out)
        return out

    def record(self, x: TensorBase, out: TensorBase) -> None:
        """The node of out, when grad is on."""
        if recording(x):
            self.link(x)
            if self.keep & X:
                self.x = keep(x)
                self.x_edits = 0 if x.version is None else x.version.edits
            attach(out, self)
            if self.keep & Y:
                self.hold(out)

    def run_(self, x: TensorBase) -> TensorBase:
        """In place: x gets the result, and its history this op."""
        record = recording(x)
        views.guard(x, record)
        if record:
            before = create.clone(x) if self.keep & X else None
            self.link(x)
            if before is not None:
                self.x = keep(before)
        y = self.quick(x.array)
        if y is None:
            token = hush()
            try:
                y = self.forward(x.array)
            finally:
                unhush(token)
        views.store(x, y, False, self)
        if record:
            views.rebase(x, self)
            if self.keep & Y:
                self.hold(x)
        if modes.observer is not None:
            modes.observer.op(self, (x,), x)
        return x

    def reads_field(self, field: Any) -> bool:
        return self.keep & (X if field == "x" else Y) != 0 if field == "x" or field == "y" else True

    def link(self, x: TensorBase) -> None:
        if self._watched is not None:
            pack_watched(self)
        self.next = edge(x)
        self.next_nr = x.nr
        if (modes.imaginary or modes.coarse) and x.array.dtype.kind != "c":
            self.real = x.array.dtype

    def hold(self, out: TensorBase) -> None:
        self.y = keep_output(out, self)
        self.y_version = shared_version(out)
        self.y_edits = self.y_version.edits

    def rule(self, g: Value, graph: bool) -> Value:
        if modes.imaginary:
            turn = self.conjugates and is_complex(g)
            got = self.rule_of(complexes.conj(g) if turn else g, graph)
            return own_kind(complexes.conj(got) if turn and got is not None else got, self.real)
        return own_kind(self.rule_of(g, graph), self.real) if modes.coarse else self.rule_of(g, graph)

    def rule_of(self, g: Value, graph: bool) -> Value:
        if self.freed:
            raise freed()
        if self._watched is not None:
            check_watched(self)
        if self.keep == 0:
            return self.grad(g, None, None)
        x: Value = None
        y: Value = None
        if self.keep & X:
            x = use(self.x, self.x_edits, self, graph)
        if self.keep & Y:
            y = use_output(self.y, self.y_version, self.y_edits, self, 0, graph)
        return self.grad(g, x, y)

    def push(self, task: Task, g: Value, more: Optional[list[Value]], shared: bool) -> None:
        to = self.next
        if to is None:
            return
        if g is None:
            task.deliver(to, self.next_nr, None, True)
            return
        got = self.rule(g, task.graph)
        if self._hooks is not None:
            got = self.late(task, [got])[0]
        task.deliver(to, self.next_nr, got, got is g)

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        g = gs[0]
        return [None if g is None or self.next is None else self.rule(g, graph)]

    def visit(self, task: Task) -> None:
        to = self.next
        if to is not None:
            task.see(to)

    def edge_count(self) -> int:
        return 1

    def edge_node(self, i: int) -> Optional[Node]:
        return self.next

    def edge_nr(self, i: int) -> int:
        return self.next_nr

    def release(self) -> None:
        if self.keep != 0 or self.holds:
            self.x = None
            self.y = None
            self.freed = True
            self._watched = None
            self.drop()

    def drop(self) -> None:
        """Let go of the arrays an op with `holds` keeps in fields of its own."""


class View(Unary):
    """An op whose result shares its input's memory."""

    conjugates = False

    def run(self, x: Value) -> Value:
        if not isinstance(x, TensorBase):
            return self.forward(x)
        if not modes.usual:
            other = keeper()
            if other is not None:
                return other.run(self, (x,))
        return self.show(x, self.forward(x.array))

    def show(self, x: TensorBase, y: Array) -> TensorBase:
        """The Tensor of y, which shows x's memory."""
        out = shown(x, y)
        if not x.inference:                     # a view of an inference tensor is one, and requires no grad
            self.record(x, out)
        if modes.observer is not None:
            modes.observer.op(self, (x,), out)
        return out

    def run_(self, x: TensorBase) -> TensorBase:
        """t_(), unsqueeze_() and the like: x itself gets the new shape."""
        record = recording(x)
        views.guard(x, record)
        if record:
            self.link(x)
        x.array = self.forward(x.array)
        if x.sink is not None:
            x.sink.array = x.array
        bump(x)
        if record:
            views.reshape(x, self)
        if modes.observer is not None:
            modes.observer.op(self, (x,), x)
        return x


def shown(x: TensorBase, y: Array) -> TensorBase:
    """The Tensor of y, which shows x's memory; not recorded."""
    out: TensorBase = public.new(public.tensor)
    out.array = y
    alias(out, x, OK)
    return out


def alias(out: TensorBase, x: TensorBase, why: i64) -> None:
    """Note that `out` shows x's memory."""
    origin = x.origin
    version = shared_version(x)
    out.version = version
    if x.inference:
        out.inference = True
        return
    if why == OK:
        if modes.usual:
            why = OK if origin is None else origin.state
        else:
            it = state()
            if it.inference or (origin is not None and origin.state == INFERENCE):
                why = INFERENCE
            elif not it.grad and it.tangent is None:
                why = NO_GRAD
            elif origin is not None:
                why = origin.state
    made = Origin(x if origin is None else origin.base, why)
    made.seen = version.edits
    out.origin = made


class Binary(Node):
    """A broadcasting op of two operands; either may be a plain number.

    `reads_a` says what the rule of the first operand reads, `reads_b` that of the second: only what a wanted rule reads
    is kept.
    """

    reads_a: u8 = 0
    reads_b: u8 = 0
    holds: bool = False
    casts: bool = False                         # in place, the result may be of a higher kind than a (copy_)
    conjugates: bool = True                     # NOTE [Complex numbers]
    kind: u8 = promote.SAME
    names: ClassVar[Any] = {"self": "a", "other": "b", "result": "y"}
    shows: ClassVar[Any] = {}
    keep: u8 = 0                                # what this node did keep
    a_next: Optional[Node] = None
    b_next: Optional[Node] = None
    a_nr: i64 = 0
    b_nr: i64 = 0
    a: Value = None
    b: Value = None
    y: Value = None
    a_edits: i64 = 0
    b_edits: i64 = 0
    y_edits: i64 = 0
    y_version: Optional[Version] = None
    unlike: Any = None                          # (a.shape, a.dtype, b.shape, b.dtype) where fit() may have work
    freed: bool = False

    def __init_subclass__(cls) -> None:
        derive(cls)

    def forward(self, a: Array, b: Array) -> Array:
        raise NotImplementedError

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        raise NotImplementedError

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        raise NotImplementedError

    def quick(self, a: Array, b: Array) -> Array:
        """The result, when a kernel can make it of arrays of one shape and dtype (or b a number); else None."""
        return None

    def quick_(self, a: Array, b: Array) -> bool:
        """In place: did a kernel do it?  Arrays as for `quick`."""
        return False

    def run(self, a: Value, b: Value) -> Value:
        ta: Optional[TensorBase] = a if isinstance(a, TensorBase) else None
        tb: Optional[TensorBase] = b if isinstance(b, TensorBase) else None
        if ta is None and tb is None:
            return self.forward(a, b)
        if not modes.usual:
            other = keeper()
            if other is not None:
                return other.run(self, (a, b))
        y: Array = None
        if ta is not None and (tb is not None or type(b) is float or type(b) is int):
            y = self.quick(ta.array, tb.array if tb is not None else b)
        if y is None:
            token = hush()
            try:
                y = self.compute(a, b, ta, tb)
            except promote.Foreign:
                return NotImplemented
            except RuntimeError:
                self.check_link(a, b, ta, tb)
                raise
            finally:
                unhush(token)
        out = wrap(y)
        self.record(a, b, ta, tb, out)
        if modes.observer is not None:
            modes.observer.op(self, (a, b), out)
        return out

    def record(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase], out: TensorBase) -> None:
        """The node of out, when grad is on; ta, tb: a and b, where they are tensors."""
        ra = ta is not None and recording(ta)
        rb = tb is not None and recording(tb)
        if ra or rb:
            self.link(a, b, ta if ra else None, tb if rb else None)
            attach(out, self)
            if self.keep & Y:
                self.hold(out)

    def run_(self, a: TensorBase, b: Value) -> Any:
        """In place: a gets the result."""
        tb: Optional[TensorBase] = b if isinstance(b, TensorBase) else None
        ra = recording(a)
        rb = tb is not None and recording(tb)
        if (ra or rb) and a.array.dtype.kind not in "fcV":
            ra = rb = False                     # an integer has no gradient, whatever is cast to it
        try:
            views.guard(a, ra or rb)
        except RuntimeError:
            if tb is None and foreign(a, b):
                return NotImplemented
            raise
        if tb is not None and tb.version is not None and tb.version is a.version and tb is not a:
            if not self.reads_first(tb):
                views.apart(a, tb)
        before: Value = a
        if ra or rb:
            if ((ra and self.reads_a & A) or (rb and self.reads_b & A)):
                before = create.clone(a)
        if rb and tb is not None and tb.origin is not None:
            edge(tb)                            # a view whose history is invalid says so before anything is written
        done = False
        if (tb is not None or type(b) is float or type(b) is int) and (
                not (ra or rb) or (
                    (modes.usual or active_hooks() is None)             # which see b as it was
                    and not (tb is not None and tb.inference))):        # which link() may refuse
            done = self.quick_(a.array, tb.array if tb is not None else b)
        y: Array = None
        if not done:
            if tb is not None and tb is not a and (a.array.base is not None or tb.array.base is not None):
                if not self.reads_first(tb):
                    views.apart(a, tb)          # .data shares memory, but no version
            token = hush()
            try:
                y = self.compute(a, b, a, tb)
            except promote.Foreign:
                return NotImplemented
            except RuntimeError:
                if views.repeats(a.array):
                    views.check_repeated(self)
                raise
            finally:
                unhush(token)
        if ra or rb:
            self.link(before, b, a if ra else None, tb if rb else None)
        if done:
            bump(a)
        else:
            views.store(a, y, self.casts, self)
        if ra or rb:
            views.rebase(a, self)
            if self.keep & Y:
                self.hold(a)
        if modes.observer is not None:
            modes.observer.op(self, (a, b), a)
        return a

    def check_link(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> None:
        """Of two errors PyTorch gives the one about what the node would keep."""
        ra = ta is not None and recording(ta)
        rb = tb is not None and recording(tb)
        if ra or rb:
            self.link(a, b, ta if ra else None, tb if rb else None)

    def reads_first(self, b: TensorBase) -> bool:
        """In place: is b read before anything is written?"""
        return False

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        """Promote as PyTorch does, then forward."""
        xa: Array = ta.array if ta is not None else a
        xb: Array = tb.array if tb is not None else b
        if tb is None and type(b) is not float and type(b) is not int:
            xb = promote.beside(b, xa, self.kind)
        elif ta is None and type(a) is not float and type(a) is not int:
            xa = promote.beside(a, xb, self.kind)
        if ta is not None and tb is not None and xa.dtype is xb.dtype and self.kind == promote.SAME:
            if xa.shape != xb.shape or modes.coarse:
                self.note_shapes(ta, tb)
        elif tb is not None or type(b) is not float or xa.dtype.kind != "f":
            self.note_shapes(ta, tb)
            xa, xb = promote.operands(xa, xb, self.kind)
        try:
            return self.forward(xa, xb)
        except ValueError as error:
            failed = error
        promote.check_broadcast(xa, xb)
        raise failed

    def reads_field(self, field: Any) -> bool:
        reads = self.reads_a | self.reads_b
        return reads & (A if field == "a" else B if field == "b" else Y) != 0

    def note_shapes(self, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> None:
        """The operands differ, or may: fit() will have to look."""
        xa: Array = None if ta is None else ta.array
        xb: Array = None if tb is None else tb.array
        self.unlike = (
            None if xa is None else xa.shape, None if xa is None else xa.dtype,
            None if xb is None else xb.shape, None if xb is None else xb.dtype)

    def link(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> None:
        """Edges towards the operands that want a gradient (ta, tb), and what their rules read of a and b."""
        if self._watched is not None:
            pack_watched(self)
        reads: u8 = 0
        if ta is not None:
            reads = self.reads_a
            self.a_next = edge(ta)
            self.a_nr = ta.nr
        if tb is not None:
            reads |= self.reads_b
            self.b_next = edge(tb)
            self.b_nr = tb.nr
        self.keep = reads
        if reads & B:                           # before a: pack hooks see them in PyTorch's order
            if isinstance(b, TensorBase):
                self.b = keep(b)
                self.b_edits = 0 if b.version is None else b.version.edits
            else:
                self.b = b
        if reads & A:
            if isinstance(a, TensorBase):
                self.a = keep(a)
                self.a_edits = 0 if a.version is None else a.version.edits
            else:
                self.a = a

    def hold(self, out: TensorBase) -> None:
        self.y = keep_output(out, self)
        self.y_version = shared_version(out)
        self.y_edits = self.y_version.edits

    def rules(self, g: Value, graph: bool, want_a: bool, want_b: bool) -> tuple[Value, Value]:
        a: Value = None
        b: Value = None
        y: Value = None
        if self.freed:
            raise freed()
        if self._watched is not None:
            check_watched(self)
        kept = self.keep
        if kept != 0:
            if kept & B:
                b = use(self.b, self.b_edits, self, graph)
            if kept & A:
                a = use(self.a, self.a_edits, self, graph)
            if kept & Y:
                y = use_output(self.y, self.y_version, self.y_edits, self, 0, graph)
        unlike = self.unlike
        ga: Value = None
        gb: Value = None
        turn = modes.imaginary and self.conjugates and is_complex(g)
        if turn:
            g = complexes.conj(g)
        if want_a:
            ga = self.grad_a(g, a, b, y)
            if turn:
                ga = complexes.conj(ga)
            if unlike is not None:
                ga = fit(ga, unlike[0], unlike[1])
        if want_b:
            gb = self.grad_b(g, a, b, y)
            if turn:
                gb = complexes.conj(gb)
            if unlike is not None:
                gb = fit(gb, unlike[2], unlike[3])
        return ga, gb

    def push(self, task: Task, g: Value, more: Optional[list[Value]], shared: bool) -> None:
        to_a = self.a_next
        to_b = self.b_next
        ga: Value = None
        gb: Value = None
        if g is not None:
            ga, gb = self.rules(g, task.graph, task.wants(to_a), task.wants(to_b))
            if self._hooks is not None:
                ga, gb = self.late(task, [ga, gb])
        if to_a is not None:
            task.deliver(to_a, self.a_nr, ga, ga is g)
        if to_b is not None:
            task.deliver(to_b, self.b_nr, gb, gb is g)

    def backward(self, gs: list[Value], graph: bool) -> list[Value]:
        g = gs[0]
        if g is None:
            return [None, None]
        ga, gb = self.rules(g, graph, self.a_next is not None, self.b_next is not None)
        return [ga, gb]

    def visit(self, task: Task) -> None:
        to = self.a_next
        if to is not None:
            task.see(to)
        to = self.b_next
        if to is not None:
            task.see(to)

    def edge_count(self) -> int:
        return 2

    def edge_node(self, i: int) -> Optional[Node]:
        return self.a_next if i == 0 else self.b_next

    def edge_nr(self, i: int) -> int:
        return self.a_nr if i == 0 else self.b_nr

    def release(self) -> None:
        if self.keep != 0 or self.holds:
            self.a = None
            self.b = None
            self.y = None
            self.freed = True
            self._watched = None
            self.drop()

    def drop(self) -> None:
        """Let go of the arrays an op with `holds` keeps in fields of its own."""


def foreign(a: TensorBase, b: Value) -> bool:
    """Is b no operand at all?"""
    try:
        promote.operands(a.array, b, promote.SAME)
    except promote.Foreign:
        return True
    return False


class Written(Binary):
    """b, of any dtype, written into a: each gradient takes the shape and dtype of its own."""

    conjugates = False

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        xa: Array = ta.array if ta is not None else a
        xb: Array = tb.array if tb is not None else b
        self.unlike = (xa.shape, xa.dtype, None if tb is None else xb.shape, None if tb is None else xb.dtype)
        return self.forward(xa, xb)


class Product(Binary):
    """Two operands of one dtype whose shapes the op itself understands (matrix products and the like)."""

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        xa: Array = ta.array if ta is not None else a
        xb: Array = tb.array if tb is not None else b
        if (ta is None or tb is None) and xa.dtype is not xb.dtype:
            self.note_shapes(ta, tb)
            dtype: Any = promote.joint(xa, xb)
            xa = xa.astype(dtype)
            xb = xb.astype(dtype)
        if xa.dtype is not xb.dtype:
            self.refuse(xa, xb)
        try:
            return self.forward(xa, xb)
        except ValueError as error:
            failed = error
        self.refuse(xa, xb)                     # outside the handler: NumPy's words are not for the user
        raise failed

    def refuse(self, a: Array, b: Array) -> None:
        """Raise PyTorch's error for operands that do not go together."""


from .._rules import cast, complexes, create, shape  # noqa: E402  fit() is itself made of ops
from . import anomaly, views  # noqa: E402  in-place runs rebase views; views are ops
