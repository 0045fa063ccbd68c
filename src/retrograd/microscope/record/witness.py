"""The observer of a recording: what the engine tells of ops and nodes becomes events (NOTE [Observer] in modes.py).

`tap` (tap_retrograd.py) is asked for what happens seldom.
"""
from __future__ import annotations

import sys
from typing import Any, Final
from weakref import ref

from ..._engine.modes import grad_on, inference_on
from ..._engine.node import Node
from ..._engine.tensor import AccumulateGrad, TensorBase, edits, wants_grad
from .book import (
    BLANK,
    MARK,
    Thread,
    add,
    add_value,
    measure,
    name_of,
    new_like,
    now,
    reserve,
    row_of,
    thread_of,
    value,
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


class Witness:
    """Hears what the engine does."""

    def __init__(self, journal: Journal, tap: Any, serial: int, ops: bool, nodes: bool) -> None:
        self.journal: Journal = journal
        self.tap: Any = tap
        self.serial: int = serial                       # marks nodes as ours; ids of dead recorders come again
        self.ops: bool = ops
        self.nodes: bool = nodes
        self.kinds: dict[Any, Any] = {}                 # functions heard -> what is done at their calls, or None

    # -- calls of functions: NOTE [Listener] in dispatch.py

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
        if thread.extra:
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

    # -- nodes

    def adopt(self, fn: Node, op: int) -> int:
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
            if isinstance(to, AccumulateGrad):
                j.keep(self.tap, n, g)
            else:
                self.tap.handed(number, n, g)
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
            where = thread.passes[-1] if thread.passes else -1
            row: Any = j.rec.node_rows[running.number]
            if isinstance(node, AccumulateGrad):
                after = accumulated(self, node, running, row[4])
                j.rows[running.slot] = ("accumulate", running.began - j.start, took, thread.number, where, running.number,
                                        row[4], running.inputs[0], running.had, after)
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
            j.rows[running.slot] = ("node", running.began - j.start, took, thread.number, where, running.number,
                                    tuple(running.inputs), tuple(outputs))
        finally:
            thread.busy -= 1
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
    j = w.journal
    tap = w.tap
    thread.busy += 1
    try:
        if j.pending:
            sweep_pending(j)
        flags = GRAD if grad_on() else 0
        if inference_on():
            flags |= INFERENCE
        inputs: list[int] = []
        for t in tensors:
            inputs.append(number_of(j, tap, t))
            if wants_grad(t):
                flags |= WANTED
        if inner:
            inputs.extend(inner)
        line = here(j.sites, frame)
        owners = j.owners
        for n in inputs:
            if n in owners:
                j.used_outside(thread, n, line, frame)
        module = -1
        call = 0
        if thread.modules:
            innermost = thread.modules[-1]
            module = innermost[0]
            call = innermost[1]
        slot = reserve(j, "op")
        if slot < 0:
            return
        if not tensors:
            flags |= CREATED
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
                if name != "requires_grad_" and name != "detach_":
                    flags |= INPLACE
            if n < 0 or (flags & INPLACE and n not in named):
                n = new_tensor(j, tap, t, slot, n, True)
            outputs.append(n)
            if wants_grad(t):
                flags |= WANTS
                fn: Any = t.grad_fn
                if fn is not None:
                    rec.tensor_edges[n] = (adopt(w, fn, slot), int(t.output_nr))
            v = value_out(w, t, tensors, name)
            values.append(v)
            if j.values is not None and n in named and named[n]["role"] == "grad":
                j.keep(tap, v, t)
        if j.norms:
            blame(j, tap, tensors, values)
        ended: int = now()
        j.rows[slot] = ("op", began - j.start, ended - began, thread.number, name, module, call, line, tuple(inputs),
                        tuple(outputs), tuple(values), flags, None)
    finally:
        thread.busy -= 1
        thread.last = now()


def number_of(j: Journal, tap: Any, t: Any) -> int:
    known = j._ids.get(id(t))
    if known is not None and known[0]() is t:
        return int(known[1])
    return new_tensor(j, tap, t, -1, -1, True)


def value_out(w: Witness, t: Any, tensors: list[Any], name: str) -> int:
    """The value of what an op made; the same numbers as its input's, where the op only looks at it otherwise."""
    j = w.journal
    if not isinstance(t, TensorBase):
        return value(j, w.tap, t)
    key = id(t)
    edition = edits(t)
    known = j._seen.get(key)
    if known is not None and known[1] == edition and known[0]() is t:
        return int(known[2])
    if j.norms and tensors and name in SAME:
        first: TensorBase = tensors[0]
        known = j._seen.get(id(first))
        if known is not None and known[0]() is first and known[1] == edits(first) and first.array.size == t.array.size:
            return seen(j, w.tap, t, key, edition, t.array, row_of(j, known[2]))
    return seen(j, w.tap, t, key, edition, t.array, measure(w.tap, t.array) if j.norms else BLANK)


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
        return int(known[2])
    if not j.norms:
        row: Any = BLANK
    elif same >= 0 and j.rec.stats[7 * same] == g.size:
        row = row_of(j, same)
    else:
        row = measure(w.tap, g)
    return seen(j, w.tap, g, key, -2, g, row)


def seen(j: Journal, tap: Any, g: Any, key: int, edition: int, x: Any, row: Any) -> int:
    """A new value, of an array or tensor that is known by `key`; its numbers are those of the array x."""
    place: Any = (x.shape, x.dtype)
    number = j._likes.get(place, -1)
    if number < 0:
        number = new_like(j, place, x.shape, tap.dtype_of(x.dtype), "cpu")
    n = add_value(j, number, row)
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


def adopt(w: Witness, fn: Node, op: int) -> int:
    facts: Any = fn._facts
    if facts is not None:
        known: Any = facts.get(MARK)
        if known is not None and known[0] == w.serial:
            return int(known[1])
    rec = w.journal.rec
    rows: list[Any] = rec.node_rows
    first = new_node(w, fn, rows)
    todo: list[tuple[Node, int]] = [(fn, first)]
    while todo:
        node, number = todo.pop()
        edges: list[Any] = []
        for i in range(node.edge_count()):
            nxt = node.edge_node(i)
            if nxt is None:
                edges.append(None)
                continue
            known = None if nxt._facts is None else nxt._facts.get(MARK)
            if known is not None and known[0] == w.serial:
                to: int = known[1]
            else:
                to = new_node(w, nxt, rows)
                todo.append((nxt, to))
            edges.append((to, node.edge_nr(i)))
        if isinstance(node, AccumulateGrad):
            rows[number] = ("AccumulateGrad", -1, -1, tuple(edges), number_of(w.journal, w.tap, node.variable))
            continue
        seq = node._sequence_nr()
        rows[number] = (node.name(), op, seq if seq < 1 << 63 else -1, tuple(edges), -1)
    return first


def new_node(w: Witness, node: Node, rows: list[Any]) -> int:
    n = add(w.journal, rows, UNKNOWN)
    if node._facts is None:
        node._facts = {}
    node._facts[MARK] = (w.serial, n)
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


def accumulated(w: Witness, node: AccumulateGrad, running: Running, tensor: int) -> int:
    """The value of .grad after a node has added to it."""
    grad = node.grad
    if grad is None:
        return -1
    j = w.journal
    got = running.inputs[0]
    if running.had < 0 and not node.after and got >= 0 and id(grad) not in j._seen \
            and j.rec.value_likes[got] == j.like(w.tap, grad):
        after = got                                     # taken over or copied as it came
        j._seen[id(grad)] = (ref(grad), edits(grad), after)
    else:
        after = value(j, w.tap, grad)
    known = j._ids.get(id(grad))
    if known is None or known[0]() is not grad:
        w.tap.name_grad(grad, tensor)
    if j.values == "parameters":
        j.keep(w.tap, after, grad)
    return after
