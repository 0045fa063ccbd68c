"""What the page draws: ops, parameters and module calls of a recording as nested groups with edges, laid out.

A vertex is an op, a leaf (a pill beside the op that reads it) or a node of the backward graph that belongs to neither.
A group is one call of a module, or what folds.py puts into one box; group 0 is outside all modules.  An edge from one
group into another passes through ports on the borders, so it looks right whichever groups are open.
"""
from __future__ import annotations

from typing import Any

from ..record.recording import POSITION, Recording
from .folds import folds
from .layout import Graph

OP, LEAF, NODE = 0, 1, 2                                # kinds of vertices
VERTEX, GROUP, IN, OUT, BEND = 0, 1, 2, 3, 4            # kinds of items in a group: item = 5 * number + kind

_OP, _ENTER = POSITION["op"], POSITION["enter"]


class Drawing:
    """vertices: [kind, number, group]; graphs: one per group, arranged.

    groups: [module, call, parent, first event], of a fold [-1, calls, parent, first event, name].
    """

    def __init__(self, rec: Recording) -> None:
        self.rec = rec
        self.vertices: list[tuple[int, int, int]] = []
        self.keys: list[float] = []
        self.groups: list[tuple[Any, ...]] = [(-1, 0, -1, -1)]
        self.graphs: list[Graph] = [Graph()]
        self.places: list[int] = []                     # of vertices: their item in their group
        self.holds: list[int] = [-1]                    # of groups: their item in their parent
        self.depths = [0]
        self.of_node: dict[int, int] = {}               # node of the backward graph -> vertex
        self._fold_of = folds(rec)
        self._folds: dict[int, int] = {}                # number of a fold -> group
        self._calls: dict[tuple[int, int], int] = {}
        self._latest: dict[int, int] = {}               # module -> group of its latest call
        self._of_op: dict[int, int] = {}
        self._leaves: dict[tuple[int, int], int] = {}   # (tensor, group) -> vertex
        self._ports: dict[tuple[int, int, int], int] = {}
        self.add_ops()
        self.add_nodes()
        for graph in self.graphs:
            graph.arrange(lambda source: 5 * source + BEND)

    # -- what is there

    def group(self, module: int, call: int, event: int, parent: int) -> int:
        """The group of a module's call, made when first seen."""
        found = self._calls.get((module, call))
        if found is None:
            above = self.folded(self._latest.get(parent, 0), event)
            found = self._calls[module, call] = self.new_group(module, call, above, event)
        self._latest[module] = found
        return found

    def folded(self, group: int, event: int) -> int:
        """The group in which an event of `group` is drawn: the fold that it belongs to, or itself."""
        if event not in self._fold_of:
            return group
        number, name, calls = self._fold_of[event]
        if number not in self._folds:
            self._folds[number] = self.new_group(-1, calls, group, event, name)
        return self._folds[number]

    def new_group(self, module: int, call: int, above: int, event: int, *name: str) -> int:
        found = len(self.groups)
        self.groups.append((module, call, above, event, *name))
        self.graphs.append(Graph())
        self.depths.append(self.depths[above] + 1)
        self.holds.append(self.graphs[above].add(5 * found + GROUP, event))
        return found

    def vertex(self, kind: int, number: int, group: int, key: float) -> int:
        n = len(self.vertices)
        self.vertices.append((kind, number, group))
        self.keys.append(key)
        self.places.append(self.graphs[group].add(5 * n + VERTEX, key))
        return n

    def leaf(self, tensor: int, group: int, key: float) -> int:
        """The pill of a leaf: named ones stand in each group that reads them, others (inputs) outside all."""
        if tensor not in self.rec.tensor_names:
            group = 0
        found = self._leaves.get((tensor, group))
        if found is None:
            found = self._leaves[tensor, group] = self.vertex(LEAF, tensor, group, key - 0.5)
        return found

    def add_ops(self) -> None:
        rec = self.rec
        module, call, parent, inputs = _OP["module"], _OP["call"], _ENTER["parent"], _OP["inputs"]
        for i, row in enumerate(rec.rows):
            if row[0] == "enter":
                self.group(row[_ENTER["module"]], row[_ENTER["call"]], i, row[parent])
            elif row[0] == "op":
                group = 0
                if row[module] >= 0:
                    group = self.group(row[module], row[call], i, rec.modules[row[module]]["parent"])
                group = self.folded(group, i)
                v = self._of_op[i] = self.vertex(OP, i, group, i)
                for t in row[inputs]:
                    if t >= 0:
                        maker = rec.tensor_rows[t][1]
                        u = self._of_op.get(maker) if maker >= 0 else self.leaf(t, group, i)
                        if u is not None and u != v:
                            self.join(u, v)

    def add_nodes(self) -> None:
        """Nodes whose op was not recorded: gradient accumulators are their leaf, others get a vertex of their own."""
        rec = self.rec
        pills: dict[int, int] = {}
        for (tensor, _), v in self._leaves.items():
            pills.setdefault(tensor, v)
        bare: set[int] = set()
        users: dict[int, list[int]] = {}                # node -> those that lead to it in the backward graph
        for n, (_, op, _, edges, tensor) in enumerate(rec.node_rows):
            if op in self._of_op:
                self.of_node[n] = self._of_op[op]
            elif tensor in pills:
                self.of_node[n] = pills[tensor]
            else:
                bare.add(n)
            for edge in edges:
                if edge is not None:
                    users.setdefault(edge[0], []).append(n)
        for n in sorted(bare):
            near = [self.of_node[m] for m in users.get(n, ()) if m in self.of_node]
            near = near or [self.of_node[e[0]] for e in rec.node_rows[n][3] if e is not None and e[0] in self.of_node]
            group = self.common_group(near)
            key = min((self.keys[v] for v in near), default=-float(rec.node_rows[n][2])) - 0.25
            tensor = rec.node_rows[n][4]
            self.of_node[n] = self.leaf(tensor, group, key) if tensor >= 0 else self.vertex(NODE, n, group, key)
        for n, (_, _, _, edges, _) in enumerate(rec.node_rows):
            for edge in edges:
                if edge is not None and (n in bare or edge[0] in bare):
                    u, v = self.of_node[edge[0]], self.of_node[n]
                    if u != v:
                        self.join(u, v)

    def common_group(self, vertices: list[int]) -> int:
        """The innermost group that holds all of them; 0 for none."""
        groups = {self.vertices[v][2] for v in vertices}
        while len(groups) > 1:
            deepest = max(groups, key=lambda g: self.depths[g])
            groups.remove(deepest)
            groups.add(self.groups[deepest][2])
        return groups.pop() if groups else 0

    # -- edges

    def join(self, a: int, b: int) -> None:
        """An edge between two vertices, as one piece in every group that it passes."""
        left, right = self.vertices[a][2], self.vertices[b][2]
        at, to = self.places[a], self.places[b]
        while left != right:
            if self.depths[left] >= self.depths[right]:         # out of the deeper one
                self.graphs[left].join(at, self.port(left, a, OUT), a)
                at, left = self.holds[left], self.groups[left][2]
            else:
                self.graphs[right].join(self.port(right, a, IN), to, a)
                to, right = self.holds[right], self.groups[right][2]
        self.graphs[left].join(at, to, a)

    def port(self, group: int, source: int, kind: int) -> int:
        found = self._ports.get((group, source, kind))
        if found is None:
            found = self._ports[group, source, kind] = self.graphs[group].add(
                5 * source + kind, self.keys[source], -1 if kind == IN else 1)
        return found
