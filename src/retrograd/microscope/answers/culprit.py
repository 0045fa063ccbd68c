"""Errors of a backward pass that an earlier line caused: which one freed its graph, or edited what a node had kept."""
from __future__ import annotations

import re
from typing import Any

from ..record.recording import POSITION, Event, Recording
from ..record.witness import INPLACE
from .graph_of import HANDED_ON

FREED = "backward through the graph a second time"
EDITED = re.compile(r"modified by an inplace operation: \[[\w.]+ \[([\d, ]*)\]\](?:, which is output \d+ of (\w+),)? "
                    r"is at version (\d+); expected version (\d+)")
OP, STEP, NODE = POSITION["op"], POSITION["step"], POSITION["node"]


def culprit(rec: Recording, text: str, begin: int) -> str | None:
    """A sentence with the line, for the error `text` of the pass whose event is `begin`; None when nobody knows."""
    if FREED in text:
        return freed(rec, rec.events[begin])
    found = EDITED.search(text)
    if found is None:
        return None
    shape = tuple(int(n) for n in found[1].split(",") if n.strip())
    return edited(rec, shape, found[2] or "", max(int(found[3]) - int(found[4]), 1), begin)


def freed(rec: Recording, begin: Event) -> str | None:
    reach, todo = set(begin.roots), list(begin.roots)
    while todo:
        for edge in rec.node_rows[todo.pop()][3]:
            if edge is not None and edge[0] not in reach:
                reach.add(edge[0])
                todo.append(edge[0])
    number = begin.get("pass")
    ran = {row[NODE["pass"]] for row in rec.rows if row[0] == "node" and row[NODE["node"]] in reach} - {number}
    last = None
    for e in rec.of("begin"):
        if e.get("pass") in ran and not e.retain:
            last = e
    if last is None:
        return None
    how = "backward()" if last.how == "backward" else "autograd.grad()"
    return f"{how} at {last.where or 'an unknown line'} already went through that graph and freed it"


def edited(rec: Recording, shape: tuple[int, ...], node: str, times: int, begin: int) -> str | None:
    named: list[str] = []                               # edits of what that node made
    alike: list[str] = []                               # of tensors of that shape, and steps
    for i in range(begin):
        row: Any = rec.rows[i]
        if row[0] == "op" and row[OP["flags"]] & INPLACE:
            for t in bases(rec, row[OP["outputs"]]):
                if rec.likes[rec.tensor_rows[t][0]][0] in (shape, shape[::-1]):         # a weight is kept transposed
                    text = f"{row[OP['name']]} at {rec.where(row[OP['site']])}"
                    alike.append(text)
                    edge = rec.tensor_edges.get(t)
                    if edge is not None and rec.node_rows[edge[0]][0] == node:
                        named.append(text)
        elif row[0] == "step":
            shapes = {rec.likes[rec.tensor_rows[t][0]][0] for t in row[STEP["tensors"]]}
            if shape in shapes or shape[::-1] in shapes:
                alike.append(f"step() of {rec.name_of_optimizer(row[STEP['optimizer']])} at {rec.where(row[STEP['site']])}")
    edits = named or alike
    return f"{edits[-min(times, len(edits))]} edited a tensor that the pass needs" if edits else None


def bases(rec: Recording, tensors: Any) -> list[int]:
    """Tensors, what they were before an edit, and what they are views of."""
    found = list(tensors)
    for t in found:                                     # it grows meanwhile
        _, made_by, _, stem = rec.tensor_rows[t]
        row: Any = rec.rows[made_by] if made_by >= 0 else ("", )
        viewed = row[OP["inputs"]][:1] if row[0] == "op" and row[OP["name"]] in HANDED_ON else ()
        found += [b for b in (stem, *viewed) if b >= 0 and b not in found]
    return found
