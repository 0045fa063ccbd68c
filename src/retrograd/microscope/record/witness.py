"""The witness of a recording: what an engine tells of ops and nodes becomes events, once for both engines.

Ours tells its observer (NOTE [Observer] in modes.py); PyTorch's function mode and hooks on nodes call run(), ran(), accumulates()
and accumulated().  `tap` (tap_common.py) is asked for what happens seldom.
"""
from __future__ import annotations

import sys
from typing import Any, Final
from weakref import ref

from ..._engine.modes import grad_on, inference_on
from ..._engine.node import Node
from ..._engine.tensor import AccumulateGrad, TensorBase, wants_grad
from .book import (
    BLANK,
    MARK,
    Thread,
    add,
    add_value,
    like,
    like_of,
    measure,
    name_of,
    new_value,
    now,
    reserve,
    row_of,
    thread_of,
    value,
    version,
)
from .fired import sweep, sweep_pending
from .journal import Journal, new_tensor
from .lines import here

GRAD: Final = 1                     # flags of an op
INFERENCE: Final = 2
INPLACE: Final = 4
WANTED: Final = 8
WANTS: Final = 16
BACKWARD: Final = 32
CREATED: Final = 64
# Ops and nodes whose result holds the same numbers, by their names on either engine.
SAME: Final = {"view", "unsafe_view", "reshape_alias", "t", "transpose", "permute", "unsqueeze", "squeeze", "alias", "clone",
               "detach", "reshape", "flatten", "contiguous", "view_as", "reshape_as", "T", "mT", "data", "movedim", "swapaxes",
               "unflatten", "requires_grad_", "to"}
SAME_NODES: Final = {
    "ViewBackward0", "UnsafeViewBackward0", "ReshapeAliasBackward0", "TBackward0", "TransposeBackward0",
    "PermuteBackward0", "UnsqueezeBackward0", "SqueezeBackward0", "SqueezeBackward1", "AliasBackward0", "CloneBackward0"}
names: Final[dict[str, str]] = {}   # of ops, by their nodes'
UNTOLD: Final = -2                  # the version of what an op may have edited, where that was not asked before
UNEDITED: Final = ("requires_grad_", "detach_")         # ops named like edits that change no number
LISTS: Final = ("_foreach_", "_amp_foreach_")           # ops on lists of tensors, whose edits are not all counted
NEW: Final[Any] = object()
NO_NAMES: Final[dict[str, Any]] = {}


class Running:
    """A node that runs."""

    def __init__(self, number: int, inputs: list[int], slot: int, had: int, same: bool) -> None:
        self.number: int = number
        self.inputs: list[int] = inputs                 # values
        self.handed: list[Any] = []                     # (node, output number, value) of each gradient it hands on
        self.slot: int = slot
        self.began: int = now()
        self.had: int = had                             # value of .grad before
        self.same: bool = same                          # does it hand on the numbers it got?


class Op:
    """An op, as far as it is known when it begins."""

    def __init__(self, slot: int, name: str, tensors: list[Any], inputs: list[int], flags: int, began: int) -> None:
        self.slot: int = slot
        self.name: str = name
        self.tensors: list[Any] = tensors
        self.inputs: list[int] = inputs                 # their numbers, and those of what is read besides
        self.flags: int = flags
        self.began: int = began
        self.line: int = -1
        self.module: int = -1
        self.call: int = 0
        self.edition: int = UNTOLD                      # the version of the first of the tensors


class Witness:
    """Hears what the engine does."""

    def __init__(self, journal: Journal, tap: Any, serial: int, ops: bool, nodes: bool) -> None:
        self.journal: Journal = journal
        self.tap: Any = tap
        self.serial: int = serial                       # marks nodes as ours; ids of dead recorders come again
        self.ops: bool = ops
        self.nodes: bool = nodes
        self.kinds: dict[Any, Any] = {}                 # functions heard -> what is done at their calls, or None

    # -- calls of functions: microscope/listen

    def call(self, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        kind: Any = self.kinds.get(func, NEW)
        if kind is NEW:
            kind = self.kinds[func] = self.tap.kind_of(func)
        if kind is None or not self.journal.on:
            return impl(*args) if kwargs is None else impl(*args, **kwargs)
        return kind(impl, args, NO_NAMES if kwargs is None else kwargs)

    # -- ops

    def op(self, node: Any, inputs: Any, out: Any) -> None:
        j = self.journal
        if not j.on or not self.ops:
            return
        thread = thread_of(j)
        if thread.busy or thread.passes or thread.stepping:
            return
        if j.full:
            reserve(j, "op")
            return
        tensors: list[Any] = [t for t in inputs if isinstance(t, TensorBase)]
        if thread.extra and (thread.viewing or getattr(node, "holds", True)):
            for t in thread.extra:
                if not among(t, tensors):
                    tensors.append(t)
        outs: list[Any] = [o for o in out if isinstance(o, TensorBase)] if isinstance(out, list) else [out]
        kind: str = type(node).__name__
        name = names.get(kind)
        if name is None:
            name = op_name(kind)
        event(self, thread, name, tensors, outs, thread.last, sys._getframe(), None)

    def event(self, name: str, tensors: list[Any], outs: list[Any], began: int, frame: Any, inner: Any = None) -> None:
        """inner: numbers of tensors that it reads besides"""
        event(self, thread_of(self.journal), name, tensors, outs, began, frame, inner)

    def run(self, name: str, func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """func(*args, **kwargs), which is PyTorch's."""
        j = self.journal
        thread = thread_of(j)
        if thread.busy or thread.passes or thread.stepping:
            return func(*args, **kwargs)
        if j.full:
            reserve(j, "op")
            return func(*args, **kwargs)
        tap = self.tap
        kind: Any = tap.Tensor
        tensors = tensors_in(kind, name, args, kwargs)
        if tensors and type(tensors[0]) in tap.shapeless:       # the first call of a lazy module
            return func(*args, **kwargs)
        thread.busy += 1
        try:
            flags = GRAD if tap.grad_enabled() else 0
            if tap.inference_enabled():
                flags |= INFERENCE
            op = opened(self, thread, name, tensors, sys._getframe(), None, flags, 0)
            op.edition = version(tensors[0]) if tensors else UNTOLD
        finally:
            thread.busy -= 1
        began: int = now()
        op.began = began
        try:
            out: Any = func(*args, **kwargs)
        except BaseException as error:
            put_op(j, thread, op, now() - began, (), (), f"{type(error).__name__}: {error}"[:400])
            raise
        took: int = now() - began
        thread.busy += 1
        try:
            outs: list[Any] = []
            if isinstance(out, kind):
                outs.append(out)
            elif isinstance(out, (tuple, list)):
                outs = [o for o in out if isinstance(o, kind)]
            elif out is None and name.startswith(LISTS) and args and isinstance(args[0], (list, tuple)):
                outs = [t for t in args[0] if isinstance(t, kind)]
                for t in outs:
                    j._seen.pop(id(t), None)
            if name == "__setitem__" or name == "requires_grad_":
                outs = tensors[:1]
            if outs or (name in tap.reads and op.inputs):
                closed(self, thread, op, outs, took)
            else:
                no_event(j, op.slot)
            return out
        finally:
            thread.busy -= 1
            thread.last = now()

    # -- nodes

    def adopt(self, fn: Any, op: int) -> int:
        """Number a node and all before it that are new: event `op` made them."""
        return adopt(self, fn, op)

    def begin(self, task: Any, node: Node, g: Any, more: Any) -> None:
        """The engine is about to run a node."""
        j = self.journal
        if not j.on:
            return
        thread = thread_of(j)
        thread.busy += 1
        try:
            if j.pending:
                sweep_pending(j)
            n = adopt(self, node, -1)
            sweep_node(self, node, n)
            inputs = [value_of(self, g, -1)]
            if more is not None:
                for v in more:
                    inputs.append(value_of(self, v, -1))
            while len(inputs) < node._outputs:
                inputs.append(-1)
            had = -1
            kind = "node"
            if isinstance(node, AccumulateGrad):
                kind = "accumulate"
                if node.grad is not None:
                    had = value(j, self.tap, node.grad)
                if j.values == "parameters":
                    if node.grad is not None:
                        j.keep(self.tap, had, node.grad)
                    if g is not None:
                        j.keep(self.tap, inputs[0], g)
            slot = reserve(j, kind) if self.nodes else -1
            same = len(inputs) == 1 and type(node).__name__ in SAME_NODES
            thread.open.append(Running(n, inputs, slot, had, same))
        finally:
            thread.busy -= 1

    def edge(self, task: Any, to: Node, nr: int, g: Any) -> None:
        """The node that runs hands on a gradient."""
        j = self.journal
        if not j.on:
            return
        thread = thread_of(j)
        if not thread.open:
            return
        running: Running = thread.open[-1]
        thread.busy += 1
        n = value_of(self, g, running.inputs[0] if running.same else -1)
        number = adopt(self, to, -1)
        if j.values == "parameters":
            kept(self, number, n, g)
        thread.busy -= 1
        running.handed.append((number, nr, n))

    def end(self, task: Any, node: Node) -> None:
        j = self.journal
        if not j.on:
            return
        thread = thread_of(j)
        if not thread.open:
            return
        running: Running = thread.open.pop()
        if running.slot < 0:
            return
        took: int = now() - running.began
        thread.busy += 1
        try:
            row: Any = j.rec.node_rows[running.number]
            if isinstance(node, AccumulateGrad):
                alike = node.grad is not None and not node.after and running.inputs[0] >= 0 \
                    and j.rec.value_likes[running.inputs[0]] == like(j, node.grad)
                put_accumulate(j, thread, running.slot, running, took, row[4],
                               grad_after(self, node.grad, running, row[4], alike))
                return
            edges: Any = row[3]
            outputs = [-1] * len(edges)
            at = 0
            for to, nr, n in running.handed:
                for i in range(at, len(edges)):
                    known = edges[i]
                    if known is not None and known[0] == to and known[1] == nr:
                        outputs[i] = n
                        at = i + 1
                        break
            put_node(j, thread, running.slot, running.began, took, running.number, tuple(running.inputs), tuple(outputs))
        finally:
            thread.busy -= 1
            thread.last = now()

    def ran(self, number: int, same: bool, gi: tuple[Any, ...], go: tuple[Any, ...]) -> None:
        """A node of PyTorch's ran.  same: does it hand on the numbers it got?"""
        j = self.journal
        if not j.on:
            return
        thread = thread_of(j)
        slot = reserve(j, "node")
        if slot < 0:
            return
        tap = self.tap
        began = thread.last
        took: int = now() - began
        thread.busy += 1
        inputs = [value(j, tap, g) for g in go]
        if same and len(gi) == 1 and len(go) == 1 and gi[0] is not None and go[0] is not None and j.norms \
                and tap.same_memory(gi[0], go[0]):
            outputs = [copied(j, tap, gi[0], inputs[0])]
        else:
            outputs = [value(j, tap, g) for g in gi]
        if j.values == "parameters":
            rows: list[Any] = j.rec.node_rows
            for n, g, edge in zip(outputs, gi, rows[number][3]):
                if edge is not None and g is not None:
                    kept(self, edge[0], n, g)
        thread.busy -= 1
        tap.met_before(number)
        put_node(j, thread, slot, began, took, number, tuple(inputs), tuple(outputs))
        if j.pending:
            sweep_pending(j)
        thread.last = now()

    def accumulates(self, number: int, leaf: Any, go: tuple[Any, ...]) -> None:
        """PyTorch is about to add to a leaf's .grad."""
        j = self.journal
        p: Any = leaf()
        if not j.on or p is None:
            return
        thread = thread_of(j)
        thread.busy += 1
        g: Any = go[0] if go else None
        had = value(j, self.tap, p.grad)
        got = value(j, self.tap, g)
        if j.values == "parameters":
            if p.grad is not None:
                j.keep(self.tap, had, p.grad)
            if g is not None:
                j.keep(self.tap, got, g)
        thread.busy -= 1
        thread.open.append(Running(number, [got], -1, had, False))

    def accumulated(self, number: int, tensor: int, leaf: Any, gi: tuple[Any, ...], go: tuple[Any, ...]) -> None:
        """It has."""
        j = self.journal
        thread = thread_of(j)
        running: Running = thread.open.pop() if thread.open else Running(number, [-1], -1, -1, False)
        p: Any = leaf()
        if not j.on or p is None:
            return
        slot = reserve(j, "accumulate")
        if slot < 0:
            return
        took: int = now() - running.began
        thread.busy += 1
        grad: Any = p.grad
        g: Any = go[0] if go else None
        after = grad_after(self, grad, running, tensor, j.norms and grad is not None and g is not None
                           and bool(self.tap.same_memory(grad, g)))
        thread.busy -= 1
        self.tap.met_before(number)
        put_accumulate(j, thread, slot, running, took, tensor, after)
        thread.last = now()

    def replaced(self, thread: Thread, kind: str, after: tuple[int, ...]) -> None:
        """A hook of the node that runs replaced what the node gets."""
        if thread.open:
            running: Running = thread.open[-1]
            if kind == "node_pre":
                running.inputs[:len(after)] = list(after)
            elif len(running.inputs) == 1 and after:
                running.inputs[0] = after[0]


def among(t: Any, tensors: list[Any]) -> bool:
    for known in tensors:
        if t is known:
            return True
    return False


def op_name(node: str) -> str:
    """'MulBackward0' -> 'mul', 'LogSoftmaxBackward0' -> 'log_softmax'"""
    found = names.get(node)
    if found is None:
        base = node.rstrip("0123456789").removesuffix("Backward")
        found = "".join([f"_{c.lower()}" if c.isupper() and i and not base[i - 1].isupper() else c.lower()
                         for i, c in enumerate(base)])
        names[node] = found
    return found


def event(w: Witness, thread: Thread, name: str, tensors: list[Any], outs: list[Any], began: int, frame: Any,
          inner: Any) -> None:
    """Something was computed from `tensors`; inner: numbers of tensors that it reads besides."""
    thread.busy += 1
    try:
        flags = GRAD if grad_on() else 0
        if inference_on():
            flags |= INFERENCE
        op = opened(w, thread, name, tensors, frame, inner, flags, began)
        closed(w, thread, op, outs, -1)
    finally:
        thread.busy -= 1
        thread.last = now()


def opened(w: Witness, thread: Thread, name: str, tensors: list[Any], frame: Any, inner: Any, flags: int, began: int) -> Op:
    """An op begins."""
    j = w.journal
    tap = w.tap
    if j.pending:
        sweep_pending(j)
    inputs: list[int] = []
    for t in tensors:
        inputs.append(number_of(j, tap, t))
        if isinstance(t, TensorBase):
            if wants_grad(t):
                flags |= WANTED
        elif t.requires_grad:
            flags |= WANTED
            fn: Any = t.grad_fn
            if fn is not None:
                adopt(w, fn, -1)
    if inner:
        inputs.extend(inner)
    line = here(j.sites, frame)
    owners = j.owners
    for n in inputs:
        if n in owners:
            j.used_outside(thread, n, line, frame)
    if not tensors:
        flags |= CREATED
    op = Op(reserve(j, "op"), name, tensors, inputs, flags, began)
    op.line = line
    if thread.modules:
        innermost = thread.modules[-1]
        op.module = innermost[0]
        op.call = innermost[1]
    return op


def closed(w: Witness, thread: Thread, op: Op, outs: list[Any], took: int) -> None:
    """It made `outs`.  took: -1 when it ends here"""
    if op.slot < 0:
        return
    j = w.journal
    tap = w.tap
    tensors = op.tensors
    outputs: list[int] = []
    values: list[int] = []
    rec = j.rec
    named: dict[int, Any] = rec.tensor_names
    for t in outs:
        n = -1
        if among(t, tensors):
            known = j._ids.get(id(t))
            if known is not None and known[0]() is t:
                n = known[1]
            if op.name not in UNEDITED if op.edition == UNTOLD else t is not tensors[0] or version(t) != op.edition:
                op.flags |= INPLACE
        if n < 0 or (op.flags & INPLACE and n not in named):
            n = new_tensor(j, tap, t, op.slot, n, True)
        outputs.append(n)
        if wants_grad(t) if isinstance(t, TensorBase) else t.requires_grad:
            op.flags |= WANTS
            fn: Any = t.grad_fn
            if fn is not None:
                rec.tensor_edges[n] = (adopt(w, fn, op.slot), int(t.output_nr))
        v = value_out(w, t, tensors, op.name)
        values.append(v)
        if j.values is not None and n in named and named[n]["role"] == "grad":
            j.keep(tap, v, t)
    if j.norms:
        blame(j, tap, tensors, values)
    put_op(j, thread, op, now() - op.began if took < 0 else took, tuple(outputs), tuple(values), None)


def tensors_in(kind: Any, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
    """The tensors that a call is given."""
    found: list[Any] = []
    for a in args:
        if isinstance(a, kind):
            found.append(a)
        elif type(a) is list or type(a) is tuple:
            for b in a:
                if isinstance(b, kind):
                    found.append(b)
    if name == "__getitem__" or name == "__setitem__":
        for b in bounds(args[1]):
            if isinstance(b, kind):
                found.append(b)
    for v in kwargs.values():
        if isinstance(v, kind):
            found.append(v)
    return found


def bounds(index: Any) -> list[Any]:
    """What the slices of an index begin and end with."""
    found: list[Any] = []
    for s in index if isinstance(index, tuple) else (index,):
        if isinstance(s, slice):
            found.extend((s.start, s.stop, s.step))
    return found


def no_event(j: Journal, slot: int) -> None:
    """What was called is no op: give its number back, or leave a hole."""
    if slot < 0:
        return
    with j.lock:
        if slot == len(j.rows) - 1:
            j.rows.pop()
            return
    j.rows[slot] = ("note", now() - j.start, 0, 0, "empty", "", -1)


# The rows of events that engines tell of, as recording.FIELDS has them.

def put_op(j: Journal, thread: Thread, op: Op, took: int, outputs: tuple[int, ...], values: tuple[int, ...], error: Any) -> None:
    if op.slot >= 0:
        j.rows[op.slot] = ("op", op.began - j.start, took, thread.number, op.name, op.module, op.call, op.line,
                           tuple(op.inputs), outputs, values, op.flags, error)


def put_node(j: Journal, thread: Thread, slot: int, began: int, took: int, number: int, inputs: tuple[int, ...],
             outputs: tuple[int, ...]) -> None:
    j.rows[slot] = ("node", began - j.start, took, thread.number, pass_of(j, thread), number, inputs, outputs)


def put_accumulate(j: Journal, thread: Thread, slot: int, running: Running, took: int, tensor: int, after: int) -> None:
    j.rows[slot] = ("accumulate", running.began - j.start, took, thread.number, pass_of(j, thread), running.number, tensor,
                    running.inputs[0], running.had, after)


def pass_of(j: Journal, thread: Thread) -> int:
    """The pass that a node runs in: this thread's, or, on a device's own thread, the innermost of all."""
    if thread.passes:
        return thread.passes[-1]
    return j.open_passes[-1] if j.open_passes else -1


def number_of(j: Journal, tap: Any, t: Any) -> int:
    known = j._ids.get(id(t))
    if known is not None and known[0]() is t:
        return int(known[1])
    return new_tensor(j, tap, t, -1, -1, True)


def value_out(w: Witness, t: Any, tensors: list[Any], name: str) -> int:
    """The value of what an op made; the same numbers as its input's, where the op only looks at it otherwise."""
    j = w.journal
    key = id(t)
    edition = version(t)
    known = j._seen.get(key)
    if known is not None and known[1] == edition and known[0]() is t:
        return known[2]
    if j.norms and tensors and name in SAME:
        first: Any = tensors[0]
        known = j._seen.get(id(first))
        if known is not None and known[0]() is first and known[1] == version(first):
            if isinstance(t, TensorBase):
                if first.array.size == t.array.size:
                    return seen(j, w.tap, t, key, edition, t.array, row_of(j, known[2]))
            elif first.dtype == t.dtype and w.tap.same_memory(first, t):
                return copied(j, w.tap, t, known[2])
    if isinstance(t, TensorBase):
        return seen(j, w.tap, t, key, edition, t.array, measure(t.array) if j.norms else BLANK)
    return value(j, w.tap, t)


def copied(j: Journal, tap: Any, t: Any, n: int) -> int:
    """A new value with the numbers of value n."""
    found = new_value(j, tap, t, tuple(row_of(j, n)))
    j._seen[id(t)] = (ref(t), version(t), found)
    return found


def kept(w: Witness, to: int, n: int, g: Any) -> None:
    """Value n goes to node `to`: keep what reaches a parameter, show others to who tells ways apart."""
    j = w.journal
    if j.rec.node_rows[to][4] >= 0:
        j.keep(w.tap, n, g)
    else:
        w.tap.handed(to, n, g)


def value_of(w: Witness, g: Any, same: int) -> int:
    """The value of a gradient as the engine passes it: an array, or a Tensor under create_graph.

    same   a value that holds the same numbers, if its size is g's
    """
    if g is None:
        return -1
    j = w.journal
    if isinstance(g, TensorBase):
        return value(j, w.tap, g)
    key = id(g)
    known = j._seen.get(key)
    if known is not None and known[1] == -2 and known[0]() is g:
        return known[2]
    if not j.norms:
        row: Any = BLANK
    elif same >= 0 and j.rec.stats[7 * same] == g.size:
        row = row_of(j, same)
    else:
        row = measure(g)
    return seen(j, w.tap, g, key, -2, g, row)


def seen(j: Journal, tap: Any, g: Any, key: int, edition: int, x: Any, row: Any) -> int:
    """A new value, of an array or tensor that is known by `key`; its numbers are those of the array x."""
    n = add_value(j, like_of(j, x), row)
    j._seen[key] = (ref(g), edition, n)
    if j.values == "all":
        j.keep(tap, n, g)
    return n


def blame(j: Journal, tap: Any, tensors: list[Any], values: list[int]) -> None:
    """An op gave NaN or inf: were its inputs finite?  Those that no op made were not measured yet."""
    numbers = j.rec.stats
    for v in values:
        if v >= 0 and (numbers[7 * v + 5] or numbers[7 * v + 6]):
            j.blame(tap, tensors, values)
            return


def adopt(w: Witness, fn: Any, op: int) -> int:
    known = mark_of(w.serial, fn)
    if known >= 0:
        return known
    j = w.journal
    rows: list[Any] = j.rec.node_rows
    first = new_node(w, fn, rows)
    todo: list[tuple[Any, int]] = [(fn, first)]
    while todo:
        node, number = todo.pop()
        edges: list[Any] = []
        for nxt, nr in edges_of(node):
            if nxt is None:
                edges.append(None)
                continue
            to = mark_of(w.serial, nxt)
            if to < 0:
                to = new_node(w, nxt, rows)
                todo.append((nxt, to))
            edges.append((to, nr))
        name: str = node.name()
        if isinstance(node, AccumulateGrad) or name == "torch::autograd::AccumulateGrad":
            name = "AccumulateGrad"
            tensor = number_of(j, w.tap, node.variable)
            rows[number] = (name, -1, -1, tuple(edges), tensor)
        else:
            tensor = -1
            rows[number] = (name, op, seq_of(node), tuple(edges), -1)
        if not isinstance(node, Node):
            w.tap.adopted(node, number, name, tensor)
    return first


def seq_of(node: Any) -> int:
    """Its place in the order in which nodes were made; -1 for one that has none."""
    try:
        n: int = node._sequence_nr()
    except Exception:
        return -1
    return n if n < 1 << 63 else -1


def mark_of(serial: int, node: Any) -> int:
    """The number that the recording with this tap gave a node; -1 when it has none."""
    facts: Any = node._facts if isinstance(node, Node) else node.metadata
    if facts is not None:
        known: Any = facts.get(MARK)
        if known is not None and known[0] == serial:
            return int(known[1])
    return -1


def edges_of(node: Any) -> Any:
    if isinstance(node, Node):
        return [(node.edge_node(i), node.edge_nr(i)) for i in range(node.edge_count())]
    return node.next_functions


def new_node(w: Witness, node: Any, rows: list[Any]) -> int:
    n = add(w.journal, rows, UNKNOWN)
    if isinstance(node, Node):
        if node._facts is None:
            node._facts = {}
        node._facts[MARK] = (w.serial, n)
    else:
        node.metadata[MARK] = (w.serial, n)
    return n


UNKNOWN: Final = ("?", -1, -1, (), -1)


def sweep_node(w: Witness, node: Node, n: int) -> None:
    """Put ourselves around the hooks of a node that is about to run."""
    own = node._hooks
    if own is not None:
        j = w.journal
        row: Any = j.rec.node_rows[n]
        for _, table in own.tensor:
            if table:
                sweep(j, w.tap, table, "tensor", on_tensor(j, row), row[4], ())
        if own.pre:
            sweep(j, w.tap, own.pre, "node_pre", row[0], n, ())
        if own.post:
            sweep(j, w.tap, own.post, "node_post", row[0], n, ())
    if isinstance(node, AccumulateGrad):
        if node.after:
            its: Any = w.journal.rec.node_rows[n]
            sweep(w.journal, w.tap, node.after, "post_accumulate", on_tensor(w.journal, its), its[4], ())
    elif type(node).__name__ == "BackwardHookFunctionBackward":
        w.tap.boundary(node)


def on_tensor(j: Journal, row: Any) -> str:
    tensor: int = row[4]
    return name_of(j, tensor) if tensor >= 0 else f"the output of {row[0]}"


def grad_after(w: Witness, grad: Any, running: Running, tensor: int, alike: bool) -> int:
    """The value of .grad after a node has added to it.  alike: it may be what the node got"""
    if grad is None:
        return -1
    j = w.journal
    got = running.inputs[0]
    if alike and running.had < 0 and got >= 0 and id(grad) not in j._seen:
        after = got                                     # taken over or copied as it came
        j._seen[id(grad)] = (ref(grad), version(grad), after)
    else:
        after = value(j, w.tap, grad)
    known = j._ids.get(id(grad))
    if known is None or known[0]() is not grad:
        w.tap.name_grad(grad, tensor)
    if j.values == "parameters":
        j.keep(w.tap, after, grad)
    return after
