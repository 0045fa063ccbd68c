"""The ways by which a gradient came to a use of a parameter, and what each brings.

Going back from a use towards the loss, the first node that got its gradient along several edges is where ways *meet*: in a
residual block the branch and the connection around it.  The gradient there is the sum of what came along each edge, and
what follows down to the parameter is linear, so the use's contribution is the sum of what each way brings.

How much a way brings is found right after the pass, while the graph is there: its part of the gradient goes through the
nodes from the meeting to the use alone (record(values="paths")).  Hooks between the two do not run again; what they
changed is what is missing from the sum.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..record.book import measured
from ..record.recording import POSITION, Recording
from .graph_of import Links

NODE = POSITION["node"]
IDENTITY = "BackwardHookFunctionBackward"       # the boundary of a module with full backward hooks


@dataclass
class Way:
    """One way to a use.

    path      modules and ops from where ways meet, this way, towards the loss
    arrived   norm of the gradient that came this way, where they meet; None where unknown
    value     what it adds to .grad, an array; None unless record(values="paths") found it
    norm      of value
    """

    path: tuple[str, ...]
    arrived: float | None
    value: Any = None
    norm: float | None = None


def climb(node: int, into: dict[int, list[Any]]) -> tuple[list[int], list[Any]]:
    """From a use towards the loss: the nodes up to where ways meet, the use first, and the edges into that one."""
    chain = [node]
    for _ in range(len(into) + 1):
        edges = into.get(chain[-1], [])
        if len({via for via, *_ in edges}) != 1:
            return chain, edges
        chain.append(edges[0][0])                       # x * x hands on twice, which is one way
    return chain, []


def edges_of(rec: Recording, events: Any) -> dict[int, list[Any]]:
    """node -> [(node that handed on, which of its outputs, into which output number, value)] of the runs of a pass."""
    into: dict[int, list[Any]] = {}
    rows = rec.node_rows
    for row in events:
        node = row[NODE["node"]]
        for i, (edge, value) in enumerate(zip(rows[node][3], row[NODE["outputs"]])):
            if edge is not None and value >= 0:
                into.setdefault(edge[0], []).append((node, i, edge[1], value))
    return into


def edges_in(rec: Recording, link: Links, number: int) -> dict[int, list[Any]]:
    """edges_of pass `number`."""
    into = link.edges.get(number)
    if into is None:
        into = link.edges[number] = edges_of(rec, link.nodes_in.get(number, ()))
    return into


def ways_to(rec: Recording, link: Links, number: int, node: int, at: int) -> list[tuple[int, int, int]]:
    """The ways to input `at` of a node in a pass: (node that handed on, value where they meet, value at the parameter)."""
    into, known = edges_in(rec, link, number), link.meets.setdefault(number, {})
    chain = []
    while node not in known:
        chain.append(node)
        edges = into.get(node, [])
        if len({via for via, *_ in edges}) != 1 or len(chain) > len(into) + 1:
            known[node] = edges
        else:
            node = edges[0][0]
    edges = known[node]
    known.update(dict.fromkeys(chain, edges))
    if len(edges) < 2:
        return []
    found = link.parts.get((number, chain[0] if chain else node, at), {})
    return [(via, value, found.get((via, i), -1)) for via, i, _, value in edges]


class Splitting:
    """During one pass: keeps the gradients where ways meet, and pushes each through to the uses when the pass is over."""

    def __init__(self, recorder: Any, tap: Any, roots: list[Any]) -> None:
        self.recorder, self.tap = recorder, tap
        self.first = len(recorder.rows)
        self.nodes: dict[int, Any] = {}
        self.gradients: dict[int, Any] = {}             # value -> a copy of the tensor
        self.failed: set[str] = set()
        todo = list(roots)
        came: dict[int, int] = {}
        while todo:
            node = todo.pop()
            number = tap.adopt(node, -1)
            if number in self.nodes:
                continue
            self.nodes[number] = node
            for to, _ in node.next_functions:
                if to is not None:
                    n = tap.adopt(to, -1)
                    came[n] = came.get(n, 0) + 1
                    todo.append(to)
        rows = recorder.rec.node_rows
        self.meetings = {n for n, count in came.items() if count > 1 and rows[n][4] < 0}

    def sees(self, to: int, value: int, g: Any) -> None:
        """A gradient goes along an edge into node `to`."""
        if to in self.meetings and value >= 0 and value not in self.gradients:
            recorder = self.recorder
            size = self.tap.bytes_of(g)
            if recorder.has_room(size):
                recorder.bytes += size
                self.gradients[value] = self.tap.copy_of(g)

    def finish(self, number: int) -> None:
        """The pass is over: what each way brings to each use."""
        recorder = self.recorder
        rec = recorder.rec
        at = NODE["pass"]
        runs = [row for row in rec.rows[self.first:] if row[0] == "node" and row[at] == number]
        into = edges_of(rec, runs)
        outputs = {row[NODE["node"]]: len(row[NODE["inputs"]]) for row in runs}
        for row in runs:
            node = row[NODE["node"]]
            leaves = [i for i, (e, v) in enumerate(zip(rec.node_rows[node][3], row[NODE["outputs"]]))
                      if e is not None and v >= 0 and rec.node_rows[e[0]][4] >= 0]
            if not leaves:
                continue
            chain, edges = climb(node, into)
            if len(edges) < 2:
                continue
            for via, i, nr, value in edges:
                g = self.gradients.get(value)
                found = None if g is None else self.push(chain, into, outputs, {nr: g})
                if found is None:
                    continue
                for leaf in leaves:
                    if found[leaf] is not None:
                        brought = self.fit(found[leaf], row[NODE["outputs"]][leaf])
                        n = recorder.new_value(self.tap, brought, measured(self.tap, brought))
                        recorder.keep(self.tap, n, brought)
                        rec.parts.append((number, node, leaf, via, i, n))
        recorder.bytes -= sum(map(self.tap.bytes_of, self.gradients.values()))
        if self.failed:
            rec.notes.append(f"what each way brings is not known through {', '.join(sorted(self.failed))}")

    def fit(self, g: Any, value: int) -> Any:
        """g as the engine hands it on: summed over what was broadcast, in the dtype of the gradient that was recorded."""
        rec = self.recorder.rec
        shape, dtype, _ = rec.likes[rec.value_likes[value]]
        if tuple(g.shape) != tuple(shape):
            g = g.sum_to_size(*shape)
        return g if str(g.dtype).rpartition(".")[2] == dtype else g.to(getattr(self.tap.space, dtype))

    def push(self, chain: list[int], into: Any, outputs: dict[int, int], came: dict[int, Any]) -> Any:
        """What the use at chain[0] hands on when only `came` (output number -> gradient) comes to chain[-1]; None when it
        cannot be run."""
        rows = self.recorder.rec.node_rows
        for k in range(len(chain) - 1, -1, -1):
            node = self.nodes.get(chain[k])
            name = rows[chain[k]][0]
            given = [came.get(nr) for nr in range(max(outputs.get(chain[k], 1), *(nr + 1 for nr in came)))]
            if name == IDENTITY:
                out: Any = tuple(given)
            elif not callable(node):
                self.failed.add(name)
                return None
            else:
                try:
                    out = node(*given)
                except (RuntimeError, TypeError, ValueError):
                    self.failed.add(name)
                    return None
                out = out if isinstance(out, tuple) else (out,)
            if k == 0:
                return out if len(out) == len(rows[chain[0]][3]) else None
            came = {}
            for _, i, nr, value in into[chain[k - 1]]:
                if i < len(out) and out[i] is not None:
                    g = self.fit(out[i], value)
                    came[nr] = came[nr] + g if nr in came else g
            if not came:
                return None
        return None


__all__ = ["Splitting", "Way", "edges_in", "ways_to"]
