"""A recording as one HTML page: the data, compressed, inside the page that `viewer/` builds (viewer.html).

Whatever a recording says (names, source lines, errors) may come from a stranger.  It reaches the page as base64 and is
shown as text, never as markup; the page's policy allows neither other scripts nor the network.
"""
from __future__ import annotations

import base64
import html
import json
import math
import os
import zlib
from bisect import bisect_right
from collections import Counter
from typing import Any

from ..plain_text import table
from ..record.recording import POSITION, WIDTH, Recording, Value
from ..record.trace_file import source_line
from .contents import answers_of
from .graph_view import Drawing

TITLE, DATA = "%%TITLE%%", "%%DATA%%"


def template() -> Any:
    """viewer.html, of a package that may lie in a zip."""
    from importlib.resources import files

    return files(__package__) / "viewer.html"


def page_of(rec: Recording, title: str | None = None, beside: Any = None, memory: Any = None) -> str:
    """The page as a text.  beside: a SideBySide whose first recording it is; memory: a Memory of the same time"""
    title = title or f"{' '.join(map(os.path.basename, rec.header.get('argv', [])[:1])) or 'recording'} - retrograd"
    its = data_of(rec, title, beside)
    if beside is not None:
        first = beside.first
        its["header"] = {**rec.header, "opens": None if first is None or first.event_a < 0 else first.event_a}
    if memory is not None:
        its["memory"] = memory_of(rec, memory)
    data = json.dumps(its, separators=(",", ":"), allow_nan=False)
    packed = base64.b64encode(zlib.compress(data.encode(), 7)).decode()
    head, _, rest = template().read_text(encoding="utf-8").partition(TITLE)
    middle, _, tail = rest.partition(DATA)
    return head + html.escape(title) + middle + packed + tail


def write_page(rec: Recording, path: Any, title: str | None = None, beside: Any = None, memory: Any = None) -> None:
    """Write the page to `path`; the file is replaced when complete."""
    from ...io.beside import write_beside

    text = page_of(rec, title, beside, memory).encode()
    write_beside(os.fsdecode(path), lambda file: file.write(text))


def data_of(rec: Recording, title: str, beside: Any = None) -> dict[str, Any]:
    """What the page reads.  Tables as in docs/trace-format.md, rows as lists; and the drawing (graph_view.py)."""
    drawing = Drawing(rec)
    return {
        "title": title, "header": rec.header, "complete": rec.complete, "error": rec.error, "dropped": rec.dropped,
        "notes": rec.notes, "positions": POSITION,
        "sites": [[file, line, function, source_line(rec, i)] for i, (file, line, function) in enumerate(rec.sites)],
        "modules": rec.modules, "likes": rec.likes, "tensors": rec.tensor_rows, "names": rec.tensor_names,
        "nodes": rec.node_rows, "hooks": rec.hooks, "optimizers": rec.optimizers,
        "values": [[like, *stats(rec, i)] for i, like in enumerate(rec.value_likes)],
        "events": [[plain(x) for x in row] for row in rec.rows],
        "vertices": drawing.vertices, "groups": drawing.groups,
        "ofNode": [drawing.of_node[n] for n in range(len(rec.node_rows))],
        "graphs": [[graph.items, graph.rows, graph.edges] for graph in drawing.graphs],
        **answers_of(rec, beside),
    }


def memory_of(rec: Recording, memory: Any) -> dict[str, Any]:
    """peak: bytes, and text of where; after: the bytes that are counted after each event."""
    if rec.live is None:
        raise ValueError("to_html: memory= goes with a recording of this process, not with one that was loaded")
    times = [t - rec.live.start for t, _ in memory.timeline]
    after = [bisect_right(times, row[1] + row[2]) - 1 for row in rec.rows]
    return {"peak": memory.peak, "text": str(memory),
            "after": [memory.timeline[at][1] if at >= 0 else None for at in after]}


def stats(rec: Recording, value: int) -> list[Any]:
    """[count, norm, min, max, zeros, nans, infs] to 5 digits; nothing when not measured."""
    row = rec.stats[value * WIDTH:(value + 1) * WIDTH]
    if row[0] < 0:
        return []
    return [int(row[0]), *(short(x) for x in row[1:4]), *map(int, row[4:])]


def short(x: float) -> Any:
    return float(f"{x:.5g}") if math.isfinite(x) else repr(x)


def plain(x: Any) -> Any:
    """x as JSON can hold it."""
    if isinstance(x, float) and not math.isfinite(x):
        return repr(x)
    if x is None or isinstance(x, (bool, int, float, str)):
        return x
    if isinstance(x, dict):
        return {str(k): plain(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [plain(v) for v in x]
    return str(x)


# -- in notebooks

class Frame:
    """The page in a frame of its own, for a notebook's cell.  `sandbox`: it cannot reach the notebook around it."""

    def __init__(self, rec: Recording, height: int) -> None:
        if type(height) is not int or height < 1:
            raise ValueError(f"Recording.view: height must be a positive number of pixels, not {height!r}")
        self.rec = rec
        self.height = height

    def _repr_html_(self) -> str:
        return (f'<iframe sandbox="allow-scripts" style="width:100%;height:{self.height}px;border:1px solid #8884" '
                f'title="recording" srcdoc="{html.escape(page_of(self.rec))}"></iframe>')

    def __repr__(self) -> str:
        return f"<page of {self.rec!r}>"


def summary(rec: Recording) -> str:
    """Tables for a notebook: what was recorded, the hooks, and how far gradients came."""
    count = Counter(row[0] for row in rec.rows)
    facts = [("engine", rec.engine), ("operations", count["op"]), ("backward nodes", count["node"]),
             ("hook firings", count["hook"]), ("accumulations", count["accumulate"]), ("optimizer steps", count["step"])]
    facts += [("dropped", n) for n in [sum(rec.dropped.values())] if n]
    facts += [] if rec.complete else [("ended early", rec.error or "")]
    parts = [table(("recording", ""), facts)]
    if rec.hooks:
        hooks = [(h["name"], f"{h['kind']} on {h['on'] or 'the model'}", h["fired"], h["changed"]) for h in rec.hooks]
        parts.append(table(("hook", "", "fired", "changed it"), hooks))
    now: dict[int, Value | None] = {}
    for event in rec.of("accumulate", "zero"):
        if event.kind == "accumulate":
            now[event.tensor] = rec.value(event.now)
        else:
            now.update(dict.fromkeys(event.tensors))
    rows = [(name, "x".join(map(str, rec.tensor(n)["shape"])) or "scalar", told(now.get(n)))
            for name, n in rec.parameters.items()]
    if rows:
        parts.append(table(("parameter", "shape", "norm of .grad"), rows))
    return "".join(parts) + "<p>Everything: <code>rec.view()</code>, or <code>rec.to_html(\"trace.html\")</code>.</p>"


def told(value: Value | None) -> str:
    if value is None:
        return "none"
    if not value.measured:
        return "not measured"
    return f"{value.norm:.4g}" + ("" if value.finite else ", has NaN or inf")
