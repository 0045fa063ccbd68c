"""What the page compares: any two steps of a recording, or a recording with another, as a whole or step by step.

The page chooses the pair, so it aligns events itself, as answers/side_by_side.py does; here is what it needs for that.
"""
from __future__ import annotations

import zlib
from math import inf, isfinite
from typing import Any

import numpy as np

from ..answers.compare import BY_FACTOR, FACTOR, KINDS, facts, first_step, short, spans
from ..answers.compare import title as title_of_step
from ..answers.side_by_side import LARGE, RTOL, SAID, SideBySide, entries, line, title
from ..record.recording import Recording, Value

ROOM = 200_000          # facts and events of all steps
PROBES = 4              # random vectors that stand for recorded arrays
EXACT = 1e-8            # below this rtol, numbers are written with all digits


class Table(dict[Any, int]):
    """What was numbered, in order."""

    def number(self, what: Any) -> int:
        return self.setdefault(what, len(self))


def pairs(rec: Recording, beside: SideBySide | None, left_out: list[str]) -> dict[str, Any]:
    """sides: of one recording, or two; names, keys, places, shapes: tables that they refer to.

    A side's steps are [title, first event, end, facts], facts being pairs, the place of a [kind, name] and a number; its
    entries [key, event, place, values], a key being [kind, name, module, type]; its values {number: [shape, statistics,
    what stands for the array]}.
    """
    one, two = beside.recordings if beside is not None else (rec, rec)
    steps = beside.steps if beside is not None else (None, None)
    rtol = beside.rtol if beside is not None else RTOL
    names, keys, places, shapes = Table(), Table(), Table(), Table()
    sides = [side(r, names, keys, places, shapes, one.engine == two.engine, rtol, beside is not None, left_out)
             for r in ([one] if one is two else [one, two])]
    counts = [len(its["steps"]) for its in (sides[0], sides[-1])]
    chosen = ([max(counts[0] - 2, 0), max(counts[0] - 1, 0)] if beside is None else
              [s - first_step(r) if s is not None and s - first_step(r) < n else None
               for s, n, r in zip(steps, counts, (one, two))])
    return {"kinds": KINDS, "byFactor": BY_FACTOR, "factor": FACTOR, "said": SAID, "large": LARGE, "rtol": rtol, "sides": sides,
            "names": list(names), "keys": list(keys), "places": list(places), "shapes": list(shapes), "chosen": chosen,
            "opened": beside is not None, "notes": beside.notes if beside is not None else []}


def side(rec: Recording, names: Table, keys: Table, places: Table, shapes: Table, whole: bool, rtol: float, two: bool,
         left_out: list[str]) -> dict[str, Any]:
    """What is compared of one recording."""
    found: dict[str, Any] = {"title": title(rec, None), "steps": [], "entries": [], "values": {}}
    if len(its := spans(rec)) < 2 and not two:
        return found
    room = ROOM
    for n, span in enumerate(its):
        of_step = facts(rec, span)
        room -= len(of_step)
        if room < 0:
            left_out.append(f"Only the first {n} of {len(its)} steps can be compared here; rec.compare compares all.")
            break
        found["steps"].append([title_of_step(rec, first_step(rec) + n, span), span.first, span.end,
                               [x for fact, size in of_step.items() for x in (names.number(fact), plain(size, 5))]])
    for key, event, values in entries(rec, None, whole):
        room -= 1
        if room < 0:
            left_out.append(f"Only events up to {event} are put side by side here; microscope.compare compares all.")
            break
        found["entries"].append([keys.number(key), event, places.number(short(line(rec.events[event]))), values])
        for v in values:
            if v not in found["values"]:
                found["values"][v] = told(Value(rec, v), shapes, 9 if rtol >= EXACT else 17)
    return found


def told(value: Value, shapes: Table, digits: int) -> list[Any]:
    """[shape, statistics or null, what stands for its array or null]"""
    stats = None
    if value.measured:
        stats = [value.nans, value.infs, *(plain(x, digits) for x in (value.norm, value.min, value.max))]
    array = value.array
    stands: Any = None
    if array is not None and not value.measured:
        stands = zlib.crc32(np.ascontiguousarray(array).tobytes())
    elif array is not None and value.finite:
        stands = [plain(x, 17) for x in sketch(array)]
    return [shapes.number("x".join(map(str, value.shape))), stats, stands]


def sketch(array: Any) -> Any:
    """Products with PROBES random vectors, the same for all arrays of a size: from two sketches their distance is estimated."""
    flat = np.asarray(array).reshape(-1)
    flat = flat.view(flat.real.dtype) if np.iscomplexobj(flat) else flat
    flat = flat.astype(float)
    return np.random.default_rng(len(flat)).standard_normal((PROBES, len(flat))) @ flat


def plain(x: float, digits: int) -> Any:
    """To so many digits, as JSON can hold it."""
    return float(f"{x:.{digits}g}") if isfinite(x) else {inf: "Infinity", -inf: "-Infinity"}.get(x, "NaN")
