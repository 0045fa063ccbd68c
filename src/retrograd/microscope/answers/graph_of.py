"""What leads where in a recording: tensors through ops, nodes through edges."""
from __future__ import annotations

import gc
from bisect import bisect_right
from collections.abc import Iterable
from functools import cached_property
from itertools import accumulate
from typing import Any

from ..record.recording import POSITION, Event, Recording
from ..record.witness import GRAD, INPLACE, WANTED, WANTS

OP = POSITION["op"]
INPUTS, OUTPUTS, FLAGS_AT = OP["inputs"], OP["outputs"], OP["flags"]

# Ops that give the same numbers, mostly the same memory.
HANDED_ON = {"view", "reshape", "transpose", "t", "T", "mT", "permute", "unsqueeze", "squeeze", "flatten", "detach", "data",
             "requires_grad_", "detach_", "to", "as_subclass", "_make_subclass", "alias", "__getitem__", "select", "slice",
             "narrow", "chunk", "split", "unbind", "expand", "unflatten", "view_as", "contiguous"}


class Links:
    """Built once for a recording."""

    def __init__(self, rec: Recording) -> None:
        self.rec = rec
        self.size = size(rec)
        self.uses: dict[int, list[int]] = {}            # tensor -> ops that got it
        self.reads: dict[int, list[int]] = {}           # tensor -> those that did not just write into its memory
        self.leaves: dict[int, list[int]] = {}          # leaf tensor -> its AccumulateGrad nodes
        self.passes: dict[int, dict[str, Any]] = {}
        self.arrived: dict[int, list[int]] = {}         # tensor -> accumulate events
        self.calls: dict[int, list[int]] = {}           # module -> enter events
        self.stepped: dict[int, list[tuple[int, int]]] = {}     # tensor -> (step of an optimizer, its place in it)
        self.cleared: dict[int, list[int]] = {}         # tensor -> zero events that set its .grad to None
        self.edits: dict[int, list[int]] = {}           # tensor -> in-place ops that made it
        self.runs: dict[int, list[int]] = {}            # node -> events in which it ran
        self.nodes_in: dict[int, list[Any]] = {}        # pass -> rows of the nodes that ran
        self.on_tensor: dict[int, list[int]] = {}       # tensor -> firings of its hooks
        self.on_node: dict[int, list[int]] = {}         # node -> firings of its hooks
        self.above: dict[int, list[int]] = {}           # node -> nodes that feed it, once per edge
        self.grads: dict[int, set[int]] = {}            # tensor -> tensors that were its .grad
        self.edges: dict[int, dict[int, list[Any]]] = {}        # pass -> edges that brought gradients (ways.py)
        self.paths: dict[int, dict[int, Any]] = {}      # pass -> node -> the way to the loss (ledger.py)
        self.meets: dict[int, dict[int, Any]] = {}      # pass -> node -> the edges into where ways to it meet (ways.py)
        self.reached: dict[tuple[int, ...], set[int]] = {}      # roots -> nodes before them
        self.found: dict[tuple[int, ...], set[int]] = {}        # tensors -> those before them, of what was asked last
        self.exits: dict[int, list[int]] = {}           # module -> exit events
        self.notes: dict[str, list[Event]] = {}         # text -> notes
        self.nodes_of: dict[int, list[int]] = {}        # event -> nodes that it made
        self.of_path: dict[str, int] = {}               # path -> module
        self.of_name: dict[str, list[int]] = {}         # name -> tensors that were that parameter
        self.own: dict[int, list[int]] = {}             # module -> its parameters
        self.hooks_of: dict[int, list[dict[str, Any]]] = {}     # number of a tensor, module or node -> hooks on such
        self.taken = {t for o in rec.optimizers for t in o["tensors"]}
        self.made: dict[int, list[int]] | None = None   # tensor -> ops that made it of what they read
        self.got: dict[int, list[int]] = {}             # op -> tensors that it read
        self.ends: dict[tuple[int, ...], Any] = {}      # roots -> where the ways end that do not lead there (ends.py)
        self.parts: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}      # (pass, use, input) -> (node, output) -> value
        for i, row in enumerate(rec.rows):
            kind = row[0]
            if kind == "op":
                for t in row[INPUTS]:
                    self.uses.setdefault(t, []).append(i)
                if row[FLAGS_AT] & INPLACE:
                    for t in row[OUTPUTS]:
                        self.edits.setdefault(t, []).append(i)
            elif kind == "node":
                self.runs.setdefault(row[POSITION["node"]["node"]], []).append(i)
                self.nodes_in.setdefault(row[POSITION["node"]["pass"]], []).append(row)
            elif kind == "hook":
                hook, node = rec.hooks[row[POSITION["hook"]["hook"]]], row[POSITION["hook"]["node"]]
                if hook["kind"] in ("tensor", "post_accumulate"):
                    self.on_tensor.setdefault(hook["owner"], []).append(i)
                elif hook["kind"] in ("node_pre", "node_post"):
                    self.on_node.setdefault(node, []).append(i)
            elif kind == "zero":
                for t in row[POSITION["zero"]["tensors"]] if row[POSITION["zero"]["to_none"]] else ():
                    self.cleared.setdefault(t, []).append(i)
            elif kind == "step":
                for at, t in enumerate(row[POSITION["step"]["tensors"]]):
                    self.stepped.setdefault(t, []).append((i, at))
            elif kind == "enter":
                self.calls.setdefault(row[POSITION["enter"]["module"]], []).append(i)
            elif kind == "exit":
                self.exits.setdefault(row[POSITION["exit"]["module"]], []).append(i)
            elif kind == "note":
                self.notes.setdefault(row[POSITION["note"]["text"]], []).append(rec.events[i])
            elif kind == "accumulate":
                self.arrived.setdefault(row[POSITION["accumulate"]["tensor"]], []).append(i)
            elif kind == "begin":
                e = rec.events[i]
                self.passes[e.get("pass")] = {"begin": e, "error": None, "ended": False}
            elif kind == "end":
                e = rec.events[i]
                if e.get("pass") in self.passes:
                    self.passes[e.get("pass")].update(
                        error=f"{e.error.rstrip('.')}, since {e.cause}" if e.get("cause") else e.error, ended=True)
        for hook in rec.hooks:
            for owner in {hook["owner"], *hook.get("tensors", ())}:
                self.hooks_of.setdefault(owner, []).append(hook)
        for i, module in enumerate(rec.modules):
            self.of_path.setdefault(module["path"], i)
        for n, (_, op, _, edges, tensor) in enumerate(rec.node_rows):
            self.nodes_of.setdefault(op, []).append(n)
            if tensor >= 0:
                self.leaves.setdefault(tensor, []).append(n)
            for edge in edges:
                if edge is not None:
                    self.above.setdefault(edge[0], []).append(n)
        for t, known in rec.tensor_names.items():
            if known["role"] == "parameter":
                self.of_name.setdefault(known["name"], []).append(t)
                self.own.setdefault(self.of_path.get(known["name"].rpartition(".")[0], -1), []).append(t)
            elif known["role"] == "grad" and isinstance(known.get("of"), int):
                self.grads.setdefault(known["of"], set()).add(t)
        for part in rec.parts:
            self.parts.setdefault(part[:3], {})[part[3:5]] = part[5]
        self.find_reads()
        self.named: set[int] = set()                    # parameters, buffers, .grad and what optimizers took
        self.aside: set[int] = set()                    # ops on nothing but these: updates, norms, copies
        self.find_aside()

    def find_aside(self) -> None:
        base = self.taken.union(self.rec.tensor_names)
        todo = list(base)
        while todo:                                     # and what they were before they had their names
            stem = self.rec.tensor_rows[todo.pop()][3]
            if stem >= 0 and stem not in base:
                base.add(stem)
                todo.append(stem)
        self.named, own = base, set(base)
        for i, row in enumerate(self.rec.rows):
            if row[0] == "op" and row[INPUTS] and own.issuperset(row[INPUTS]):
                self.aside.add(i)
                own.update(row[OUTPUTS])

    @cached_property
    def sharded(self) -> list[Event]:
        """Notes that name what fully_shard has changed."""
        return [e for e in self.rec.of("note") if e.what == "sharded"]

    @cached_property
    def checkpoints(self) -> list[tuple[int, int, int]]:
        """The reentrant checkpoints none of whose inputs required grad."""
        return outermost(e for e in self.rec.of("op") if e.name == "CheckpointFunction.apply" and not e.flags & WANTED)

    @cached_property
    def functions(self) -> list[tuple[int, int, int]]:
        """The calls of custom Functions that gave something with a history, or could have."""
        return outermost(e for e in self.rec.of("op") if e.name.endswith(".apply") and (
            e.flags & WANTS or (e.flags & WANTED and e.flags & GRAD and e.name != "CheckpointFunction.apply")))

    def goes_on(self, op: int) -> Any:
        """The outputs of an op by which its inputs take part in what is computed: not those of p.copy_(q)."""
        outputs = self.rec.rows[op][OUTPUTS]
        return outputs if op not in self.aside else [t for t in outputs if t not in self.named]

    def find_reads(self) -> None:
        """Which uses read a tensor: p.data.uniform_(), or p.copy_(q) under no_grad, only writes into p."""
        rec, reads = self.rec, self.reads
        name_at = OP["name"]
        written: set[int] = set()                       # tensors that were written into outside the graph
        for i in range(len(rec.rows) - 1, -1, -1):      # what became of an op's results is known before it
            row = rec.rows[i]
            if row[0] != "op":
                continue
            name, inputs, outputs, flags = row[name_at], row[INPUTS], row[OUTPUTS], row[FLAGS_AT]
            written_here: set[int] = set()
            if name == "requires_grad_":
                written_here.update(inputs)
            elif outputs and not (flags & GRAD and flags & WANTS):
                unread = not any(o in reads and o not in inputs for o in outputs)
                if flags & INPLACE and unread:
                    written_here = {t for t in (*outputs, *(rec.tensor_rows[o][3] for o in outputs))
                                    if inputs.count(t) == 1}
                    written |= written_here
                elif name in HANDED_ON and unread and not written.isdisjoint(outputs):
                    written_here = set(inputs[:1])
                    written |= written_here
            for t in inputs:
                if t not in written_here:
                    reads.setdefault(t, []).append(i)
        for found in reads.values():
            found.reverse()

    def nodes_before(self, roots: Any) -> set[int]:
        """All nodes that gradients from `roots` can reach: asked for every parameter of a pass."""
        key = tuple(roots)
        if key not in self.reached:                     # together about as many as ran
            self.reached[key] = self._nodes_before(key)
        return self.reached[key]

    def _nodes_before(self, roots: tuple[int, ...]) -> set[int]:
        seen = set(roots)
        todo = list(seen)
        rows = self.rec.node_rows
        while todo:
            for e in rows[todo.pop()][3]:
                if e is not None and e[0] not in seen:
                    seen.add(e[0])
                    todo.append(e[0])
        return seen

    def first_after(self, ops: Iterable[int]) -> dict[int, int]:
        """Tensor -> the first of `ops`, as they come, that read it or what was computed from it, through cuts too."""
        if self.made is None:
            self.made, self.got = {}, {}
            for t, found in self.reads.items():
                for i in found:
                    self.got.setdefault(i, []).append(t)
            for i in self.got:
                for o in self.goes_on(i):
                    self.made.setdefault(o, []).append(i)
        first: dict[int, int] = {}
        for op in ops:                                  # whom the search from an earlier one met has its answer
            todo = [op]
            while todo:
                for t in self.got.get(todo.pop(), ()):
                    if t not in first:
                        first[t] = op
                        todo.extend(self.made.get(t, ()))
        return first

    def tensors_before(self, tensors: Any) -> set[int]:
        """Tensors that these were computed from, through cuts too, and themselves."""
        key = tuple(tensors)
        if key not in self.found:
            if len(self.found) > 16:                    # each may be as large as the recording
                self.found.clear()
            self.found[key] = self._tensors_before(key)
        return self.found[key]

    def _tensors_before(self, tensors: tuple[int, ...]) -> set[int]:
        seen = set(tensors)
        todo = list(seen)
        rec = self.rec
        while todo:
            _, made_by, _, stem = rec.tensor_rows[t := todo.pop()]
            copied = made_by in self.aside and t in self.named      # a parameter that was given another's numbers
            before = list(rec.rows[made_by][INPUTS]) if made_by >= 0 and rec.rows[made_by][0] == "op" and not copied else []
            if stem >= 0:
                before.append(stem)
            for t in before:
                if t not in seen:
                    seen.add(t)
                    todo.append(t)
        return seen

    def node_of(self, tensor: int) -> set[int]:
        """The nodes that the op behind a tensor made, or the leaf's."""
        edge = self.rec.tensor_edges.get(tensor)
        if edge is not None:
            return {edge[0]}
        _, made_by, flags, _ = self.rec.tensor_rows[tensor]
        if made_by < 0 or flags & 1 or tensor in self.leaves:   # a leaf may be made inside the recording, too
            return set(self.leaves.get(tensor, ()))
        return set(self.nodes_of.get(made_by, ()))


def outermost(events: Iterable[Event]) -> list[tuple[int, int, int]]:
    """(begin, end, op) of these, without those inside others."""
    found = sorted((e.t, e.t + e.dt, e.number) for e in events)
    ends = [-1, *accumulate((end for _, end, _ in found), max)]
    return [one for one, before in zip(found, ends) if one[1] > before]


def around(spans: list[tuple[int, int, int]], e: Event) -> int | None:
    """Which of these op `e` ran in."""
    end = e.t + e.dt                                    # it may begin where the op before it ended
    at = bisect_right(spans, (end,)) - 1
    return spans[at][2] if at >= 0 and end <= spans[at][1] else None


def size(rec: Recording) -> tuple[int, int, bool]:
    """It changes when a recording grows, and when its end names what got no name before."""
    return len(rec.rows), len(rec.tensor_names), rec.live is not None and rec.live.on


def links(rec: Recording) -> Links:
    """The links of a recording, made anew when it has grown."""
    found: Links | None = rec._links
    if found is None or found.size != size(rec):
        collecting = gc.isenabled()
        gc.disable()                            # of the many lists that it makes, all of which stay
        try:
            found = rec._links = Links(rec)
        finally:
            if collecting:
                gc.enable()
    return found
