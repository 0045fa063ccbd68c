"""What leads where in a recording: tensors through ops, nodes through edges."""
from __future__ import annotations

from typing import Any

from .recording import GRAD, INPLACE, POSITION, WANTS, Recording

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
        self.size = len(rec.rows)
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
        self.on_tensor: dict[int, list[int]] = {}       # tensor -> firings of its hooks
        self.on_node: dict[int, list[int]] = {}         # node -> firings of its hooks
        self.above: dict[int, list[int]] = {}           # node -> nodes that feed it, once per edge
        self.grads: dict[int, set[int]] = {}            # tensor -> tensors that were its .grad
        self.edges: dict[int, dict[int, list[Any]]] = {}        # pass -> edges that brought gradients (ways.py)
        self.paths: dict[int, dict[int, Any]] = {}      # pass -> node -> the way to the loss (ledger.py)
        self.meets: dict[int, dict[int, Any]] = {}      # pass -> node -> the edges into where ways to it meet (ways.py)
        self.found: dict[tuple[str, tuple[int, ...]], set[int]] = {}    # what was asked last: nodes_before, tensors_before
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
            elif kind == "accumulate":
                self.arrived.setdefault(row[POSITION["accumulate"]["tensor"]], []).append(i)
            elif kind == "begin":
                e = rec.events[i]
                self.passes[e.get("pass")] = {"begin": e, "error": None, "ended": False}
            elif kind == "end":
                e = rec.events[i]
                if e.get("pass") in self.passes:
                    self.passes[e.get("pass")].update(
                        error=f"{e.error}, since {e.cause}" if e.get("cause") else e.error, ended=True)
        for n, (_, _, _, edges, tensor) in enumerate(rec.node_rows):
            if tensor >= 0:
                self.leaves.setdefault(tensor, []).append(n)
            for edge in edges:
                if edge is not None:
                    self.above.setdefault(edge[0], []).append(n)
        for t, known in rec.tensor_names.items():
            if known["role"] == "grad" and isinstance(known.get("of"), int):
                self.grads.setdefault(known["of"], set()).add(t)
        for part in rec.parts:
            self.parts.setdefault(part[:3], {})[part[3:5]] = part[5]
        self.find_reads()
        self.named: set[int] = set()                    # parameters, buffers and .grad
        self.aside: set[int] = set()                    # ops on nothing but parameters, buffers and .grad: updates, norms
        self.find_aside()

    def find_aside(self) -> None:
        base = set(self.rec.tensor_names)
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
        return self.remembered("nodes", tuple(roots), self._nodes_before)

    def remembered(self, what: str, key: tuple[int, ...], find: Any) -> set[int]:
        """find(key), kept for the next who asks; few, since each may be as large as the recording."""
        if (what, key) not in self.found:
            if len(self.found) > 16:
                self.found.clear()
            self.found[what, key] = find(key)
        return self.found[what, key]

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

    def tensors_after(self, tensor: int) -> dict[int, int]:
        """Tensors computed from `tensor`, through cuts too -> the op by which each was reached first."""
        seen = {tensor: -1}
        todo = [tensor]
        while todo:
            t = todo.pop(0)
            for i in self.reads.get(t, ()):
                for o in self.goes_on(i):
                    if o not in seen:
                        seen[o] = i
                        todo.append(o)
        return seen

    def tensors_before(self, tensors: Any) -> set[int]:
        """Tensors that these were computed from, through cuts too, and themselves."""
        return self.remembered("tensors", tuple(tensors), self._tensors_before)

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
        return {n for n, row in enumerate(self.rec.node_rows) if row[1] == made_by}


def links(rec: Recording) -> Links:
    """The links of a recording, made anew when it has grown."""
    found: Links | None = rec._links
    if found is None or found.size != len(rec.rows):
        found = rec._links = Links(rec)
    return found
