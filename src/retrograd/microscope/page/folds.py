"""What the page draws as one closed box: a loop of calls of one module, and the inner operations of a clipping call."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..answers.ledger import editing
from ..record.recording import POSITION, Recording

LEAST = 3               # rounds of a loop that is folded
CALL, OP, EDIT = "call", "op", "edit"

_OP, _ENTER = POSITION["op"], POSITION["enter"]

Child = tuple[int, tuple[Any, ...]]     # (event, what is alike in each round of a loop)
Fold = tuple[list[int], str, int]       # (events, name, how many calls: 0 for an edit of gradients)


def folds(rec: Recording) -> dict[int, tuple[int, str, int]]:
    """Event that begins a call, or op -> (number of its fold, name, how many calls)."""
    found: dict[int, tuple[int, str, int]] = {}
    number = 0
    for children in inside(rec):
        for events, name, calls in (*edits(rec, children), *loops(rec, children)):
            found.update(dict.fromkeys(events, (number, name, calls)))
            number += 1
    return found


def inside(rec: Recording) -> list[list[Child]]:
    """What is directly in each call of a module, and outside of all, in order; backward passes and steps part it."""
    latest: dict[int, int] = {}
    lists: dict[tuple[int, int, int], list[Child]] = {}
    part = 0
    for i, row in enumerate(rec.rows):
        if row[0] == "enter":
            above, module = row[_ENTER["parent"]], row[_ENTER["module"]]
            lists.setdefault((above, latest.get(above, 0), part), []).append((i, (CALL, module)))
            latest[module] = row[_ENTER["call"]]
        elif row[0] == "op":
            what = (OP, row[_OP["name"]], row[_OP["site"]])
            lists.setdefault((row[_OP["module"]], row[_OP["call"]], part), []).append((i, what))
        elif row[0] in ("begin", "step", "zero"):
            part += 1
    return list(lists.values())


def edits(rec: Recording, children: list[Child]) -> Iterator[Fold]:
    """Ops on the line of clip_grad_norm_ and the like, some of which read a .grad; no loop takes them in."""
    at = 0
    while at < len(children):
        end = at + 1
        what = children[at][1]
        if what[0] == OP:
            while end < len(children) and children[end][1][0] == OP and children[end][1][2] == what[2]:
                end += 1
            name = editing(rec, what[2])
            events = [i for i, _ in children[at:end]]
            read = {t for i in events for t in rec.rows[i][_OP["inputs"]]}
            if name and any(rec.tensor_names.get(t, {}).get("role") == "grad" for t in read):
                children[at:end] = [(i, (EDIT, i)) for i in events]
                yield events, name, 0
        at = end


def loops(rec: Recording, children: list[Child]) -> Iterator[Fold]:
    """Rounds that call the same modules in the same order, with the ops between and around them."""
    tokens = [what for _, what in children]
    taken = [False] * len(tokens)
    places: dict[Any, list[int]] = {}
    for k, what in enumerate(tokens):
        if what[0] == CALL:
            places.setdefault(what, []).append(k)
    for (_, module), at in places.items():
        if len(at) < LEAST:
            continue
        gaps = [[t for t in tokens[a + 1:b] if t[0] != OP] for a, b in zip(at, at[1:])]
        begin = 0
        while begin + LEAST <= len(at):
            end = begin + 1
            while end < len(gaps) and gaps[end] == gaps[begin]:
                end += 1
            if end - begin + 1 >= LEAST and not any(taken[at[begin]:at[end] + 1]):
                first, last = around(tokens, taken, at[begin:end + 1])
                taken[first:last + 1] = [True] * (last + 1 - first)
                facts = rec.modules[module]
                name = facts["path"].rpartition(".")[2] or facts["type"]
                yield [i for i, _ in children[first:last + 1]], name, end - begin + 1
            begin = end


def around(tokens: list[Any], taken: list[bool], at: list[int]) -> tuple[int, int]:
    """The first and last place of a loop: what comes before the first call and after the last as in the other rounds."""
    first, last = at[0], at[-1]
    for what in reversed(tokens[at[0] + 1:at[1]]):
        if not first or taken[first - 1] or tokens[first - 1] != what:
            break
        first -= 1
    for what in tokens[at[-2] + 1:at[-1]]:
        if last + 1 == len(tokens) or taken[last + 1] or tokens[last + 1] != what:
            break
        last += 1
    return first, last
