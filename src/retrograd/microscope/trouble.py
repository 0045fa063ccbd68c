"""Where NaN, inf, vanishing and exploding numbers begin, in the forward and in the backward pass.

Every op, node and hook has a state, from what went in and what came out:

    clean        finite in, finite out
    born         finite in, NaN or inf out
    propagated   NaN or inf in and out
    healed       NaN or inf in, finite out
    unknown      an input was not measured
"""
from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import sqrt
from typing import Any

from .recording import Event, Recording

VANISHED = 1e-7         # size of a gradient (root mean square) over the largest before it in its pass
EXPLODED = 1e4
TINY, LARGE = 1e-12, 1e8        # sizes of activations


@dataclass(frozen=True)
class Finding:
    """One point of trouble.

    kind       "nan", "inf", "vanishing", "exploding", "zero"
    direction  "forward" or "backward"
    state      "born", "healed", "propagated"; "first" for sizes
    event      its number in the recording
    what, path, where   op, node or hook; module; file:line
    text       in a sentence
    """

    kind: str
    direction: str
    state: str
    event: int
    what: str
    path: str | None
    where: str | None
    text: str

    def __str__(self) -> str:
        return f"{self.direction}: {self.text}" + (f" [{self.where}]" if self.where else "")


class Trouble:
    """What `rec.trouble()` found, first things first.  False when there is none."""

    def __init__(self, findings: list[Finding], notes: list[str]) -> None:
        self.findings = findings
        self.notes = notes

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    def __str__(self) -> str:
        return "\n".join([*(map(str, self.findings) if self.findings else ["no NaN, no inf, nothing vanished or exploded"]),
                          *self.notes])

    __repr__ = __str__


def trouble(rec: Recording, *, vanished: float = VANISHED, exploded: float = EXPLODED) -> Trouble:
    """The first NaN or inf, vanishing and exploding point of each direction, and the hooks that made or hid NaN.

    vanished, exploded   a gradient's root mean square over the largest (least) one before it in its pass
    """
    if not rec.header.get("norms", True):
        raise ValueError("trouble: the recording has no norms (norms=False)")
    notes = []
    if rec.dropped:
        notes.append(f"{sum(rec.dropped.values())} events were dropped after the limit: there may be more")
    findings: list[Finding] = []
    seen: set[tuple[str, str]] = set()
    for event, state, kind in states(rec):
        direction = direction_of(rec, event)
        if event.kind == "hook" and state in ("born", "healed"):
            findings.append(finding(rec, event, kind, direction, state))
        elif state == "born" and (direction, "born") not in seen:
            seen.add((direction, "born"))
            findings.append(finding(rec, event, kind, direction, state))
        elif state == "propagated" and not seen & {(direction, "born"), (direction, "came")}:
            seen.add((direction, "came"))
            findings.append(finding(rec, event, kind, direction, state))
        elif state == "healed" and (direction, "healed") not in seen:
            seen.add((direction, "healed"))
            findings.append(finding(rec, event, kind, direction, state))
    findings.extend(sizes(rec, vanished, exploded))
    return Trouble(sorted(findings, key=lambda f: f.event), notes)


def direction_of(rec: Recording, event: Event) -> str:
    return "forward" if event.kind == "op" or (event.kind == "hook" and event.get("pass") < 0) else "backward"


def odd(rec: Recording, values: Any) -> str | None:
    """'nan' or 'inf' if one of the values has such; '' if all are finite; None when one was not measured."""
    found = ""
    for n in values:
        if n is None or n < 0:
            continue
        value = rec.value(n)
        if value is None or not value.measured:
            continue
        if value.nans:
            return "nan"
        if value.infs:
            found = "inf"
    return found


def states(rec: Recording) -> Iterator[tuple[Event, str, str]]:
    """(event, state, "nan" | "inf" | "") of every op, node and hook."""
    values: dict[int, int] = dict(rec.input_values)     # tensor -> its last value
    for event in rec.of("op", "node", "hook"):
        if event.kind == "op":
            before = "" if not event.inputs else None
            known = [values[t] for t in event.inputs if t in values]
            before = odd(rec, known)
            after = odd(rec, event.values)
            values.update(zip(event.outputs, event.values))
            whole = len(known) == len(event.inputs)
        elif event.kind == "node":
            before, after, whole = odd(rec, event.inputs), odd(rec, event.outputs), True
        else:
            before, after, whole = odd(rec, event.before), odd(rec, event.after or event.before), True
        if after and not before:
            yield event, "born", after
        elif after:
            yield event, "propagated", after
        elif before:
            finite_out = any(n >= 0 for n in (event.values if event.kind == "op" else event.outputs if event.kind == "node"
                                              else event.after))
            yield event, "healed" if finite_out else "clean", before
        else:
            yield event, "clean" if whole else "unknown", ""


def what_of(rec: Recording, event: Event) -> str:
    if event.kind == "op":
        return str(event.name)
    if event.kind == "node":
        return rec.node_rows[event.node][0]
    if event.kind == "accumulate":
        return rec.name_of_tensor(event.tensor)
    hook = rec.hooks[event.hook]
    return f"{hook['name']} ({hook['kind']} hook of {hook['on']})"


def where_of(rec: Recording, event: Event) -> str | None:
    if event.kind == "node":
        op = rec.node_rows[event.node][1]
        return None if op < 0 else rec.events[op].where
    if event.kind == "hook":
        return rec.where(rec.hooks[event.hook]["defined"])
    return event.where


def finding(rec: Recording, event: Event, kind: str, direction: str, state: str, text: str = "") -> Finding:
    what, path = what_of(rec, event), event.path
    place = f" in {path}" if path else ""
    name = {"nan": "NaN", "inf": "inf"}.get(kind, kind)
    if event.kind == "hook" and state == "healed":
        text = f"{what} hid {name}: finite values went on"
    elif state == "born":
        text = f"the first {name} is made by {what}{place}, from finite inputs"
    elif state == "healed":
        text = f"{name} ends at {what}{place}: finite values went on, but what they were made from was not"
    elif state == "propagated":
        text = f"{name} comes in from outside the recording, first seen at {what}{place}"
    return Finding(kind, direction, state, event.number, what, path, where_of(rec, event), text)


def sizes(rec: Recording, vanished: float, exploded: float) -> Iterator[Finding]:
    """The first activations and gradients of extreme size."""
    seen: set[tuple[str, str, int]] = set()
    largest: dict[int, float] = {}
    least: dict[int, float] = {}
    dead: set[int] | None = None
    for event in rec.of("op", "node"):
        if event.kind == "op":
            if not event.inputs:
                continue
            for n in event.values:
                size = size_of(rec, n)
                if size is None:
                    continue
                kind = "vanishing" if 0 < size < TINY else "exploding" if size > LARGE else ""
                if kind and ("forward", kind, 0) not in seen:
                    seen.add(("forward", kind, 0))
                    yield sized(rec, event, kind, "forward", f"values of size {size:.2g} come out of")
            continue
        number = event.get("pass")
        came = max((s for n in event.inputs if (s := size_of(rec, n)) is not None), default=None)
        if came:
            largest[number] = max(largest.get(number, 0.0), came)
            least[number] = min(least.get(number, came), came)
        for n in event.outputs:
            size = size_of(rec, n)
            if size is None or not came:
                continue
            if size == 0.0:
                if dead is None:
                    dead = dead_ends(rec)
                if event.number not in dead:
                    continue                            # another way brings a gradient to all that is behind
                kind, text = "zero", "gradients become zero, and stay so to an end of the graph, at"
            elif size < vanished * largest[number]:
                kind, text = "vanishing", f"gradients shrank to {size / largest[number]:.1g} of the largest before, first at"
            elif size > exploded * least[number]:
                kind, text = "exploding", f"gradients grew to {size / least[number]:.1g} times the least before, first at"
            else:
                continue
            if ("backward", kind, number) not in seen:
                seen.add(("backward", kind, number))
                yield sized(rec, event, kind, "backward", text)


def dead_ends(rec: Recording) -> set[int]:
    """The runs of nodes that hand on a zero to what gets nothing but zeros in the pass, down to an end of the graph.

    A zero that another way outweighs is no dead end: the steps of an LSTM whose last output alone is used get zeros from
    the stack of all outputs, and gradients from the step after them.
    """
    runs = list(rec.of("node"))
    ran = {(e.get("pass"), e.node) for e in runs}
    alive: dict[tuple[int, int], bool] = {}             # of a node in a pass: did it get something else than zeros?
    for e in runs:
        for to, n in zip(rec.node_rows[e.node][3], e.outputs):
            if to is not None and n >= 0:
                key = e.get("pass"), to[0]
                alive[key] = alive.get(key, False) or size_of(rec, n) != 0.0
    found: set[int] = set()
    lost: set[tuple[int, int]] = set()                  # nodes that lead to an end which gets zeros
    for e in reversed(runs):
        number = e.get("pass")
        for to, n in zip(rec.node_rows[e.node][3], e.outputs):
            if to is None or n < 0 or size_of(rec, n) != 0.0 or alive[number, to[0]]:
                continue
            if (number, to[0]) not in ran or (number, to[0]) in lost:
                found.add(e.number)
                lost.add((number, e.node))
    return found


def sized(rec: Recording, event: Event, kind: str, direction: str, text: str) -> Finding:
    what, path = what_of(rec, event), event.path
    return Finding(kind, direction, "first", event.number, what, path, where_of(rec, event),
                   f"{text} {what}" + (f" in {path}" if path else ""))


def size_of(rec: Recording, n: int) -> float | None:
    """Root mean square of a value; None when it was not measured or is not finite."""
    value = rec.value(n)
    if value is None or not value.measured or not value.finite:
        return None
    count = rec.stats[7 * n]
    return value.norm / sqrt(count) if count else None
