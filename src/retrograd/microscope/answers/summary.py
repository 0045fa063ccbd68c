"""A recording in a screenful: tables of events, hooks, gradients that are missing, norms by layer, trouble.

With rich installed the tables are rich's; else plain text.
"""
from __future__ import annotations

import os
from collections import Counter
from typing import Any

from ..plain_text import printable
from ..record.recording import Recording
from .trouble import once
from .why import hook_of, why_none

NARROW, WIDE = 100, 200          # columns

Table = tuple[str, list[str], list[list[str]]]


def tables(rec: Recording) -> list[Table]:
    """(title, columns, rows) of every part that has something to say."""
    found = [events(rec), hooks(rec), silent_hooks(rec), missing(rec), layers(rec), troubles(rec)]
    return [t for t in found if t[2]]


def events(rec: Recording) -> Table:
    counts = Counter(row[0] for row in rec.rows)
    rows = [[kind, str(n), str(rec.dropped.get(kind, 0) or "")] for kind, n in counts.most_common()]
    rows += [[kind, "0", str(n)] for kind, n in rec.dropped.items() if kind not in counts]
    return "events", ["kind", "kept", "dropped"], rows


def hooks(rec: Recording) -> Table:
    rows = [[h["name"], h["kind"].replace("_", "-"), h["on"], short(rec.where(h["defined"])), str(h["fired"]),
             str(h["changed"])] for h in rec.hooks if h["changed"]]
    return "hooks that changed something", ["hook", "kind", "on", "defined", "fired", "changed"], rows


def silent_hooks(rec: Recording) -> Table:
    rows = []
    for n, h in enumerate(rec.hooks):
        if not h["fired"]:
            cause = hook_of(rec, n)
            place = rec.where(h["registered"] if h["registered"] >= 0 else h["defined"])
            rows.append([h["name"], h["kind"].replace("_", "-"), h["on"], short(place), cause.text, cause.way_out])
    return "hooks that never fired", ["hook", "kind", "on", "at", "why", "way out"], rows


def missing(rec: Recording) -> Table:
    from .graph_of import links
    rows = []
    if rec.header.get("ops", True) and any(e.how for e in rec.of("begin")):
        arrived = links(rec).arrived
        for name, n in rec.parameters.items():
            if not arrived.get(n) and rec.tensor_names[n]["name"] == name:
                cause = why_none(name, rec)
                if cause.code != "has_grad":    # from before the recording, say
                    rows.append([name, cause.code, cause.text, short(cause.where), cause.way_out])
    return "parameters without a gradient", ["parameter", "cause", "why", "at", "way out"], rows


def layers(rec: Recording) -> Table:
    """Last norms of each parameter, and of its gradient."""
    last: dict[int, Any] = {}
    for e in rec.of("accumulate"):
        last[e.tensor] = e
    weights: dict[int, int] = {}
    for e in rec.of("step"):
        weights.update(zip(e.tensors, e.before))
    rows = []
    for name, n in rec.parameters.items():
        if n not in last or rec.tensor_names[n]["name"] != name:
            continue
        value = rec.value(last[n].now)
        if value is None:
            value = rec.value(last[n].gradient)
        weight = rec.value(weights.get(n, -1))
        if value is None or not value.measured:
            continue
        ratio = "" if weight is None or not weight.norm else f"{value.norm / weight.norm:.2g}"
        odd = ", ".join(f"{share:.0%} {what}" for share, what in (
            (value.nans, "NaN"), (value.infs, "inf"), (value.zeros, "zero")) if share)
        rows.append([name, "x".join(map(str, value.shape)), f"{value.norm:.4g}", f"{value.min:.3g}", f"{value.max:.3g}",
                     odd, ratio])
    return "gradients by parameter (the last of each)", ["parameter", "shape", "norm", "min", "max", "share", "/weight"], rows


def troubles(rec: Recording) -> Table:
    if not rec.header.get("norms", True):
        return "trouble", [], []
    found = Counter((f.direction, f.text, f.where) for f in rec.trouble())
    return "trouble", ["direction", "what", "at"], [[way, once(text, n), short(where)] for (way, text, where), n in found.items()]


def short(place: str | None) -> str:
    """file:line without the folders above the working directory."""
    if place is None:
        return ""
    file, _, line = place.rpartition(":")
    relative = os.path.relpath(file) if os.path.isabs(file) else file
    return f"{min(relative, file, key=len)}:{line}"


def text(rec: Recording) -> str:
    """The summary as plain text."""
    lines = [repr(rec).strip("<>")]
    for title, columns, rows in tables(rec):
        widths = [max(len(r[i]) for r in [columns, *rows]) for i in range(len(columns))]
        lines += ["", title, *("  " + "  ".join(c.ljust(w) for c, w in zip(r, widths)).rstrip() for r in [columns, *rows])]
    lines.extend(rec.notes)
    return printable("\n".join(lines))


def show(rec: Recording) -> None:
    """Print the summary: with rich where it is installed."""
    try:
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text
    except ImportError:
        print(text(rec))
        return
    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console = Console(width=WIDE)
    console.print(Text(repr(rec).strip("<>")))
    for title, columns, rows in tables(rec):
        if console.width < NARROW:              # room for names
            kept = [i for i, column in enumerate(columns) if column not in ("min", "max")]
            columns, rows = [columns[i] for i in kept], [[row[i] for i in kept] for row in rows]
        table = RichTable(title=Text(title, style="bold"), title_justify="left", show_edge=False, pad_edge=False)
        for column in columns:
            table.add_column(column, overflow="fold")
        for row in rows:
            table.add_row(*(Text(printable(cell)) for cell in row))
        console.print(table)
    for note in rec.notes:
        console.print(Text(printable(note)))
