"""A layered layout of nested graphs: which row each item stands in, in which order, and where long edges pass.

After Sugiyama, Tagawa and Toda 1981: rows by longest path, bends where an edge crosses rows, then sweeps that move each
item to the mean of its neighbors.  Positions in pixels are left to the page: they change as groups are opened.
"""
from __future__ import annotations

from bisect import bisect_right, insort
from collections import defaultdict
from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any

SPAN = 60               # rows an edge crosses with bends of its own; longer ones are drawn straight through
BENDS = 6               # bends per item, at most on average
EXACT = 1500            # edges up to which crossings are counted, to keep the best order

Edge = tuple[int, int, int]             # from, to, source: edges of one source share their way


class Graph:
    """One group's inside.  Items are numbered as they are added; `rows` and `edges` are there after `arrange`.

    rows   per component: rows, each a list of items from left to right
    edges  between items of neighboring rows (but for very long ones), bends included
    """

    def __init__(self) -> None:
        self.items: list[Any] = []
        self.keys: list[float] = []             # when an item happened: decides what no edge decides
        self.pins: list[int] = []               # -1: first row, 1: last row, 0: neither
        self.edges: list[Edge] = []
        self.rows: list[list[list[int]]] = []
        self._seen: set[Edge] = set()

    def add(self, item: Any, key: float, pin: int = 0) -> int:
        """The number of a new item."""
        self.items.append(item)
        self.keys.append(key)
        self.pins.append(pin)
        return len(self.items) - 1

    def join(self, a: int, b: int, source: int) -> None:
        """An edge from a to b that carries what `source` made; added once, however often this is called."""
        edge = (a, b, source)
        if a != b and edge not in self._seen:
            self._seen.add(edge)
            self.edges.append(edge)

    def arrange(self, bend: Any) -> None:
        """Find rows and order; `bend(source)` makes the item for a bend."""
        rank = ranks(self.keys, self.pins, self.edges)
        self.edges = self.with_bends(rank, bend)
        parts = components(len(self.items), self.edges)
        parts.sort(key=lambda part: min(self.keys[i] for i in part))
        inside: list[list[Edge]] = [[] for _ in parts]
        part_of = {i: n for n, part in enumerate(parts) for i in part}
        for edge in self.edges:
            inside[part_of[edge[0]]].append(edge)
        self.rows = [order(part, rank, self.keys, edges) for part, edges in zip(parts, inside)]

    def with_bends(self, rank: list[int], bend: Any) -> list[Edge]:
        """Edges that cross several rows as chains of bends, one chain for all that start together."""
        room = BENDS * len(self.items) + 200
        fans: dict[tuple[int, int], list[int]] = defaultdict(list)
        for a, b, source in self.edges:
            fans[a, source].append(b)
        found: list[Edge] = []
        for (a, source), targets in fans.items():
            at, last = rank[a], a
            for b in sorted(targets, key=lambda b: rank[b]):
                if not 0 < rank[b] - rank[a] <= SPAN or rank[b] - 1 - at > room:
                    found.append((a, b, source))        # backwards, very long, or too many
                    continue
                while at < rank[b] - 1:
                    at += 1
                    room -= 1
                    number = self.add(bend(source), self.keys[a])
                    rank.append(at)
                    found.append((last, number, source))
                    last = number
                found.append((last, b, source))
        return found


def ranks(keys: Sequence[float], pins: Sequence[int], edges: Iterable[Edge]) -> list[int]:
    """The row of each item: below all that lead to it; what nothing leads to, right above what it leads to."""
    n = len(keys)
    after: list[list[int]] = [[] for _ in range(n)]
    before = [0] * n
    for a, b, _ in edges:
        after[a].append(b)
        before[b] += 1
    waits = before[:]
    first = 1 if -1 in pins else 0
    rank = [0 if pin == -1 else first for pin in pins]
    placed = [False] * n
    ready = [(keys[i], i) for i in range(n) if not waits[i]]
    heapify(ready)
    rest = iter(sorted(range(n), key=lambda i: (keys[i], i)))
    for _ in range(n):
        # No item is free where edges make a circle: the earliest goes first, and edges back to it point up.
        i = heappop(ready)[1] if ready else next(i for i in rest if not placed[i])
        placed[i] = True
        for b in after[i]:
            if not placed[b]:
                rank[b] = max(rank[b], rank[i] + 1)
                waits[b] -= 1
                if not waits[b]:
                    heappush(ready, (keys[b], b))
    for i in range(n):
        if not before[i] and not pins[i] and after[i]:
            rank[i] = max(rank[i], min(rank[b] for b in after[i]) - 1)
    last = max((rank[i] for i in range(n) if pins[i] != 1), default=0) + 1
    return [last if pin == 1 else r for pin, r in zip(pins, rank)]


def components(n: int, edges: Iterable[Edge]) -> list[list[int]]:
    """The items that hang together, each list in order of number."""
    root = list(range(n))

    def find(i: int) -> int:
        while root[i] != i:
            root[i] = i = root[root[i]]
        return i

    for a, b, _ in edges:
        root[find(a)] = find(b)
    parts: dict[int, list[int]] = {}
    for i in range(n):
        parts.setdefault(find(i), []).append(i)
    return list(parts.values())


def order(part: Sequence[int], rank: Sequence[int], keys: Sequence[float], edges: Sequence[Edge]) -> list[list[int]]:
    """The rows of a component with few crossings: sweeps down and up, the best order kept where it can be counted."""
    low = min(rank[i] for i in part)
    rows: list[list[int]] = [[] for _ in range(max(rank[i] for i in part) - low + 1)]
    for i in sorted(part, key=lambda i: (keys[i], i)):
        rows[rank[i] - low].append(i)
    if all(len(row) < 2 for row in rows):
        return rows
    above: dict[int, list[int]] = defaultdict(list)
    below: dict[int, list[int]] = defaultdict(list)
    for a, b, _ in edges:
        if rank[b] == rank[a] + 1:
            above[b].append(a)
            below[a].append(b)
    place = {i: x for row in rows for x, i in enumerate(row)}
    counted = len(edges) <= EXACT
    best, fewest = [row[:] for row in rows], crossings(rows, below, place) if counted else 0
    for sweep in range(8 if counted else 3):
        if counted and not fewest:
            break
        down = sweep % 2 == 0
        for row in rows if down else rows[::-1]:
            sort_by_mean(row, above if down else below, place)
        if counted:
            found = crossings(rows, below, place)
            if found < fewest:
                best, fewest = [row[:] for row in rows], found
    return best if counted else rows


def sort_by_mean(row: list[int], near: dict[int, list[int]], place: dict[int, int]) -> None:
    """Order a row by the mean place of neighbors; items without any keep theirs."""
    mean = {i: sum(place[j] for j in near[i]) / len(near[i]) if i in near else place[i] for i in row}
    row.sort(key=lambda i: (mean[i], place[i]))
    for x, i in enumerate(row):
        place[i] = x


def crossings(rows: Sequence[Sequence[int]], below: dict[int, list[int]], place: dict[int, int]) -> int:
    """How many pairs of edges cross."""
    total = 0
    for row in rows:
        seen: list[int] = []
        for i in row:
            ends = sorted(place[j] for j in below[i]) if i in below else []
            total += sum(len(seen) - bisect_right(seen, x) for x in ends)
            for x in ends:
                insort(seen, x)
    return total
