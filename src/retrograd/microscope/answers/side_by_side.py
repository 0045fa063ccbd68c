"""compare(a, b): two recordings, event by event: the first that differs, and the norms of all side by side.

Events are put beside each other by what they are (an operation of that name in that module, the gradient of that parameter), in
order; what only one recording has stands alone.  Two engines are made of other operations, so of them only what both have is
compared: outputs of modules, losses, gradients, weights after steps.
"""
from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from math import inf, nan, sqrt

import numpy as np

from ..arguments import FilePath, checked
from ..plain_text import escaped
from ..record.recording import Event, Recording, Value
from .compare import numbered, short

RTOL = 1e-5                     # how far norms may be apart
SHOWN = 30                      # rows of a text
LARGE = 6_000                   # events that only a rough alignment is made of
SAID = {"operation": "an operation", "module": "the output of a module", "loss": "a loss", "node": "a backward node",
        "gradient": "a gradient", "hook": "a hook", "step": "an optimizer step"}
Key = tuple[str, str, str, str] # (kind, name, module, type of the module whose output it is)


@dataclass(frozen=True)
class Beside:
    """An event of one recording beside that of the other.

    kind    "operation", "module", "loss", "node", "gradient", "hook" or "step"
    name    of the operation, node, parameter, ...      module  path of the module it happened in
    where   file:line; that of b if a has no such event
    a, b    norms; None if the recording has no such event or did not measure it
    apart   relative |a - b|; inf if one is missing, has another shape, or has NaN or inf that the other lacks
    marked  does it differ by more than rtol?
    event_a, event_b    numbers of the events; -1 where there is none
    """

    kind: str
    name: str
    module: str
    where: str | None
    a: float | None
    b: float | None
    apart: float
    marked: bool
    event_a: int
    event_b: int

    @property
    def text(self) -> str:
        """The event in a few words."""
        return self.name + (f" in {self.module}" if self.module and self.kind in ("operation", "node") else "")

    @property
    def backward(self) -> bool:
        """Is it part of a backward pass?"""
        return self.kind in ("node", "gradient")

    @escaped
    def __str__(self) -> str:
        at = f" [{self.where}]" if self.where else ""
        if self.event_a < 0 or self.event_b < 0:
            return f"{SAID[self.kind]}, {self.text}{at}, is in {'b' if self.event_a < 0 else 'a'} only"
        when = "backward" if self.backward else self.kind if self.kind in ("hook", "step") else "forward"
        return (f"{when}: {self.text}{at} is the first that differs: "
                f"norm {told(self.a)} and {told(self.b)}, apart by {self.apart:.2g}")


class SideBySide:
    """Two recordings side by side.

    rows          of Beside, in order          first        the first that differs, or None
    steps         of each, None: all           rtol         as compare() got it
    differences   the marked rows              only_a, only_b   rows that one recording alone has
    """

    def __init__(self, a: Recording, b: Recording, steps: tuple[int | None, int | None], rtol: float, rows: list[Beside],
                 notes: list[str]) -> None:
        self.recordings = a, b
        self.steps = steps
        self.rtol = rtol
        self.rows = rows
        self.notes = notes
        self.titles = title(a, steps[0]), title(b, steps[1])
        self.first = next((row for row in rows if row.marked), None)

    @property
    def differences(self) -> list[Beside]:
        """The rows that differ."""
        return [row for row in self.rows if row.marked]

    @property
    def only_a(self) -> list[Beside]:
        """Events that the second recording lacks."""
        return [row for row in self.rows if row.event_b < 0]

    @property
    def only_b(self) -> list[Beside]:
        """Events that the first recording lacks."""
        return [row for row in self.rows if row.event_a < 0]

    def __bool__(self) -> bool:
        return self.first is not None

    @escaped
    def __str__(self) -> str:
        lines = ["a  " + self.titles[0], "b  " + self.titles[1],
                 "no difference" if self.first is None else str(self.first)]
        found = self.differences
        if found:
            lines.append(f"{len(found)} of {len(self.rows)} differ; {len(self.only_a)} are in a only, "
                         f"{len(self.only_b)} in b only")
            lines.append(f"  {'a':>11} {'b':>11} {'apart':>9}")
            lines += [f"  {told(r.a):>11} {told(r.b):>11} {r.apart:>9.2g}  {r.kind} {r.text}" for r in found[:SHOWN]]
            lines += [f"  and {len(found) - SHOWN} more"] if len(found) > SHOWN else []
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__

    @checked
    def to_html(self, path: FilePath, title: str | None = None) -> None:
        """Write the page of the first recording; it opens at the first difference, with all norms side by side.

        path   of the file
        title  of the page
        """
        from ..page.write import write_page
        write_page(self.recordings[0], path, title or "two recordings - retrograd", self)


@checked
def compare(a: Recording, b: Recording, step_a: int | None = None, step_b: int | None = None, *,
            rtol: float = RTOL) -> SideBySide:
    """Two recordings side by side: of two runs, a replay, two engines.

    a, b             Recordings, also from files and of two engines
    step_a, step_b   a training step of each, counted from 1, instead of all; compare(rec, rec, 1, 2): two steps of one
    rtol             relative difference up to which norms, minima and maxima count as equal
    ValueError if neither has operations or backward passes.
    """
    if not rtol >= 0:
        raise ValueError(f"compare: rtol must be 0 or more, not {rtol!r}")
    whole = a.engine == b.engine
    one, two = (list(entries(rec, step, whole)) for rec, step in ((a, step_a), (b, step_b)))
    if not one and not two:
        raise ValueError("compare: the recordings have neither operations nor backward passes to compare")
    rows = [beside(a, b, x, y, rtol) for x, y in aligned(one, two)]
    notes = [] if whole else [f"a is of {a.engine}, b of {b.engine}: operations and nodes of two engines are not compared"]
    notes += [f"nothing of {name} was measured (norms=False): only its structure is compared"
              for name, rec in (("a", a), ("b", b)) if not rec.header.get("norms", True)]
    notes += [f"{lost} events of {name} were dropped after its limit" for name, rec in (("a", a), ("b", b))
              if (lost := sum(rec.dropped.values()))]
    return SideBySide(a, b, (step_a, step_b), rtol, rows, notes)


def title(rec: Recording, step: int | None) -> str:
    text = " ".join(map(os.path.basename, rec.header.get("argv", [])[:1])) or "recording"
    return f"{text}, {rec.engine}, {rec.header.get('created', '')}" + ("" if step is None else f", step {step}")


Entry = tuple[Key, int, list[int]]      # what it is, the event, its values


def entries(rec: Recording, step: int | None, whole: bool) -> Iterator[Entry]:
    """What is compared of a recording.  whole: with operations and nodes"""
    first, end = 0, len(rec.rows)
    if step is not None:
        first, end, _ = numbered(rec, "compare", step)
    last: dict[int, int] = {}                           # tensor -> its last value
    for key, i, values in told_of(rec, first, end, whole, last):
        yield (*key, rec.modules[rec.events[i].module]["type"] if key[0] == "module" else ""), i, values


def told_of(rec: Recording, first: int, end: int, whole: bool, last: dict[int, int]) -> Iterator[
        tuple[tuple[str, str, str], int, list[int]]]:
    for i in range(end):
        event = rec.events[i]
        kind = event.kind
        if kind == "op":
            last.update(zip(event.outputs, event.values))
        if i < first:
            continue
        path = event.path or ""
        if kind == "op" and whole:
            yield ("operation", event.name, path), i, [v for v in event.values if v >= 0]
        elif kind == "exit" and event.facts is not None:
            yield ("module", path or "the model", path), i, [last[t] for t in event.facts["tensors"] if t in last]
        elif kind == "begin":
            yield ("loss", f"what {event.how}() was called on", ""), i, [last[t] for t in event.tensors if t in last]
        elif kind == "node" and whole:
            yield ("node", rec.node_rows[event.node][0], path), i, [v for v in event.outputs if v >= 0]
        elif kind == "accumulate":
            yield ("gradient", rec.name_of_tensor(event.tensor), ""), i, [v for v in (event.gradient,) if v >= 0]
        elif kind == "hook":
            hook = rec.hooks[event.hook]
            yield ("hook", f"{hook['name']} ({hook['kind'].replace('_', '-')} hook of {hook['on'] or 'the model'})", ""), i, [
                v for v in event.after or event.before or () if v >= 0]
        elif kind == "step":
            yield ("step", rec.name_of_optimizer(event.optimizer), ""), i, [v for v in event.after or () if v >= 0]


def aligned(one: list[Entry], two: list[Entry]) -> Iterator[tuple[Entry | None, Entry | None]]:
    """Pairs of entries with the same key, in order; what has no partner stands alone."""
    x, y = [e[0] for e in one], [e[0] for e in two]
    head = 0
    while head < min(len(x), len(y)) and x[head] == y[head]:
        head += 1
    tail = 0
    while tail < min(len(x), len(y)) - head and x[-1 - tail] == y[-1 - tail]:
        tail += 1
    yield from zip(one[:head], two[:head])
    between = x[head:len(x) - tail], y[head:len(y) - tail]
    matcher = SequenceMatcher(None, *between, autojunk=max(map(len, between)) > LARGE)
    for tag, i, j, k, n in matcher.get_opcodes():
        if tag == "equal":
            yield from zip(one[head + i:head + j], two[head + k:head + n])
        else:
            yield from ((e, None) for e in one[head + i:head + j])
            yield from ((None, e) for e in two[head + k:head + n])
    yield from zip(one[len(x) - tail:], two[len(y) - tail:])


def beside(a: Recording, b: Recording, x: Entry | None, y: Entry | None, rtol: float) -> Beside:
    kind, name, module, _ = (x or y or (("", "", "", ""), 0, []))[0]
    va, vb = ([rec.value(v) for v in e[2]] if e is not None else [] for rec, e in ((a, x), (b, y)))
    far = inf if x is None or y is None or len(va) != len(vb) else max((apart(v, w) for v, w in zip(va, vb)), default=0.0)
    where = line(a.events[x[1]]) if x is not None else line(b.events[y[1]]) if y is not None else None
    return Beside(kind, name, module, short(where) or None, total(va), total(vb), far, far > rtol,
                  -1 if x is None else x[1], -1 if y is None else y[1])


def line(event: Event) -> str | None:
    """Its line in the program; of a module's output, that of the operation that made it."""
    rec = event._rec
    made = -1
    if event.kind == "exit":
        made = max((rec.tensor_rows[t][1] for t in event.facts["tensors"]), default=-1)
    elif event.kind == "node":
        made = rec.node_rows[event.node][1]
    return event.where if made < 0 else rec.events[made].where


def total(values: list[Value | None]) -> float | None:
    found = [size(v) for v in values if v is not None and v.measured]
    return None if not found else sqrt(sum(n * n for n in found))


def size(v: Value) -> float:
    """Its norm; nan or inf when it has such numbers, which `norm` leaves out."""
    return nan if v.nans else inf if v.infs else v.norm


def apart(v: Value | None, w: Value | None) -> float:
    """How far two values are apart, in proportion to their size."""
    if v is None or w is None or v.shape != w.shape:
        return inf
    x, y = v.array, w.array
    if not (v.measured and w.measured):
        return 0.0 if x is None or y is None or np.array_equal(x, y) else inf
    if (v.nans, v.infs) != (w.nans, w.infs):
        return inf
    if x is not None and y is not None and v.finite:
        larger = max(v.norm, w.norm)
        return float(np.linalg.norm(np.asarray(x, y.dtype).ravel() - y.ravel())) / larger if larger else 0.0
    largest = max(abs(v.min), abs(v.max), abs(w.min), abs(w.max))
    return max(abs(v.norm - w.norm) / (max(v.norm, w.norm) or 1), abs(v.min - w.min) / (largest or 1),
               abs(v.max - w.max) / (largest or 1))


def told(x: float | None) -> str:
    return "none" if x is None else f"{x:.5g}"
