"""Where NaN, inf, vanishing and exploding numbers begin, in the forward and in the backward pass.

Every op, node and hook has a state, from what went in and what came out:

    clean        finite in, finite out
    born         finite in, NaN or inf out
    propagated   NaN or inf in and out
    read         of a node: finite gradient in, NaN or inf out, of NaN or inf that the forward pass left it
    healed       NaN or inf in, finite out
    masked       inf that was put in on purpose (a fill of -inf, as masks of attention have), passed on, or ended by softmax
    unknown      an input was not measured, or is memory that nobody wrote to
"""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

from ..plain_text import escaped
from ..record.recording import WIDTH, Event, Recording
from ..record.witness import CREATED, INPLACE, WANTS
from .gradient_paths import edges_of
from .graph_of import HANDED_ON

NORM, NANS, INFS = 1, 5, 6        # places among a value's WIDTH statistics, of which the first is the number of elements
VANISHED = 1e-7         # size of a gradient (root mean square) over the largest on its way from the loss
EXPLODED = 1e4          # over the least on its way
TINY, LARGE = 1e-12, 1e8        # sizes of activations
RAW = {"empty", "empty_like", "new_empty", "empty_strided", "new_empty_strided", "empty_permuted", "resize_"}
NOTHING = "nothing was recorded: no operation and no module ran while the recording was on"
ASKED = 50              # places where a gradient is small that are looked at closely, in a pass
ASSIGNS = {"__setitem__", "copy_backwards"}     # x[i] = y, as the engines record it
FILLS = {"full", "full_like", "new_full", "fill", "fill_", "masked_fill", "masked_fill_", "where", "triu", "tril", "tensor",
         "as_tensor", "scatter", "scatter_", "index_fill", "index_fill_", *ASSIGNS}
JOINED = HANDED_ON | FILLS | {"add", "add_", "sub", "sub_", "clone", "float", "minimum", "maximum", "clamp", "clamp_"}


@dataclass(frozen=True)
class Finding:
    """One point of trouble.

    kind       "nan", "inf", "vanishing", "exploding", "zero"
    direction  "forward" or "backward"
    state      "born", "healed", "propagated", "read"; "first" for sizes
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

    @escaped
    def __str__(self) -> str:
        return f"{self.direction}: {self.text}" + (f" [{self.where}]" if self.where else "")


class Trouble:
    """What `rec.trouble()` found, in order; false if it found nothing."""

    def __init__(self, findings: list[Finding], notes: list[str]) -> None:
        self.findings = findings
        self.notes = notes

    def __bool__(self) -> bool:
        return bool(self.findings)

    def __iter__(self) -> Iterator[Finding]:
        return iter(self.findings)

    def __len__(self) -> int:
        return len(self.findings)

    @escaped
    def __str__(self) -> str:
        fine = [] if NOTHING in self.notes else ["no NaN, no inf, nothing vanished or exploded"]
        said = Counter(map(str, self.findings))             # the same in several steps
        return "\n".join([*(once(text, n) for text, n in said.items()), *([] if said else fine), *self.notes])

    __repr__ = __str__


def once(text: str, n: int) -> str:
    """What was said n times."""
    return text if n == 1 else f"{text} ({n} times)"


def trouble(rec: Recording, *, vanished: float = VANISHED, exploded: float = EXPLODED) -> Trouble:
    """The first NaN or inf, vanishing and exploding point of each direction, and the hooks that made or hid NaN.

    vanished, exploded   root mean square of the gradient that arrives at a node, over the largest (least) on its way from the
                         loss, where a node's way is that of what contributed most; gradients of scalars do not count.
                         Vanished or exploded is only what leaves most parameters behind it with such gradients, too: the
                         first steps of a recurrent network may get little while its weights get enough, and the variance
                         in an RMS norm of small numbers gets much while nothing else does.
    """
    if not rec.header.get("norms", True):
        raise ValueError("trouble: the recording has no norms (norms=False)")
    notes = []
    if not any(True for _ in rec.of("op", "node", "enter", "step")):
        notes.append(NOTHING)
    elif not any(True for _ in rec.of("begin")):
        notes.append("no backward pass was recorded")
    if rec.dropped:
        notes.append(f"{sum(rec.dropped.values())} events were dropped after the limit, so there may be more")
    findings: list[Finding] = []
    seen: set[tuple[str, str]] = set()
    infs: dict[str, bool] = {}                          # direction -> is the first that went wrong inf?
    raw = unwritten(rec)
    for event, state, kind in states(rec, raw):
        direction = direction_of(event)
        if state in ("born", "read", "propagated"):
            infs.setdefault(direction, kind == "inf")
        if event.kind == "hook" and state in ("born", "healed"):
            findings.append(finding(rec, event, kind, direction, state))
        elif state == "born" and (direction, "born") not in seen:
            seen.add((direction, "born"))
            findings.append(finding(rec, event, kind, direction, state))
        elif state in ("propagated", "read") and not seen & {(direction, "born"), (direction, "came")}:
            seen.add((direction, "came"))
            findings.append(finding(rec, event, kind, direction, state))
        elif state == "propagated" and kind == "nan" and infs.get(direction) and (direction, "nan") not in seen:
            seen.add((direction, "nan"))
            findings.append(finding(rec, event, kind, direction, "became"))
        elif state == "healed" and (direction, "healed") not in seen:
            seen.add((direction, "healed"))
            findings.append(finding(rec, event, kind, direction, state))
    findings.extend(sizes(rec, raw | masks(rec), vanished, exploded))
    return Trouble(sorted(findings, key=lambda f: f.event), notes)


def direction_of(event: Event) -> str:
    return "forward" if event.kind == "op" or (event.kind == "hook" and event.get("pass") < 0) else "backward"


def odd(rec: Recording, values: Any) -> str | None:
    """'nan' or 'inf' if one of the values has such; '' if all are finite; None when one was not measured."""
    found = ""
    stats = rec.stats                           # not by rec.value(n): this is asked of every value several times
    for n in values:
        if n is None or n < 0 or stats[at := n * WIDTH] < 0:
            continue
        if stats[at + NANS]:
            return "nan"
        if stats[at + INFS]:
            found = "inf"
    return found


def states(rec: Recording, raw: set[int]) -> Iterator[tuple[Event, str, str]]:
    """(event, state, "nan" | "inf" | "") of every op, node and hook; raw: the ops that give memory nobody wrote to."""
    values: dict[int, int] = dict(rec.input_values)     # tensor -> its last value
    stepped: set[int] = set()
    for event in rec.of("step"):                        # what was read of a weight later says nothing of its first steps
        values.update({t: n for t, n in zip(event.tensors, event.before) if t not in stepped})
        stepped.update(event.tensors)
    forward: dict[int, str] = {}                        # op -> what went wrong in what its node may have saved
    # Tensors whose inf is there on purpose; from outside, those of inf and zeros: masks that are added
    masked: set[int] = {t for t, n in values.items() if (seen := rec.value(n)) is not None and seen.measured and (
        seen.infs > 0 and not seen.nans and abs(seen.infs + seen.zeros - 1) < 1e-9)}
    for event in rec.of("op", "node", "hook", "step"):
        if event.kind == "step":
            values.update(zip(event.tensors, event.after))
            continue
        if event.kind == "op":
            known = [values[t] for t in event.inputs if t in values]
            before = odd(rec, known)
            after = odd(rec, event.values)
            if event.number in raw:
                yield event, "unknown", ""
                continue
            values.update(zip(event.outputs, event.values))
            whole = len(known) == len(event.inputs)
            sources = [t for t in event.inputs if t in values and odd(rec, [values[t]])] if before else []
            meant = before == "inf" and all(t in masked for t in sources)
            masked.difference_update(event.outputs)
            if after == "inf" and (meant or (not before and (event.name in FILLS or event.flags & CREATED))):
                masked.update(event.outputs)
                forward[event.number] = "inf"
                yield event, "masked", "inf"
                continue
            if meant and not after:
                forward[event.number] = "inf"
                yield event, "masked", "inf"
                continue
            if meant and after == "nan":
                forward[event.number] = after
                yield event, "born", "nan"
                continue
            if before or after:
                forward[event.number] = after or before or ""
        elif event.kind == "node":
            before, after, whole = odd(rec, event.inputs), odd(rec, event.outputs), True
            if after and not before and (read := forward.get(rec.node_rows[event.node][1])):
                yield event, "read", read
                continue
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


def unwritten(rec: Recording) -> set[int]:
    """The ops that give memory nobody wrote to yet (empty, and views of it): what is in it says nothing."""
    found: set[int] = set()
    raw: set[int] = set()
    for event in rec.of("op"):
        if event.name in RAW or (event.name in HANDED_ON and any(t in raw for t in event.inputs)):
            found.add(event.number)
            raw.update(event.outputs)
        else:
            raw.difference_update(event.outputs)
    return found


def masks(rec: Recording) -> set[int]:
    """The ops that give large numbers put there on purpose, outside the graph or by a fill, or that join them to others.

    Masks of attention have such: -1e9, or the least number of their dtype.
    """
    found: set[int] = set()
    filled: set[int] = set()                            # tensors
    for event in rec.of("op"):
        meant = event.name in FILLS or not event.flags & WANTS or (
            event.name in JOINED and any(t in filled for t in event.inputs))
        for t, n in zip(event.outputs, event.values):
            size = size_of(rec, n)
            if meant and size is not None and size > LARGE:
                found.add(event.number)
                filled.add(t)
            else:
                filled.discard(t)
    return found


def what_of(rec: Recording, event: Event) -> str:
    if event.kind == "op":
        return "an assignment" if event.name in ASSIGNS else str(event.name)
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


def finding(rec: Recording, event: Event, kind: str, direction: str, state: str) -> Finding:
    what, path = what_of(rec, event), event.path
    place = f" in {path}" if path else ""
    name = {"nan": "NaN", "inf": "inf"}.get(kind, kind)
    text = ""
    if event.kind == "hook" and state == "healed":
        text = f"{what} hid {name}: it passed on finite values"
    elif state == "born" and what == "AccumulateGrad":          # it makes nothing: a flight did not measure what brought it
        text = f"{name} arrives at the gradient of a parameter"
    elif state == "born" and event.number in rec.header.get("unmeasured", ()):
        text = (f"the first {name} is seen at {what}{place}: either it made it, or it read it from a weight or a batch, "
                "which a flight does not measure")
    elif state == "born":
        text = f"the first {name} is made by {what}{place}, from {made_from(rec, event)}"
    elif state == "healed" and event.kind == "op" and event.name in HANDED_ON:
        text = f"{name} is not in what {what}{place} takes of it"
    elif state == "healed":
        text = f"{name} ends at {what}{place}: it turned it into finite values"
    elif state == "became":
        text, state = f"the inf has become NaN at {what}{place}", "propagated"
    elif state == "read":
        op = rec.node_rows[event.node][1]
        writer = None if op < 0 or kind != "inf" else writer_of_inf(rec, rec.events[op])
        text = f"{what}{place} reads {name} that {'the forward pass left it' if writer is None else put_there(rec, writer)}"
    elif state == "propagated":
        came = written(rec, event)
        text = f"{name} comes in with {came}, first read by {what}{place}" if came else (
            f"{name} comes in from outside the recording, first seen at {what}{place}")
    return Finding(kind, direction, state, event.number, what, path, where_of(rec, event), text)


def written(rec: Recording, event: Event) -> str:
    """The weight that an op reads and an optimizer has left NaN or inf; '' for none."""
    for step in reversed([e for e in rec.of("step") if e.number < event.number]) if event.kind == "op" else ():
        for t, n in zip(step.tensors, step.after):
            if t in event.inputs and odd(rec, [n]):
                at = f" [{step.where}]" if step.where else ""
                return f"{rec.name_of_tensor(t)}, as {rec.name_of_optimizer(step.optimizer)}.step() left it{at}"
    return ""


def made_from(rec: Recording, event: Event) -> str:
    """Of what NaN or inf was made."""
    if event.kind == "op":
        raw = unwritten(rec)
        if any(rec.tensor_rows[t][1] in raw for t in event.inputs):
            return "uninitialized memory (torch.empty)"
        writer = writer_of_inf(rec, event)
        if writer is not None:
            return f"inf that {put_there(rec, writer)}"
    return "finite inputs"


def put_there(rec: Recording, writer: Event) -> str:
    return f"{what_of(rec, writer)} put there" + (f" ({writer.where})" if writer.where else "")


def writer_of_inf(rec: Recording, reader: Event) -> Event | None:
    """The op that last wrote inf into what `reader` reads, or into a view of it."""
    base: dict[int, int] = {}                   # tensor -> the one whose memory it shows
    wrote: dict[int, Event | None] = {}         # of bases
    for event in rec.of("op"):
        if event.number >= reader.number:
            break
        for t, n in zip(event.outputs, event.values):
            edits = event.flags & INPLACE or event.name in ASSIGNS
            if (edits or event.name in HANDED_ON) and event.inputs and t not in event.inputs:
                base[t] = base.get(event.inputs[0], event.inputs[0])
                if not edits:
                    continue
            where = base.get(t, t)
            if t != where and odd(rec, [n]) != "inf" and wrote.get(where):
                continue                        # a finite part of it says nothing of the rest
            wrote[where] = event if odd(rec, [n]) == "inf" else None
    return next((e for t in reader.inputs if (e := wrote.get(base.get(t, t))) is not None), None)


def sizes(rec: Recording, passed_over: set[int], vanished: float, exploded: float) -> Iterator[Finding]:
    """The first activations, but for those of the ops passed over, and gradients of extreme size."""
    seen: set[str] = set()
    for event in rec.of("op"):
        for n in event.values if event.inputs and event.number not in passed_over else ():
            size = size_of(rec, n)
            if size is not None:
                kind = "vanishing" if 0 < size < TINY else "exploding" if size > LARGE else ""
                if kind and kind not in seen:
                    seen.add(kind)
                    yield sized(rec, event, kind, "forward", f"values of size {size:.2g} come out of")
    passes: dict[int, list[Event]] = {}
    for event in rec.of("node"):
        passes.setdefault(event.get("pass"), []).append(event)
    leaves: dict[int, dict[int, float | None]] = {}     # pass -> leaf -> size of its gradient
    for event in rec.of("accumulate") if passes else ():
        leaves.setdefault(event.get("pass"), {})[event.node] = size_of(rec, event.gradient)
    for number, runs in passes.items():
        yield from OnePass(rec, runs, leaves.get(number, {})).findings(vanished, exploded)
    dead = dead_ends(rec) if passes else set()
    done: set[int] = set()
    for n in sorted(dead):
        event = rec.events[n]
        came = [s for v in event.inputs if (s := size_of(rec, v)) is not None]
        if event.get("pass") not in done and came and max(came) > 0:
            done.add(event.get("pass"))
            yield sized(rec, event, "zero", "backward", "gradients become zero and stay zero to an end of the graph, at")


class OnePass:
    """The sizes of gradients in a backward pass."""

    def __init__(self, rec: Recording, runs: list[Event], leaves: dict[int, float | None]) -> None:
        self.rec = rec
        self.runs = runs
        self.into = edges_of(rec, [e._row for e in runs])
        self.event_of = {e.node: e for e in runs}
        self.leaves = leaves

    def findings(self, vanished: float, exploded: float) -> Iterator[Finding]:
        """The first that grew and the first that shrank, from the loss on."""
        rec = self.rec
        grew = shrank = False
        asked = 0
        ranges: dict[int, tuple[float, float]] = {}     # node -> least and largest on its way
        for e in self.runs:
            size = max((s for n in e.inputs if (s := self.size(n)) is not None), default=None)
            edges = self.into.get(e.node, [])
            via = max(edges, key=lambda edge: size_of(rec, edge[3]) or 0.0)[0] if edges else -1
            low, high = ranges.get(via, (float("inf"), 0.0))
            if size:
                handed = self.event_of.get(via, e)
                if not grew and size > exploded * low and asked < ASKED:
                    asked += 1
                    if self.most(e.node, exploded * low, inf):
                        grew = True
                        yield sized(rec, handed, "exploding", "backward",
                                    f"gradients grew to {size / low:.1g} times the smallest before, first at")
                if not shrank and size < vanished * high and asked < ASKED:
                    asked += 1
                    if self.most(e.node, 0.0, vanished * high):
                        shrank = True
                        yield sized(rec, handed, "vanishing", "backward",
                                    f"gradients shrank to {size / high:.1g} of the largest before, first at")
                low, high = min(low, size), max(high, size)
            ranges[e.node] = low, high
            if not grew and asked < ASKED:              # into a leaf of the same shape: a weight's is a sum over samples
                like = {rec.likes[rec.value_likes[n]][0] for n in e.inputs if n >= 0}
                handed_on = [s for n in e.outputs if n >= 0 and rec.likes[rec.value_likes[n]][0] in like
                             and (s := self.size(n)) is not None]
                if handed_on and max(handed_on) > exploded * low:
                    asked += 1
                    if self.most(e.node, exploded * low, inf):
                        grew = True
                        yield sized(rec, e, "exploding", "backward",
                                    f"gradients grew to {max(handed_on) / low:.1g} times the smallest before, first at")
            if not shrank and asked < ASKED:
                ends = [s for to in rec.node_rows[e.node][3] if to is not None and (s := self.leaves.get(to[0]))]
                if ends and min(ends) < vanished * high:
                    asked += 1
                    if self.most(e.node, 0.0, vanished * high):
                        shrank = True
                        yield sized(rec, e, "vanishing", "backward",
                                    f"gradients shrank to {min(ends) / high:.1g} of the largest before, first at")

    def size(self, n: int) -> float | None:
        """Of a gradient of more than one number."""
        return None if n < 0 or self.rec.stats[WIDTH * n] == 1 else size_of(self.rec, n)

    def most(self, node: int, low: float, high: float) -> bool:
        """Do most leaves behind a node get gradients of such a size in all, low <= size < high?"""
        seen, todo = {node}, [node]
        counts = [0, 0]
        while todo:
            for edge in self.rec.node_rows[todo.pop()][3]:
                if edge is not None and edge[0] not in seen:
                    seen.add(edge[0])
                    todo.append(edge[0])
                    size = self.leaves.get(edge[0])
                    if size is not None:
                        counts[not low <= size < high] += 1
        return counts[0] > counts[1]


def dead_ends(rec: Recording) -> set[int]:
    """The runs of nodes that hand on a zero to what gets nothing but zeros in the pass, down to an end of the graph.

    A zero that another way outweighs is no dead end: the steps of an LSTM whose last output alone is used get zeros from
    the stack of all outputs, and gradients from the step after them.
    """
    runs = list(rec.of("node"))
    ran = {(e.get("pass"), e.node) for e in runs}
    alive: dict[tuple[int, int], bool] = {}             # of a node in a pass: did it get something else than zeros?
    for e in runs:
        number = e.get("pass")
        for to, n in zip(rec.node_rows[e.node][3], e.outputs):
            if to is not None and n >= 0:
                key = number, to[0]
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
    if n is None or n < 0:
        return None
    stats, at = rec.stats, n * WIDTH
    count = stats[at]
    if count <= 0 or stats[at + NANS] or stats[at + INFS]:
        return None
    return float(stats[at + NORM]) / sqrt(count)
