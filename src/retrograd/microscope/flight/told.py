"""The steps of a flight as a Recording, which has a page, a file and answers.

A flight notes no edges of the graph: they are those between ops, by what each op read.
"""
from __future__ import annotations

import sys
import time
from math import sqrt
from typing import Any

from ..record.recording import Recording
from ..record.witness import GRAD, SAME, WANTS
from .hearing import OUTSIDE, Hearing
from .step import Step

UNMEASURED = (-1, 0.0, 0.0, 0.0, 0, 0, 0)
FINITE = (0.0, 0.0, 0, 0, 0)
FACTS = {"tensors": 1, "wants": True, "keywords": [], "keywords_want": False, "grad": True, "inference": False, "backward": False}


def told(hearing: Hearing, steps: list[Step], optimizers: list[Any]) -> tuple[Recording, list[tuple[int, int]]]:
    """A recording of these steps; of each of its events, how many steps from the last, and which event of that step it is."""
    teller = Teller(hearing, optimizers)
    return teller.tell(steps), teller.origins


class Teller:
    """Numbers what a recording has in tables."""

    def __init__(self, hearing: Hearing, optimizers: list[Any]) -> None:
        self.hearing = hearing
        self.rec = Recording()
        self.optimizers = optimizers
        self.likes: dict[Any, int] = {}
        self.tensors: dict[int, int] = {}       # serial -> tensor
        self.values: dict[int, int] = {}        # serial -> value
        self.nodes: dict[int, int] = {}         # serial -> node
        self.arrived: dict[int, int] = {}       # node -> value of the gradient that reached it, in this pass
        self.sinks: dict[int, int] = {}         # parameter -> its node
        self.at: dict[int, int] = {}            # serial -> event
        self.last: dict[int, int] = {}          # parameter -> value of its .grad
        self.start = 0
        self.origins: list[tuple[int, int]] = []
        self.origin = 0, 0

    def tell(self, steps: list[Step]) -> Recording:
        rec, hearing = self.rec, self.hearing
        rec.header = {
            "engine": hearing.engine.name, "versions": {hearing.engine.name: str(hearing.engine.torch.__version__)},
            "python": sys.version.split()[0], "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "ops": True,
            "nodes": True, "norms": True, "values": None, "limit": 0, "argv": list(sys.argv[:8]), "unmeasured": [],
            "steps": list(dict.fromkeys(step.number for step in steps))}
        rec.sites = list(hearing.sites.table)
        numbers = {path: n for n, (path, _) in enumerate(hearing.modules)}
        for n, (path, module) in enumerate(hearing.modules):
            parent = -1 if not path else numbers.get(path.rpartition(".")[0], 0)
            rec.modules.append({"path": path, "type": type(module).__name__, "parent": parent, "calls": hearing.counts[n],
                                "training": module.training, "engine": hearing.engine.name})
        for name, known in hearing.parameters:
            p = known()
            wants = p is not None and p.requires_grad
            like = self.like(() if p is None else p.shape, "float32" if p is None else p.dtype)
            rec.tensor_names[len(rec.tensor_rows)] = {"name": name, "names": [name], "role": "parameter"}
            rec.tensor_rows.append((like, -1, 1 | 2 * int(wants), -1))
        for optimizer in self.optimizers:
            held = [hearing.parameter_numbers[id(p)] for g in optimizer.param_groups for p in g["params"]
                    if id(p) in hearing.parameter_numbers]
            rec.optimizers.append({"type": type(optimizer).__name__, "engine": hearing.engine.name, "variable": None,
                                   "tensors": held})
        self.start = min((step.events[0][1] for step in steps if step.events), default=0)
        passes = 0
        for n, step in enumerate(steps, 1 - len(steps)):
            rec.header["newest"] = len(rec.rows)
            lost = step.count - len(step.events)
            if lost:
                rec.dropped["op"] = rec.dropped.get("op", 0) + lost
            for k, event in enumerate(step.events):
                self.origin = n, k
                kind = event[0]
                passes += kind == "begin"
                getattr(self, kind)(passes, *event[1:])
        return rec

    # -- tables

    def like(self, shape: Any, dtype: Any) -> int:
        key = tuple(map(int, shape)), str(dtype).rpartition(".")[2], "cpu"
        if key not in self.likes:
            self.likes[key] = len(self.rec.likes)
            self.rec.likes.append(key)
        return self.likes[key]

    def value(self, number: Any, shape: Any, dtype: Any) -> int:
        """Of a sum of squares, or of statistics."""
        count = 1
        for n in shape:
            count *= n
        row = UNMEASURED if number is None else number if type(number) is tuple else (count, sqrt(number), *FINITE)
        self.rec.value_likes.append(self.like(shape, dtype))
        self.rec.stats.extend(row)
        return len(self.rec.value_likes) - 1

    def put(self, kind: str, t: int, *fields: Any) -> None:
        self.rec.rows.append((kind, t - self.start, 0, 0, *fields))
        self.origins.append(self.origin)

    def read(self, serials: list[int]) -> list[int]:
        """Tensors; those of steps that were forgotten are not among them."""
        return [-2 - s if s < 0 else self.tensors[s] for s in serials if s < OUTSIDE or s in self.tensors]

    def node_of(self, n: int) -> int:
        if n not in self.sinks:
            self.sinks[n] = len(self.rec.node_rows)
            self.rec.node_rows.append(("AccumulateGrad", -1, 0, (), n))
        return self.sinks[n]

    # -- events

    def enter(self, _: int, t: int, module: int, call: int, parent: int, site: int) -> None:
        self.put("enter", t, module, call, parent, site, dict(FACTS))

    def exit(self, _: int, t: int, module: int, call: int) -> None:
        self.put("exit", t, module, call, None, None)

    def op(self, _: int, t: int, name: str, site: int, module: int, call: int, read: list[int], made: list[Any],
           node: str | None) -> None:
        rec = self.rec
        number = len(rec.rows)
        if any(s < 0 or s not in self.values for s in read):
            rec.header["unmeasured"].append(number)
        read = [s for s in read if s != OUTSIDE]
        values, outs = [], []
        for serial, value, shape, dtype in made:
            if value is None and read and read[0] in self.values and name not in ("argmax",):
                v = self.values[read[0]]        # a view has the numbers of what it shows
            else:
                v = self.value(value, shape, dtype)
            self.values[serial] = v
            self.tensors[serial] = len(rec.tensor_rows)
            rec.tensor_rows.append((self.like(shape, dtype), number, 2 * int(node is not None), -1))
            values.append(v)
            outs.append(self.tensors[serial])
            self.at[serial] = number
        if node is not None:
            n = len(rec.node_rows)
            edges = tuple((self.node_of(-2 - s), 0) if s < 0 else (self.nodes[s], 0) for s in read
                          if s in self.nodes or (s < 0 and rec.tensor_rows[-2 - s][2] & 2))
            rec.node_rows.append((node, number, made[0][0], edges, -1))
            for i, (serial, *_rest) in enumerate(made):
                self.nodes[serial] = n
                rec.tensor_edges[self.tensors[serial]] = n, i
        self.put("op", t, name, module, call, site, tuple(self.read(read)), tuple(outs), tuple(values),
                 GRAD | WANTS * (node is not None), None)

    def gave(self, _: int, t: int, module: int, call: int, value: Any, shape: Any, dtype: Any) -> None:
        """What a module gave is shown as an op of its type: more was not heard."""
        v = self.value(value, shape, dtype)
        self.rec.tensor_rows.append((self.like(shape, dtype), len(self.rec.rows), 0, -1))
        self.put("op", t, self.rec.modules[module]["type"], module, call, -1, (), (len(self.rec.tensor_rows) - 1,), (v,), GRAD,
                 None)

    def alias(self, _: int, t: int, serials: list[int], others: list[int]) -> None:
        """What a call gave, and what it gave when it was made again, are the same."""
        for table in (self.tensors, self.values, self.nodes):
            table.update((a, table[b]) for a, b in zip(serials, others) if b in table)

    def failed(self, _: int, t: int, name: str, site: int, module: int, call: int, read: list[int], error: str) -> None:
        self.put("op", t, name, module, call, site, tuple(self.read(read)), (), (), GRAD, error)

    def begin(self, number: int, t: int, how: str, site: int, roots: list[int]) -> None:
        self.arrived.clear()
        self.put("begin", t, number, how, tuple(self.nodes[s] for s in roots if s in self.nodes),
                 tuple(self.read(roots)), site, False, False, None)

    def end(self, number: int, t: int, error: str | None) -> None:
        self.put("end", t, number, error, None)

    def node(self, number: int, t: int, serial: int, found: list[Any], given: list[Any] | None) -> None:
        n = self.nodes.get(serial)
        if n is None:
            return
        edges = self.rec.node_rows[n][3]
        outputs = [-1] * len(edges)
        rest = [self.value(*g) for g in found if g is not None]
        # Gradients come in the order of the node, edges stand in that of the op: shapes tell which is which.
        for k, (to, _) in enumerate(edges):
            event = self.rec.node_rows[to][1]
            if event < 0:
                continue
            shapes = {self.rec.likes[self.rec.tensor_rows[out][0]][0] for out in self.rec.rows[event][9]}
            fit = next((v for v in rest if self.rec.likes[self.rec.value_likes[v]][0] in shapes), rest[0] if rest else -1)
            if fit >= 0:
                rest.remove(fit)
                outputs[k] = fit
                self.pass_on(to, fit)
        if rest and not edges:
            outputs = rest
        inputs = [self.arrived.get(n, -1)] if given is None else [-1 if g is None else self.value(*g) for g in given]
        self.put("node", t, number, n, tuple(inputs), tuple(outputs))

    def pass_on(self, to: int, value: int) -> None:
        """A gradient reaches a node, and what views show of."""
        held = self.arrived.get(to)
        if held is None or not self.finite(value):
            self.arrived[to] = value
        name, _, _, edges, _ = self.rec.node_rows[to]
        if len(edges) == 1 and self.rec.node_rows[edges[0][0]][1] >= 0 and self.is_view(to):
            self.pass_on(edges[0][0], value)

    def is_view(self, node: int) -> bool:
        return self.rec.rows[self.rec.node_rows[node][1]][4] in SAME

    def finite(self, value: int) -> bool:
        row = self.rec.stats[7 * value:7 * value + 7]
        return not (row[5] or row[6])

    def leaves(self, number: int, t: int, numbers: list[int], values: list[Any]) -> None:
        for n, value in zip(numbers, values, strict=True):
            shape, dtype, _ = self.rec.likes[self.rec.tensor_rows[n][0]]
            now = self.value(value, shape, dtype)
            had, self.last[n] = self.last.get(n, -1), now
            self.put("accumulate", t, number, self.node_of(n), n, now if had < 0 else -1, had, now)

    def zero(self, _: int, t: int) -> None:
        """No gradient is left that was there, and no optimizer used them."""
        self.put("zero", t, "the model", -1, tuple(self.last), True)
        self.last.clear()

    def stepped(self, _: int, t: int, optimizer: int, site: int, rates: list[float]) -> None:
        held = self.rec.optimizers[optimizer]["tensors"]
        self.put("step", t, optimizer, site, tuple(held), tuple(self.last.get(n, -1) for n in held),
                 tuple([-1] * len(held)), tuple([-1] * len(held)), None, rates)
        for n in held:
            self.last.pop(n, None)
