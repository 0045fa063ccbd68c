"""The ledger of a gradient: every term it is the sum of.

    .grad of a leaf = what was there
                    + a contribution per use (an edge of the graph into the leaf)
                    + what each hook changed
                    + what clipping, scaling, assignment and other edits of .grad changed
                    + what changed it out of the recorder's sight, if anything did

The last line is a difference and not a guess: at every step of an optimizer, and at the end, .grad is read as it is.  So the
terms always sum to .grad, up to rounding; `check()` says by how much.
"""
from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from ..plain_text import escaped, meant, table
from ..record.recording import KINDS, POSITION, WIDTH, Event, Recording
from ..record.trace_file import source_line
from ..record.witness import INPLACE
from .gradient_paths import Way, edges_in, ways_to
from .graph_of import HANDED_ON, Links, links
from .parallel import is_sharded

# Functions that edit gradients, and by which ops: names without _foreach_ before and _ behind them
EDITING = {
    "clip_grad_norm_": ("mul", "div"), "clip_grads_with_norm_": ("mul", "div"),
    "unscale_": ("mul", "_amp_foreach_non_finite_check_and_unscale"),
    "clip_grad_value_": ("clamp", "clamp_min", "clamp_max"),
}


@dataclass(slots=True)
class Entry:
    """One term.

    kind    "use", "hook", "there" (.grad before the pass), "edit" (clipping, unscaling, an op on .grad, another
            tensor assigned to it), "unseen",
            "zero" (zero_grad() set it to None: takes away all before it, and nothing came after)
    text    what it is
    pass_   the backward pass, 0 outside
    where   file:line: of a use the op's, of a hook its definition, of an edit the line
    path    of a use: modules and ops from the use to the loss
    value   what it adds, an array; None when values were not kept
    norm    of value, or the recorded norm of a contribution; None where unknown
    ways    of a use whose gradient came several ways (residual connections): each, in short; see ways.py
    """

    kind: str
    text: str
    pass_: int
    where: str | None
    path: tuple[str, ...]
    value: Any
    norm: float | None
    ways: tuple[Way, ...] = ()


class Ledger:
    """The terms of one gradient, in order of arrival.  str() gives a table."""

    def __init__(self, name: str, entries: list[Entry], grad: Any, whole: bool) -> None:
        self.name = name
        self.entries = entries
        self.grad = grad                        # .grad as it is now, or as it was last seen; None where unknown
        self.whole = whole                      # are all values there?

    @property
    def total(self) -> Any:
        """The sum of all terms; None when values were not kept, or nothing came."""
        values = [e.value for e in self.entries if e.value is not None]
        return sum(values[1:], values[0]) if values and self.whole else None

    @property
    def uses(self) -> list[Entry]:
        """The contributions."""
        return [e for e in self.entries if e.kind == "use"]

    def check(self) -> float:
        """Largest difference between the sum of the terms and .grad, over the largest number in .grad."""
        total = self.total
        if total is None or self.grad is None:
            raise ValueError(f"ledger of {self.name}: no values to check; record(values='parameters') keeps them, within "
                             "limit= and max_bytes=")
        scale = max(float(np.max(np.abs(e.value), initial=0)) for e in self.entries)
        return float(np.max(np.abs(total - self.grad), initial=0)) / (scale or 1.0)

    def rows(self, ways: bool = False) -> list[dict[str, Any]]:
        """The terms as dicts, for a table or a data frame; with `ways`, each use is followed by its ways, of kind "way"."""
        found = []
        for e in self.entries:
            found.append({"pass": e.pass_, "kind": e.kind, "what": e.text, "path": " < ".join(e.path), "where": e.where,
                          "norm": e.norm})
            for w in e.ways if ways else ():
                came = "" if w.norm is not None or w.arrived is None else f"{w.arrived:.4g} where the ways meet"
                found.append({"pass": e.pass_, "kind": "way", "what": came, "path": " < ".join(w.path), "where": None,
                              "norm": w.norm})
        return found

    def _repr_html_(self) -> str:
        rows = [(row["pass"], row["kind"], row["what"], row["path"], row["where"] or "",
                 "?" if row["norm"] is None else f"{row['norm']:.4g}") for row in self.rows(ways=True)]
        return table(("pass", f"{self.name}.grad is the sum of", "", "path to the loss", "line", "norm"), rows)

    @escaped
    def __str__(self) -> str:
        lines = [f"{self.name}.grad is the sum of"]
        for e in self.entries:
            norm = "        ?" if e.norm is None else f"{e.norm:9.4g}"
            path = "  via " + " < ".join(e.path) if e.path else ""
            place = f"  [{e.where}]" if e.where else ""
            lines.append(f"  pass {e.pass_}  {e.kind:6} {norm}  {e.text}{path}{place}")
            for w in e.ways:
                norm = f"({w.arrived or 0:8.4g})" if w.norm is None else f"{w.norm:9.4g} "
                lines.append(f"            way  {norm}   {' < '.join(w.path)}")
        if not self.entries:
            lines.append("  nothing: no gradient arrived")
        if not self.whole:
            lines.append("  (norms only: values were not kept; record(values='parameters') keeps them)")
        elif self.grad is not None and self.entries:
            lines.append(f"  total {float(np.linalg.norm(self.total)):.6g}, .grad {float(np.linalg.norm(self.grad)):.6g}, "
                         f"relative difference {self.check():.1e}")
        return "\n".join(lines)

    __repr__ = __str__


def ledger(rec: Recording, p: Any) -> Ledger:
    """The ledger of a tensor, or of a parameter by name."""
    n = rec.number_of(p)
    if n is None:
        raise KeyError(f"ledger: the recording has no {repr(p) if isinstance(p, str) else 'such tensor'}; "
                       f"{meant(p if isinstance(p, str) else '', list(rec.parameters))}")
    if not rec.header.get("nodes", True):
        raise ValueError("ledger: the recording has no backward nodes (nodes=False)")
    return Book(rec, n).write(None if isinstance(p, str) else p)


class Book:
    """Writes the entries of one tensor."""

    def __init__(self, rec: Recording, n: int) -> None:
        self.rec = rec
        self.n = n
        self.name = rec.name_of_tensor(n)
        self.shape = rec.tensor(n)["shape"]
        self.link: Links = links(rec)
        self.entries: list[Entry] = []
        self.running: Any = None                # the sum so far
        self.whole = True
        self.edits: list[tuple[str, str | None]] = []   # (text, line): of which no numbers are known yet
        self.seen: Any = None                   # the norm of .grad when it was last seen, where there are no numbers

    def write(self, p: Any) -> Ledger:
        """The ledger; p is the live tensor, if there is one."""
        rec, n = self.rec, self.n
        leaves = set(self.link.leaves.get(n, ()))
        edge = rec.tensor_edges.get(n)
        if not leaves and edge is None:
            return Ledger(self.name, [], None, True)
        grads = self.link.grads.get(n, set())
        places = dict(self.link.stepped.get(n, ()))
        parts: dict[int, list[Event]] = {}              # pass -> contributions and hooks, to be assigned
        steps: list[tuple[int, Event]] = []             # (time, event): arrivals, edits, clearings
        node_at, pass_at = POSITION["node"]["node"], POSITION["node"]["pass"]
        for i in self.candidates(leaves, grads, edge):
            row = rec.rows[i]
            kind, event = row[0], KINDS[row[0]](rec, i, row)
            if kind == "node":
                if not leaves and row[node_at] == edge[0]:      # type: ignore[index]
                    steps.append((event.t + event.dt, event))
                for e in rec.node_rows[row[node_at]][3]:
                    if e is not None and (e[0] in leaves or e == edge):
                        parts.setdefault(row[pass_at], []).append(event)
                        break
            elif kind == "hook":
                if event.changed is not False and self.concerns(event, leaves, edge):
                    parts.setdefault(event.get("pass"), []).append(event)
            elif kind == "accumulate":
                if event.tensor == n:
                    steps.append((event.t + event.dt, event))
            elif kind == "op":
                if event.flags & INPLACE and grads.intersection(event.outputs):
                    steps.append((event.t, event))
            elif kind == "step" or event.to_none:
                steps.append((event.t, event))
        last, before = -1, -1
        sharded = is_sharded(rec, self.name)
        for time, event in sorted(steps, key=lambda s: s[0]):
            if event.kind == "step" and sharded:
                if self.entries:                        # the ledger is of the whole gradient that this rank brought
                    self.add("edit", "0: FSDP2 averages the sum over the ranks; .grad is this rank's shard of that", 0,
                             event.where, None if self.running is None else np.zeros_like(self.running))
                continue
            if event.kind == "step":
                last = self.read(event.gradients[places[event.number]], before, event.number, grads, "here and this step",
                                 event.where)
                before = event.number
                continue
            if event.kind == "zero":
                if self.entries and self.entries[-1].kind != "zero":
                    self.add("zero", f"zero_grad() of {event.owner} set .grad to None", 0, event.where,
                             None if self.running is None or not self.whole else -self.running)
                last = -1
                continue
            if self.entries and self.entries[-1].kind == "zero":
                self.clear()                            # a new sum begins
            before = event.number
            if event.kind == "op":
                last = event.values[next(i for i, t in enumerate(event.outputs) if t in grads)]
                self.edits.append((self.named(event), event.where))
                self.edited(last)
            else:
                its = parts.pop(event.get("pass"), [])
                mine = [e for e in its if e.t <= time]
                parts[event.get("pass")] = [e for e in its if e.t > time]
                last = self.arrival(event, mine, leaves, edge)
        known = rec.tensor_names.get(n, {})
        at_end = None if sharded else -1 if known.get("empty") else known.get("at_end")
        if leaves and at_end is not None and self.entries:
            last = self.read(at_end, before, len(rec.rows), grads, "here and the end", None)
        grad = self.array(last)
        if p is not None and leaves and rec.live is not None and self.entries and not sharded:
            live = p.grad
            grad = None if live is None else next(
                t for t in rec.live.taps if isinstance(p, t.Tensor)).array_of(live)
            if grad is not None and self.entries[-1].kind == "zero":
                self.clear()
                self.add("there", "what .grad holds; nothing in the recording put it there", 0, None, grad)
            self.compare(grad, 0)
        return Ledger(self.name, self.entries, grad, self.whole)

    def read(self, now: int, since: int, until: int, grads: set[int], until_what: str, where: str | None) -> int:
        """.grad was read as it was, which is value `now`; since, until: the events between which it may have been changed."""
        if not self.entries or self.entries[-1].kind == "zero":
            return now
        assigned = next((e.where for e in reversed(self.link.notes.get(str(self.n), ())) if e.what == "assigned"
                         and since < e.number < until), None)
        if now < 0:
            self.edits.clear()
            self.add("zero", ".grad was set to None" + ("" if assigned else f" between {until_what}"), 0, assigned or where,
                     None if self.running is None or not self.whole else -self.running)
            return now
        seen = self.seen
        self.edited(now, final=True)
        rec, array, norm = self.rec, self.array(now), self.norm(now)
        if array is not None and self.running is not None and self.whole:
            changed = array.shape == self.running.shape and not same(self.running, array)
            array = array - self.running
        else:
            changed = norm is not None and seen is not None and abs(norm - seen) > 1e-4 * max(norm, seen)
            array = None
        if changed:
            made = [i for i in (rec.tensor_rows[t][1] for t in grads) if since < i < until and rec.rows[i][0] == "op"
                    and not rec.events[i].flags & INPLACE]
            alias = [o for t in grads for i in self.link.uses.get(t, ()) if rec.events[i].name in HANDED_ON
                     for o in rec.events[i].outputs]
            written = [i for o in alias for i in self.link.uses.get(o, ()) if since < i < until and rec.events[i].flags & INPLACE]
            if made or written:
                op = rec.events[max((*made, *written))]
                what = "written into memory shared with .grad" if op.number in written else "assigned to .grad"
                self.add("edit", f"{op.name}, {what}", 0, op.where, array)
            elif assigned:
                self.add("edit", "another tensor, assigned to .grad", 0, assigned, array)
            else:
                self.add("unseen", f"an edit between {until_what} that the recorder did not see", 0, where, array)
        if array is not None:
            self.running = self.array(now)
        return now

    def edited(self, now: int, final: bool = False) -> None:
        """Ops on .grad, whose value is `now` then: enter them, together where there are no numbers in between."""
        after = self.array(now)
        if self.edits and (after is not None or final or not self.rec.arrays):
            self.add("edit", ", ".join(dict.fromkeys(text for text, _ in self.edits)), 0, self.edits[0][1],
                     None if after is None or self.running is None or not self.whole else after - self.running)
            self.edits.clear()
            if after is not None and self.whole:
                self.running = after            # without the rounding of the sum
        self.seen = self.norm(now)

    def named(self, event: Event) -> str:
        """An op on .grad, by the function that was called for it."""
        name = editing(self.rec, event.site, event.name)
        return f"{name} ({event.name} on .grad)" if name else f"{event.name} on .grad"

    def candidates(self, leaves: set[int], grads: set[int], edge: Any) -> list[int]:
        """The events that can concern our tensor, in order."""
        link = self.link
        ends = leaves | ({edge[0]} if edge is not None else set())
        nodes = ends.union(*(link.above.get(node, ()) for node in ends))
        found = {*(i for i, _ in link.stepped.get(self.n, ()))}
        found |= {*link.arrived.get(self.n, ()), *link.cleared.get(self.n, ()), *link.on_tensor.get(self.n, ())}
        found.update(*(link.edits.get(t, ()) for t in grads))
        for node in nodes:
            found.update(link.runs.get(node, ()), link.on_node.get(node, ()))
        return sorted(found)

    def concerns(self, event: Event, leaves: set[int], edge: Any) -> bool:
        """Is this a hook that changes what comes to our tensor?"""
        hook = self.rec.hooks[event.hook]
        kind = hook["kind"]
        if kind in ("tensor", "post_accumulate"):
            return bool(hook["owner"] == self.n)
        if kind == "node_pre":
            return event.node in leaves
        return bool(kind == "node_post" and event.node >= 0 and any(
            e is not None and (e[0] in leaves or e == edge) for e in self.rec.node_rows[event.node][3]))

    def arrival(self, event: Event, parts: list[Event], leaves: set[int], edge: Any) -> int:
        """A pass brought its gradient: what was there, the uses, the hooks.  -> the number of the value afterwards"""
        number = event.get("pass")
        leaf = event.kind == "accumulate"
        if leaf:
            if event.had < 0:
                self.clear()
            elif self.entries:
                self.edited(event.had, final=True)
                self.compare(self.array(event.had), number)
            else:
                self.add("there", "what .grad held before", number, None, self.array(event.had), self.norm(event.had))
        for e in parts:
            if e.kind == "node":
                self.uses(e, leaves, edge)
        hooks = [e for e in parts if e.kind == "hook"]
        for e in sorted(hooks, key=lambda e: self.rec.hooks[e.hook]["kind"] == "post_accumulate"):
            self.hook(e, leaves, edge)
        if not leaf:
            return int(event.inputs[edge[1]]) if edge[1] < len(event.inputs) else -1
        if event.now < 0:
            self.clear()
        else:
            self.compare(self.array(event.now), number)
            self.seen = self.norm(event.now)
        return int(event.now)

    def uses(self, event: Event, leaves: set[int], edge: Any) -> None:
        """What a node handed to our tensor."""
        name, op, _, edges, _ = self.rec.node_rows[event.node]
        where, text = None, name
        if op >= 0:
            made = self.rec.events[op]
            where = made.where
            text = f"{name} of {made.get('name', made.kind)}" + (f" in {made.path}" if made.path else "")
            module = made.get("module", -1)
            if module is not None and module >= 0 and self.rec.modules[module]["calls"] > 1:
                text += f", call {made.call}"
        number = event.get("pass")
        for i, (to, value) in enumerate(zip(edges, event.outputs)):
            if to is not None and (to[0] in leaves or to == edge) and value >= 0:
                array = self.array(value)
                self.add("use", text, number, where, array, self.norm(value), self.path(event.node, number))
                self.entries[-1].ways = self.ways(event, i, array)

    def ways(self, event: Event, i: int, value: Any) -> tuple[Way, ...]:
        """The ways to input i of a node, where there are several."""
        found = []
        number = event.get("pass")
        for via, met, at_end in ways_to(self.rec, self.link, number, event.node, i):
            array = self.array(at_end)
            found.append(Way(self.path(via, number), self.norm(met), array,
                             None if array is None else float(np.linalg.norm(array))))
        if found and value is not None and all(w.value is not None for w in found):
            total = sum((w.value for w in found[1:]), found[0].value)
            if total.shape == value.shape and not same(total, value):
                rest = value - total
                found.append(Way(("hooks between",), None, rest, float(np.linalg.norm(rest))))
        return tuple(found)

    def hook(self, event: Event, leaves: set[int], edge: Any) -> None:
        """What a hook changed."""
        hook = self.rec.hooks[event.hook]
        at = [0]
        if hook["kind"] == "node_post":
            at = [i for i, e in enumerate(self.rec.node_rows[event.node][3])
                  if e is not None and (e[0] in leaves or e == edge)]
        for i in at:
            if i >= len(event.before) or i >= len(event.after) or event.before[i] == event.after[i]:
                continue
            a, b = self.array(event.before[i]), self.array(event.after[i])
            if event.after[i] < 0:
                continue                        # cleared: the arrival says so
            self.add("hook", f"{hook['name']} ({hook['kind'].replace('_', '-')} hook)", event.get("pass"),
                     self.rec.where(hook["defined"]), None if a is None or b is None else b - a)

    def compare(self, now: Any, number: int) -> None:
        """.grad is now this: is it what the entries come to?"""
        if now is None or not self.whole or self.running is None:
            return
        if now.shape == self.running.shape and not same(self.running, now):
            self.add("unseen", "changed by something the recorder did not see", number, None, now - self.running)

    def clear(self) -> None:
        """.grad is None: the sum starts anew."""
        self.entries.clear()
        self.edits.clear()
        self.running, self.whole = None, True

    def add(self, kind: str, text: str, number: int, where: str | None, value: Any, norm: float | None = None,
            path: tuple[str, ...] = ()) -> None:
        if value is None:
            self.whole = False
        else:
            norm = sqrt(np.vdot(value, value).real) if value.dtype.kind in "fc" else float(np.linalg.norm(value))
            self.running = value if self.running is None else self.running + value
        self.entries.append(Entry(kind, text, number, where, path, value, norm))

    def array(self, value: int) -> Any:
        """The numbers of a value; None when they were not kept, or are of a time at which the tensor had another shape."""
        found = self.rec.arrays.get(value)
        return None if found is None or found.shape != self.shape else found

    def norm(self, value: int) -> float | None:
        stats = self.rec.stats
        return stats[value * WIDTH + 1] if value >= 0 and stats[value * WIDTH] >= 0 else None

    def path(self, node: int, number: int) -> tuple[str, ...]:
        """From a use to the loss of a pass: modules, or ops outside of them; '(n ways)' where they part."""
        into = edges_in(self.rec, self.link, number)
        known: dict[int, tuple[int, tuple[str, ...], tuple[str, ...]]] = self.link.paths.setdefault(number, {})
        chain: list[int] = []
        count = 0
        first: tuple[str, ...] = ()
        last: tuple[str, ...] = ()
        for _ in range(len(self.rec.node_rows)):
            if node in known:
                count, first, last = known[node]
                break
            chain.append(node)
            ways = list(dict.fromkeys([edge[0] for edge in into.get(node, ())]))    # x * x hands on twice: one way
            if len(ways) > 1:
                count, first = 1, (f"({len(ways)} ways)",)
                last = first
            if len(ways) != 1:
                break
            node = ways[0]
        for node in reversed(chain):            # the way of a node is its own step and the way of the next
            name, op, *_ = self.rec.node_rows[node]
            place = None if op < 0 else self.rec.events[op]
            label = name if place is None else place.path or place.get("name", "") or "(model)"
            if label and first[:1] != (label,):
                count, first, last = count + 1, (label, *first[:7]), last if count > 2 else (label, *last)
            known[node] = count, first, last
        return (*first[:4], "...", *last) if count > 8 else first


def editing(rec: Recording, site: int, op: str = "") -> str:
    """Which function that edits gradients, by this op, the line of a site calls; "" for none, "a or b" for several."""
    line = source_line(rec, site) if site >= 0 else ""
    bare = op.removeprefix("_foreach_").rstrip("_")
    return " or ".join(name for name, ops in EDITING.items() if name in line and (not op or bare in ops))


def same(a: Any, b: Any) -> bool:
    """Equal up to the rounding of a sum in another order?"""
    if a is b or (a == b).all():
        return True
    scale = float(np.max(np.abs(b), initial=0)) + float(np.max(np.abs(a), initial=0))
    eps = float(np.finfo(b.dtype).eps) if b.dtype.kind == "f" else 1e-6
    with np.errstate(invalid="ignore"):
        worst = np.abs(a - b)
    if not np.isfinite(scale):
        return bool(np.array_equal(np.isnan(a), np.isnan(b)))
    return bool(np.max(worst, initial=0) <= 64 * eps * max(scale, 1e-30))
