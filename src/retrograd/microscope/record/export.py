"""A recording for other programs: Chrome trace JSON (Perfetto), DOT (Graphviz), JSON."""
from __future__ import annotations

import json
import os
from typing import Any

from .recording import Event, Recording
from .trace_file import lines_of, number


def to_chrome(rec: Recording) -> dict[str, Any]:
    """Chrome's trace event format: nested slices, arrows from an op to its backward node, counters of norms.

    https://docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU
    """
    out: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "tid": 0, "name": "process_name", "args": {"name": f"retrograd: {rec.engine}"}}]
    threads: dict[int, list[tuple[int, int, int, Event]]] = {}
    open_: dict[tuple[Any, ...], tuple[int, Event]] = {}
    end_of_all = max((row[1] + row[2] for row in rec.rows), default=0)
    for e in rec.events:
        kind = e.kind
        if kind in ("enter", "begin"):
            open_[kind, e.thread, e.get("module"), e.get("call"), e.get("pass")] = (e.t, e)
        elif kind in ("exit", "end"):
            key = ("enter" if kind == "exit" else "begin", e.thread, e.get("module"), e.get("call"), e.get("pass"))
            if key in open_:
                start, began = open_.pop(key)
                threads.setdefault(e.thread, []).append((start, e.t, began.number, began))
        elif kind in ("op", "node", "hook", "accumulate", "step", "zero"):
            threads.setdefault(e.thread, []).append((e.t, e.t + max(e.dt, 1), e.number, e))
    for start, began in open_.values():
        threads.setdefault(began.thread, []).append((start, end_of_all, began.number, began))
    starts: dict[int, tuple[float, int]] = {}
    for thread, slices in threads.items():
        out.append({"ph": "M", "pid": 1, "tid": thread, "name": "thread_name", "args": {"name": f"thread {thread}"}})
        for start, end, e in nested(slices):
            out.append({"ph": "X", "pid": 1, "tid": thread, "ts": start / 1000, "dur": max(end - start, 1) / 1000,
                        "name": e.label, "cat": e.kind, "args": arguments(rec, e)})
            starts[e.number] = (start / 1000, thread)
    for e in rec.of("node"):
        op = rec.node_rows[e.node][1]
        if op in starts and e.number in starts and rec.rows[op][0] == "op":
            flow = {"pid": 1, "cat": "gradient", "name": "backward of", "id": e.number}
            out.append({"ph": "s", "ts": starts[op][0], "tid": starts[op][1], **flow})
            out.append({"ph": "f", "bp": "e", "ts": starts[e.number][0], "tid": starts[e.number][1], **flow})
    for e in rec.of("accumulate"):
        value = rec.value(e.now)
        if value is not None and value.measured:
            out.append({"ph": "C", "pid": 1, "tid": e.thread, "ts": (e.t + e.dt) / 1000, "name": "norm of .grad",
                        "args": {rec.name_of_tensor(e.tensor): value.norm}})
    return {"traceEvents": out, "displayTimeUnit": "ms", "otherData": {"format": "retrograd", "dropped": rec.dropped}}


def nested(slices: list[tuple[int, int, int, Event]]) -> list[tuple[int, int, Event]]:
    """Slices cut so that any two lie apart or one within the other, as viewers demand."""
    found: list[tuple[int, int, Event]] = []
    stack: list[int] = []                               # ends of those that are open
    free = 0                                            # where the last one that closed ended
    for start, end, _, e in sorted(slices, key=lambda s: (s[0], -s[1], s[2])):
        if e.kind in ("op", "node") and start < free:   # their start is when the one before ended, at the latest
            start = min(free, end)
        while stack and stack[-1] <= start:
            free = max(free, stack.pop())
        if stack:
            end = min(end, stack[-1])
        if end < start:
            end = start
        stack.append(end)
        found.append((start, end, e))
    return found


def arguments(rec: Recording, e: Event) -> dict[str, Any]:
    found: dict[str, Any] = {"event": e.number}
    if e.where:
        found["where"] = e.where
    if e.path:
        found["module"] = e.path
    for name in ("inputs", "outputs", "values", "before", "after", "gradient", "had", "now"):
        given = e.get(name)
        if given is None or (e.kind == "op" and name in ("inputs", "outputs")):
            continue
        values = [rec.value(n) for n in (given if isinstance(given, tuple) else (given,))]
        if any(v is not None for v in values):
            found[name] = [None if v is None else repr(v).strip("<>") for v in values]
    if e.kind == "hook":
        found.update(changed=e.changed, hook=rec.hooks[e.hook]["name"], defined=rec.where(rec.hooks[e.hook]["defined"]))
    if e.get("error"):
        found["error"] = e.get("error")
    return found


def to_dot(rec: Recording, limit: int = 2000) -> str:
    """The backward graph for Graphviz: clusters are modules, labels have the norm of the gradient that left the node."""
    norms: dict[int, float] = {}
    ran: set[int] = set()
    for e in rec.of("node"):
        ran.add(e.node)
        values = [v for n in e.outputs if (v := rec.value(n)) is not None and v.measured]
        if values:
            norms[e.node] = max(v.norm for v in values)
    for e in rec.of("accumulate"):
        ran.add(e.node)
        found = rec.value(e.gradient)
        if found is not None and found.measured:
            norms[e.node] = found.norm
    nodes = range(len(rec.node_rows))
    shown = [n for n in nodes if n in ran] if len(rec.node_rows) > limit else list(nodes)
    left = len(rec.node_rows) - len(shown[:limit])
    shown = shown[:limit]
    lines = ["digraph backward {", "  rankdir=TB; node [shape=box, fontname=sans-serif, fontsize=10];"]
    if left:
        lines.append(f"  label={quoted(f'{left} more nodes are not shown')};")
    groups: dict[str, list[int]] = {}
    for n in shown:
        groups.setdefault(rec.path_of_node(n) or "", []).append(n)
    for i, (path, members) in enumerate(sorted(groups.items())):
        indent = "  "
        if path:
            lines.append(f"  subgraph cluster_{i} {{ label={quoted(path)}; color=gray;")
            indent = "    "
        for n in members:
            name, _, _, _, tensor = rec.node_rows[n]
            label = rec.name_of_tensor(tensor) if tensor >= 0 else name
            if n in norms:
                label += f"\n{norms[n]:.4g}"
            style = ", style=filled, fillcolor=lightyellow" if tensor >= 0 else "" if n in ran else ", style=dashed"
            lines.append(f"{indent}n{n} [label={quoted(label)}{style}];")
        if path:
            lines.append("  }")
    inside = set(shown)
    for n in shown:
        for to in rec.node_rows[n][3]:
            if to is not None and to[0] in inside:
                lines.append(f"  n{n} -> n{to[0]};")
    return "\n".join([*lines, "}", ""])


def quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def to_json(rec: Recording) -> dict[str, Any]:
    """All lines of the file (docs/trace-format.md), by table: {"header": {...}, "site": [...], ..., "events": [...]}"""
    found: dict[str, Any] = {"events": []}
    tables = ("site", "module", "like", "tensor", "graph", "registration", "optimizer", "value", "part")
    for name in tables:
        found[name] = []
    for line in lines_of(rec):
        kind = line["kind"]
        if kind in ("header", "end-of-file"):
            found[kind] = line
        else:
            found[kind if kind in tables else "events"].append(line)
    return found


def write(what: Any, path: Any) -> None:
    """Text or JSON into a file, which is replaced when everything is written."""
    from ...io.beside import write_beside
    text = what if isinstance(what, str) else json.dumps(clean(what), separators=(",", ":"), allow_nan=False)
    write_beside(os.fsdecode(path), lambda file: file.write(text.encode(errors="backslashreplace")))


def clean(x: Any) -> Any:
    """JSON has no inf and nan."""
    if isinstance(x, float):
        return number(x)
    if isinstance(x, dict):
        return {str(k): clean(v) for k, v in x.items()}
    return [clean(v) for v in x] if isinstance(x, (list, tuple)) else x
