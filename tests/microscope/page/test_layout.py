"""Rows, bends and order of nested graphs."""

from __future__ import annotations

from itertools import combinations
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from retrograd import nn
from retrograd.microscope import record
from retrograd.microscope.page.graph_view import BEND, GROUP, IN, LEAF, OP, OUT, VERTEX, Drawing
from retrograd.microscope.page.layout import Graph, components, crossings, ranks


@st.composite
def dags(draw: Any) -> tuple[int, list[tuple[int, int, int]]]:
    n = draw(st.integers(1, 14))
    pairs = list(combinations(range(n), 2))
    chosen = draw(st.lists(st.sampled_from(pairs), unique=True)) if pairs else []
    return n, [(a, b, a) for a, b in chosen]


@given(dags())
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_every_edge_points_down_and_every_item_stands_in_one_row(dag: Any) -> None:
    n, edges = dag
    graph = Graph()
    for i in range(n):
        graph.add(f"item {i}", i)
    for edge in edges:
        graph.join(*edge)
    graph.arrange(lambda source: "bend")
    places = {i: (p, y) for p, rows in enumerate(graph.rows) for y, row in enumerate(rows) for i in row}
    assert sorted(i for rows in graph.rows for row in rows for i in row) == list(range(len(graph.items)))
    for a, b, _ in graph.edges:
        assert places[a][0] == places[b][0] and places[b][1] == places[a][1] + 1       # bends take the longer ways
    reached = {(a, b) for a in range(n) for b in walk(graph, a)}
    assert reached == {(a, b) for a, b, _ in edges}


def walk(graph: Graph, a: int) -> set[int]:
    """Where the edges of a lead, through bends."""
    found, todo = set(), [(a, None)]
    while todo:
        i, source = todo.pop()
        for u, v, s in graph.edges:
            if u == i and source in (None, s):
                if graph.items[v] == "bend":
                    todo.append((v, s))
                else:
                    found.add(v)
    return found


@given(st.integers(1, 9).flatmap(lambda n: st.lists(st.tuples(st.integers(0, n - 1), st.integers(0, n - 1)), max_size=20)))
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
def test_circles_are_arranged_too(pairs: list[tuple[int, int]]) -> None:
    graph = Graph()
    for i in range(9):
        graph.add(i, i)
    for a, b in pairs:
        graph.join(a, b, a)
    graph.arrange(lambda source: -1)
    assert sorted(i for rows in graph.rows for row in rows for i in row) == list(range(len(graph.items)))


def test_crossings_are_those_that_one_counts() -> None:
    rows = [[0, 1, 2], [3, 4, 5]]
    below = {0: [4, 5], 1: [3, 5], 2: [3, 4]}
    place = {0: 0, 1: 1, 2: 2, 3: 0, 4: 1, 5: 2}
    ends = [(place[a], place[b]) for a, bs in below.items() for b in bs]
    expected = sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(ends, 2))
    assert crossings(rows, below, place) == expected == 7


def test_a_butterfly_is_uncrossed() -> None:
    graph = Graph()
    for i in range(4):
        graph.add(i, i)
    graph.join(0, 3, 0)
    graph.join(1, 2, 1)
    graph.join(0, 2, 0)
    graph.join(1, 3, 1)
    graph.add(4, 4)
    graph.join(0, 4, 0)
    graph.arrange(lambda source: -1)
    place = {i: x for rows in graph.rows for row in rows for x, i in enumerate(row)}
    below = {a: [v for u, v, _ in graph.edges if u == a] for a in (0, 1)}
    assert crossings(graph.rows[0], below, place) == 1                   # no order of it has fewer


def test_ports_stand_first_and_last_and_sources_near_their_use() -> None:
    # 0 port in, 1-2-3 a chain, 4 a weight of 3, 5 port out
    edges = [(0, 1, 0), (1, 2, 1), (2, 3, 2), (4, 3, 4), (3, 5, 3)]
    assert ranks([0, 1, 2, 3, 2.5, 3], [-1, 0, 0, 0, 0, 1], edges) == [0, 1, 2, 3, 2, 4]


def test_what_hangs_together() -> None:
    assert components(5, [(0, 3, 0), (4, 3, 4)]) == [[0, 3, 4], [1], [2]]


def test_a_long_chain_needs_no_recursion() -> None:
    graph = Graph()
    for i in range(20_000):
        graph.add(i, i)
        if i:
            graph.join(i - 1, i, i - 1)
    graph.arrange(lambda source: -1)
    assert [len(rows) for rows in graph.rows] == [20_000]


# -- of a recording

class Twice(nn.Module):
    """One layer called twice, another beside it, a weight tied by use."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(3, 3)
        self.act = nn.Tanh()

    def forward(self, x: Any) -> Any:
        return self.one(self.act(self.one(x))) + x @ self.one.weight


@pytest.fixture(scope="module")
def drawn() -> Drawing:
    import retrograd as torch

    model = Twice()
    x = torch.ones(2, 3)
    with record(model) as rec:
        model(x).sum().backward()
    return Drawing(rec)


def test_each_call_of_a_module_is_a_group_inside_its_caller(drawn: Drawing) -> None:
    paths = [(drawn.rec.modules[m]["path"] if m >= 0 else None, call, parent) for m, call, parent, _ in drawn.groups]
    assert paths == [(None, 0, -1), ("", 1, 0), ("one", 1, 1), ("act", 1, 1), ("one", 2, 1)]


def test_ops_stand_in_the_call_that_ran_them(drawn: Drawing) -> None:
    named = {}
    for kind, number, group in drawn.vertices:
        if kind == OP:
            named.setdefault(group, []).append(drawn.rec.events[number].name)
    assert {g: names for g, names in named.items() if g != 1} == {
        0: ["sum"], 2: ["t", "addmm"], 3: ["tanh"], 4: ["t", "addmm"]}
    assert named[1] == ["mm", "add"]


def test_a_parameter_has_a_pill_in_every_group_that_reads_it(drawn: Drawing) -> None:
    weight = drawn.rec.parameters["one.weight"]
    assert sorted(g for kind, n, g in drawn.vertices if kind == LEAF and n == weight) == [1, 2, 4]


def test_every_data_edge_can_be_followed_through_ports(drawn: Drawing) -> None:
    """From the producer of each input of each op to the op: the pieces in the groups join up to the whole way."""
    rec = drawn.rec
    of_op = {number: v for v, (kind, number, _) in enumerate(drawn.vertices) if kind == OP}
    wanted = set()
    for event in rec.of("op"):
        for t in event.inputs:
            maker = rec.tensor_rows[t][1]
            if maker >= 0:
                wanted.add((of_op[maker], of_op[event.number]))
    found = {(v, w) for v in of_op.values() for w in ends(drawn, v)}
    assert found == wanted


def ends(drawn: Drawing, v: int) -> set[int]:
    found: set[int] = set()
    todo = [(drawn.vertices[v][2], drawn.places[v])]
    while todo:
        g, i = todo.pop()
        for a, b, source in drawn.graphs[g].edges:
            if (a, source) != (i, v):
                continue
            number, kind = divmod(drawn.graphs[g].items[b], 5)
            if kind == VERTEX:
                found.add(number)
            elif kind == GROUP:
                todo.append((number, drawn.graphs[number].items.index(5 * v + IN)))
            elif kind == OUT:
                todo.append((drawn.groups[g][2], drawn.holds[g]))
            else:
                assert kind == BEND
                todo.append((g, b))
    return found


def test_every_node_of_the_backward_graph_belongs_to_a_vertex(drawn: Drawing) -> None:
    assert sorted(drawn.of_node) == list(range(len(drawn.rec.node_rows)))


def test_nodes_of_a_graph_made_before_the_recording_are_drawn() -> None:
    import retrograd as torch

    x = torch.ones(3, requires_grad=True)
    y = ((x * 2).exp() + x).sum()
    with record(engine="retrograd") as rec:
        y.backward()
    drawing = Drawing(rec)
    assert [kind for kind, _, _ in drawing.vertices].count(OP) == 0
    names = {rec.node_rows[n][0] for kind, n, _ in drawing.vertices if kind == 2}
    assert names == {"MulBackward0", "ExpBackward0", "AddBackward0", "SumBackward0"}
    assert len(drawing.graphs[0].rows) == 1                              # all of it hangs together


def test_a_recording_without_events_can_be_drawn() -> None:
    with record(engine="retrograd") as rec:
        pass
    assert Drawing(rec).graphs[0].rows == []
