"""compare: what two steps of a recording have in common, and where they differ: loss, gradients, what ran, what was skipped.

A step (rounds.py) holds all since the one before.  Where gradients are cleared that no optimizer used, it was skipped.
"""
from __future__ import annotations

from dataclasses import dataclass
from math import inf, isfinite, log, nan, sqrt
from typing import Any, NamedTuple

from ..plain_text import escaped
from ..record.recording import POSITION, Recording
from ..record.witness import INPLACE
from ..rounds import Rounds
from .ledger import editing

# kinds of facts, in the order in which they are told, and what their numbers are
KINDS = {"loss": "the sum of what backward() was called on", "step": "how often it stepped",
         "learning rate": "as the step took it", "clipping": "norm of the gradients after it, over that before",
         "gradient": "norm, as the step found it", "hook": "firings", "module": "calls", "function": "runs in backward"}
BY_FACTOR = ("loss", "clipping", "gradient")    # differ always: marked where one is twice the other
FACTOR = 2.0
SHOWN = 12                                      # rows of a kind in a text

_AT = {kind: POSITION[kind] for kind in ("op", "begin", "accumulate", "step", "zero", "hook", "enter", "node")}

Fact = tuple[str, str]                          # (kind, name)


class Span(NamedTuple):
    """The events of one step: from `first` up to `end`, and which of them are steps of optimizers."""

    first: int
    end: int
    steps: tuple[int, ...]


def spans(rec: Recording) -> list[Span]:
    """The steps of a recording, in order."""
    rounds, found = Rounds(), dict[int, Span]()
    for part in parts_of(rec):
        cuts = [part.first, *part.steps[1:], part.end]
        for i, first, end in zip(part.steps, cuts, cuts[1:]):
            add(found, rounds.step(rec.rows[i][_AT["step"]["optimizer"]]), Span(first, end, (i,)))
        if not part.steps:
            add(found, rounds.now() if part.end == len(rec.rows) else rounds.skip(), part)
    return list(found.values())


def add(found: dict[int, Span], number: int, part: Span) -> None:
    its = found.get(number)
    found[number] = part if its is None else Span(its.first, part.end, its.steps + part.steps)


def parts_of(rec: Recording) -> list[Span]:
    """What ends where optimizers step, or gradients are cleared that none of them used."""
    found: list[Span] = []
    first, passes = 0, False
    steps: list[int] = []
    came: set[int] = set()                              # tensors with gradients that no step used yet
    over = -1                                           # when the first of `steps` ends; passes of closures come before
    for i, row in enumerate(rec.rows):
        kind = row[0]
        if kind == "begin":
            if steps and row[1] > over:
                done = [s for s in steps if row[1] > sum(rec.rows[s][1:3])]
                end = done[-1] + 1
                while end < i and rec.rows[end][1] <= sum(rec.rows[done[-1]][1:3]):
                    end += 1
                found.append(Span(first, end, tuple(done)))
                first, steps = end, steps[len(done):]
                over = sum(rec.rows[steps[0]][1:3]) if steps else -1
                came.clear()
            passes = True
        elif kind == "accumulate" and not steps:
            came.add(row[_AT["accumulate"]["tensor"]])
        elif kind == "step":
            over = over if steps else sum(row[1:3])
            steps.append(i)
        elif kind == "zero" and (not steps or row[1] <= over) and not came.isdisjoint(row[_AT["zero"]["tensors"]]):
            end = steps[0] if steps else i
            found.append(Span(first, end, ()))
            first, passes = end, False
            came.clear()
    if steps or passes:
        found.append(Span(first, len(rec.rows), tuple(steps)))
    return found


def facts(rec: Recording, span: Span) -> dict[Fact, float]:
    """What is compared of a step."""
    found: dict[Fact, float] = {}
    now: dict[int, int] = {}                            # parameter -> value of its .grad
    edits: dict[str, dict[int, list[int]]] = {}         # what edits gradients -> parameter -> [value before, after]

    def add(kind: str, name: str, amount: float = 1) -> None:
        found[kind, name] = found.get((kind, name), 0) + amount

    for i in range(span.first, span.end):
        row = rec.rows[i]
        kind, at = row[0], _AT.get(row[0], {})
        if kind == "begin" and row[at["how"]] == "backward":
            place = rec.where(row[at["site"]])
            for t in row[at["tensors"]]:
                size = amount(rec, made(rec, t), whole=True)
                if size is not None:
                    add("loss", "loss" + (f" ({short(place)})" if place else ""), size)
        elif kind == "accumulate":
            value = row[at["now"]]
            now[row[at["tensor"]]] = value if value >= 0 else row[at["gradient"]]
        elif kind == "op" and row[at["flags"]] & INPLACE:
            for t, value in zip(row[at["outputs"]], row[at["values"]]):
                of = rec.tensor_names.get(t, {})
                if of.get("role") == "grad" and of.get("of", -1) in now:
                    p, site = of["of"], row[at["site"]]
                    op = row[at["name"]]
                    name = (editing(rec, site, op) or op) + (f" ({short(rec.where(site))})" if site >= 0 else "")
                    edits.setdefault(name, {}).setdefault(p, [now[p], value])[1] = value
                    now[p] = value
        elif kind == "step":
            add("step", rec.name_of_optimizer(row[at["optimizer"]]))
            for k, rate in enumerate(row[at["rates"]] or ()):
                found["learning rate", rec.name_of_optimizer(row[at["optimizer"]]) + (f", group {k}" if k else "")] = rate
            now.update((t, g) for t, g in zip(row[at["tensors"]], row[at["gradients"]]) if g >= 0)
        elif kind == "hook":
            hook = rec.hooks[row[at["hook"]]]
            add("hook", f"{hook['name']} ({hook['kind'].replace('_', '-')} hook of {hook['on'] or 'the model'})")
        elif kind == "enter":
            module = rec.modules[row[at["module"]]]
            add("module", module["path"] or f"the model ({module['type']})")
        elif kind == "node":
            add("function", rec.node_rows[row[at["node"]]][0])
    for name, changed in edits.items():
        before, after = (total(rec, [pair[k] for pair in changed.values()]) for k in (0, 1))
        if before and after is not None:
            found["clipping", name] = after / before
    for t, value in now.items():
        size = amount(rec, value)
        if size is not None:
            found["gradient", rec.name_of_tensor(t)] = size
    return found


def made(rec: Recording, t: int) -> int:
    """The value of a tensor as the op that made it left it; -1 where unknown."""
    by = rec.tensor_rows[t][1]
    if by < 0 or rec.rows[by][0] != "op":
        return -1
    row, at = rec.rows[by], _AT["op"]
    return next((v for o, v in zip(row[at["outputs"]], row[at["values"]]) if o == t), -1)


def amount(rec: Recording, value: int, whole: bool = False) -> float | None:
    """The norm of a value, with `whole` a single number itself; NaN or inf where it has some, None where nobody measured."""
    v = rec.value(value)
    if v is None or not v.measured:
        return None
    if not v.finite:
        return nan if v.nans else inf
    return v.min if whole and v.shape == () else v.norm


def total(rec: Recording, values: list[int]) -> float | None:
    """The norm of all of them."""
    sizes = [amount(rec, v) for v in values]
    return None if None in sizes else sqrt(sum(s * s for s in sizes if s is not None))


def short(place: str | None) -> str:
    """file:line without folders."""
    return (place or "").replace("\\", "/").rpartition("/")[2]


def title(rec: Recording, number: int, span: Span) -> str:
    """A step in a few words."""
    names = dict.fromkeys(rec.events[i].label for i in span.steps)
    place = rec.events[span.steps[-1]].where if span.steps else None
    return f"step {number}: " + (", ".join(names) or "no optimizer stepped") + (f", {short(place)}" if place else "")


@dataclass(frozen=True)
class Row:
    """One fact of two steps.

    kind    of KINDS      name    what it is about
    a, b    its numbers; None where the step has none: it was skipped, did not run, got no gradient
    size    of the difference: |log(b / a)|, inf where one is missing, 0 or not finite and the other is not
    marked  is it one to look at?  Norms and losses differ always: one is to be twice the other, at least
    """

    kind: str
    name: str
    a: float | None
    b: float | None
    size: float
    marked: bool

    @property
    def ratio(self) -> float | None:
        """b / a."""
        return None if not self.a or self.b is None else self.b / self.a


class Comparison:
    """Two steps side by side: all `rows`, and the marked ones in `differences`; str() gives tables."""

    def __init__(self, titles: tuple[str, str], rows: list[Row], notes: list[str]) -> None:
        self.titles = titles
        self.rows = rows
        self.notes = notes

    @property
    def differences(self) -> list[Row]:
        """The rows that are marked."""
        return [r for r in self.rows if r.marked]

    @escaped
    def __str__(self) -> str:
        lines = ["a  " + self.titles[0], "b  " + self.titles[1]]
        for kind, says in KINDS.items():
            rows = [r for r in self.rows if r.kind == kind]
            if not rows:
                continue
            marked = sum(r.marked for r in rows)
            lines += ["", f"{kind} ({says})" + (f": {marked} of {len(rows)} differ" if marked else ""),
                      f"  {'a':>11} {'b':>11} {'b / a':>9}"]
            lines += [f"{'*' if r.marked else ' '} {told(r.a):>11} {told(r.b):>11} {told(r.ratio, ''):>9}  {r.name}"
                      for r in rows[:SHOWN]]
            if len(rows) > SHOWN:
                lines.append(f"  and {len(rows) - SHOWN} more" + (
                    f", {more} of them marked" if (more := sum(r.marked for r in rows[SHOWN:])) else ""))
        if not self.rows:
            lines.append("nothing to compare: no norms, calls or backward nodes were recorded")
        return "\n".join([*lines, *self.notes])

    __repr__ = __str__


def told(x: float | None, missing: str = "none") -> str:
    return missing if x is None else f"{x:.4g}"


def row_of(fact: Fact, a: float | None, b: float | None) -> Row:
    kind, name = fact
    size = size_of(a, b)
    return Row(kind, name, a, b, size, size >= log(FACTOR) if kind in BY_FACTOR else size > 0)


def size_of(a: float | None, b: float | None) -> float:
    if a is None or b is None:
        return inf
    if not (isfinite(a) and isfinite(b)):
        return 0.0 if repr(a) == repr(b) else inf
    if a == b:
        return 0.0
    return abs(log(b / a)) if a and b and (a > 0) == (b > 0) else inf


def compare(rec: Recording, a: int, b: int) -> Comparison:
    """Two steps of a recording, counted from 1, of a flight by its numbers.  ValueError when there is no such step."""
    spans_of = {number: numbered(rec, "compare", number) for number in (a, b)}
    one, two = (facts(rec, spans_of[number]) for number in (a, b))
    order = {kind: i for i, kind in enumerate(KINDS)}
    rows = [row_of(fact, one.get(fact), two.get(fact)) for fact in dict.fromkeys((*one, *two))]
    rows.sort(key=lambda r: (order[r.kind], not r.marked, -r.size))
    lost = sum(rec.dropped.values())
    notes = [f"{lost} events were dropped after the limit: a step may be incomplete"] if lost else []
    return Comparison((title(rec, a, spans_of[a]), title(rec, b, spans_of[b])), rows, notes)


def first_step(rec: Recording) -> int:
    """The number of the first step: a flight forgets those before."""
    return int(next(iter(rec.header.get("steps", ())), 1))


def numbered(rec: Recording, asked: str, number: Any) -> Span:
    """The step of this number.  ValueError, in the name of the function that was `asked`, where there is none."""
    found, first = spans(rec), first_step(rec)
    if type(number) is not int or not first <= number < first + len(found):
        raise ValueError(f"{asked}: {number!r} is not a step; " + (
            f"steps go from {first} to {first + len(found) - 1}" if found else
            "the recording has no backward pass and no optimizer step"))
    return found[number - first]


def titles(rec: Recording) -> list[str]:
    """All steps, each in a few words."""
    return [title(rec, n, span) for n, span in enumerate(spans(rec), first_step(rec))]
