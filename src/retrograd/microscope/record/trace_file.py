"""Recordings as files: JSON lines (docs/trace-format.md), values beside them as safetensors."""
from __future__ import annotations

import json
import linecache
import math
import os
from typing import Any

from ..answers.read_off import READS, flow
from .recording import FIELDS, FLAGS, FORMAT, POSITION, VERSION, WIDTH, Recording

LINE = 1 << 24          # no line of ours is longer; a longer one is not ours
ROWS = 20_000_000       # lines of one file
TEXT = 400              # characters of a source line


class TraceError(ValueError):
    """The file is not a recording, is cut off or damaged, or has a newer schema."""


PART = ("pass", "node", "input", "from", "output", "value")


# -- writing

def lines_of(rec: Recording) -> Any:
    """The file's lines as dicts, header first."""
    yield {"kind": "header", "format": FORMAT, "version": VERSION, **rec.header, "complete": rec.complete,
           "error": rec.error}
    for i, (file, line, function) in enumerate(rec.sites):
        yield {"kind": "site", "i": i, "file": file, "line": line, "function": function,
               "text": source_line(rec, i)}
    for i, module in enumerate(rec.modules):
        yield {"kind": "module", "i": i, **module}
    for i, (shape, dtype, device) in enumerate(rec.likes):
        yield {"kind": "like", "i": i, "shape": list(shape), "dtype": dtype, "device": device}
    for i, (like, made_by, flags, stem) in enumerate(rec.tensor_rows):
        yield {"kind": "tensor", "i": i, "like": like, "op": made_by, "leaf": bool(flags & 1), "wants": bool(flags & 2),
               "from": stem, **({"node": list(rec.tensor_edges[i])} if i in rec.tensor_edges else {}),
               **({"value": rec.input_values[i]} if i in rec.input_values else {}), **rec.tensor_names.get(i, {})}
    for i, (name, op, seq, following, tensor) in enumerate(rec.node_rows):
        yield {"kind": "graph", "i": i, "name": name, "op": op, "seq": seq,
               "next": [None if e is None else list(e) for e in following], "tensor": tensor}
    for i, hook in enumerate(rec.hooks):
        yield {"kind": "registration", "i": i, **{"hook" if k == "kind" else k: v for k, v in hook.items()}}
    for i, optimizer in enumerate(rec.optimizers):
        yield {"kind": "optimizer", "i": i, **optimizer}
    for i, like in enumerate(rec.value_likes):
        s = rec.stats[i * WIDTH:(i + 1) * WIDTH]
        yield {"kind": "value", "i": i, "like": like,
               "stats": None if s[0] < 0 else [int(s[0]), *map(number, s[1:4]), *map(int, s[4:])]}
    for i, part in enumerate(rec.parts):
        yield {"kind": "part", "i": i, **dict(zip(PART, part))}
    for i, row in enumerate(rec.rows):
        event: dict[str, Any] = dict(zip(POSITION[row[0]], row))
        if row[0] == "op":
            event["flags"] = [name for name, bit in FLAGS.items() if row[POSITION["op"]["flags"]] & bit]
        yield {"i": i, **event}
    yield {"kind": "end-of-file", "events": len(rec.rows), "values": len(rec.value_likes), "dropped": rec.dropped,
           "notes": rec.notes, "numbers": numbers(rec)}


def numbers(rec: Recording) -> list[Any]:
    """Where numbers read off tensors may have gone, which only the source tells: rec.flows as lists."""
    for e in rec.of("op"):
        if e.name in READS:
            flow(rec, e.site, e.name)
    return [[site, name, None if found is None else [[at, op, sure] for (at, op), sure in found.items()]]
            for (site, name), found in rec.flows.items()]


def source_line(rec: Recording, site: int) -> str:
    """The line itself.  Of a recording from a file only what the file says: its paths may mean other files here."""
    if rec.live is None:
        return rec.texts.get(site, "")
    file, line, _ = rec.sites[site]
    return linecache.getline(file, line).strip()[:TEXT]


def number(x: float) -> Any:
    """JSON has no inf and nan."""
    return x if math.isfinite(x) else repr(x)


def save(rec: Recording, path: Any) -> None:
    from ...io.beside import write_beside

    name = os.fsdecode(path)
    beside = name + ".safetensors"
    if rec.arrays:
        try:
            from safetensors.numpy import save as pack
        except ImportError:
            raise ImportError("a recording with values needs the package safetensors: pip install "
                              "retrograd[safetensors]; or record without values=") from None
        import numpy as np
        data = pack({str(n): storable(np.ascontiguousarray(a).reshape(a.shape)) for n, a in rec.arrays.items()})
        write_beside(beside, lambda file: file.write(data))
    elif os.path.exists(beside):
        os.remove(beside)                       # of the recording that this one replaces

    def write(file: Any) -> None:
        for line in lines_of(rec):
            file.write(json.dumps(line, separators=(",", ":"), allow_nan=False).encode() + b"\n")

    write_beside(name, write)


def storable(a: Any) -> Any:
    """An array of a dtype that safetensors has: complex128 as pairs of float64."""
    return a.reshape(*a.shape, 1).view("float64") if str(a.dtype) == "complex128" else a


# -- reading

class Reader:
    """Reads line by line, and says which line is wrong."""

    def __init__(self, name: str, file: Any) -> None:
        self.name = name
        self.file = file
        self.line = 0

    def bad(self, what: str) -> TraceError:
        return TraceError(f"{self.name}, line {self.line}: {what}")

    def next(self) -> dict[str, Any] | None:
        text = self.file.readline(LINE + 1)
        if not text:
            return None
        self.line += 1
        if self.line > ROWS:
            raise self.bad(f"more than {ROWS} lines: this is not a retrograd recording")
        if self.line == 1 and not text.startswith(b"{"):
            raise TraceError(f"{self.name}: this is not a recording: rec.save(path) and `retrograd trace -o path` write them")
        if len(text) > LINE:
            raise self.bad(f"a line of more than {LINE} bytes: this is not a retrograd recording")
        if not text.endswith(b"\n"):
            raise self.bad("the file is cut off here: the recording was not written to the end, or not copied whole")
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            raise self.bad("not JSON: this is not a recording, or it is damaged") from None
        if not isinstance(found, dict) or not isinstance(found.get("kind"), str):
            raise self.bad("expected an object with a 'kind': this is not a recording, or it is damaged")
        return found

    def integer(self, row: dict[str, Any], name: str, low: int, high: int) -> int:
        found = row.get(name)
        if type(found) is not int or not low <= found < high:
            raise self.bad(f"{row['kind']}: {name!r} must be an integer from {low} to {high - 1}, not {found!r:.60}")
        return found

    def integers(self, row: dict[str, Any], name: str, low: int, high: int) -> tuple[int, ...]:
        found = row.get(name)
        if not isinstance(found, list) or not all(type(n) is int and low <= n < high for n in found):
            raise self.bad(f"{row['kind']}: {name!r} must be a list of integers from {low} to {high - 1}")
        return tuple(found)

    def text(self, row: dict[str, Any], name: str) -> str:
        found = row.get(name)
        if not isinstance(found, str):
            raise self.bad(f"{row['kind']}: {name!r} must be a string, not {found!r:.60}")
        return found


def _texts(found: Any) -> bool:
    return isinstance(found, list) and all(isinstance(n, str) for n in found)


LINES = ("site", "module", "like", "tensor", "graph", "registration", "optimizer", "value", "part")
INF = 1 << 62


def load(path: Any) -> Recording:
    name = os.fsdecode(path)
    rec = Recording()
    with open(name, "rb") as file:
        reader = Reader(name, file)
        header = reader.next()
        if header is None:
            raise TraceError(f"{name}: the file is empty")
        if header.get("kind") != "header" or header.get("format") != FORMAT:
            raise TraceError(f"{name}: not a recording of retrograd (the first line says neither 'header' nor "
                             f"{FORMAT!r})")
        version = header.get("version")
        if type(version) is not int or version < 1:
            raise TraceError(f"{name}: the schema version must be a number from 1, not {version!r:.40}")
        if version > VERSION:
            raise TraceError(f"{name}: written with schema {version}; this retrograd reads up to {VERSION}: install a "
                             "newer one")
        rec.complete, rec.error = header.pop("complete", False) is True, header.pop("error", None)
        if rec.error is not None and not isinstance(rec.error, str):
            raise reader.bad("header: 'error' must be null or a text")
        if not _texts(header.get("argv", [])):
            raise reader.bad("header: 'argv' must be a list of strings")
        groups = header.get("groups", {})
        if not isinstance(groups, dict) or not all(isinstance(ranks, list) and header.get("rank") in ranks and all(
                type(rank) is int and rank >= 0 for rank in ranks) for ranks in groups.values()):
            raise reader.bad("header: 'groups' must map names to lists of ranks, among them 'rank'")
        if not isinstance(header.get("host", ""), str):
            raise reader.bad("header: 'host' must be a text")
        rec.header = {k: v for k, v in header.items() if k not in ("kind", "format", "version")}
        ended = False
        while (row := reader.next()) is not None:
            if ended:
                raise reader.bad("lines after the end: two files in one?")
            if row["kind"] == "end-of-file":
                finish(reader, rec, row)
                ended = True
            elif row["kind"] in LINES:
                table(reader, rec, row)
            elif row["kind"] in FIELDS:
                rec.rows.append(event(reader, rec, row))
            else:
                raise reader.bad(f"no lines of kind {row['kind']!r:.40} in schema {VERSION}")
        if not ended:
            raise TraceError(f"{name}: the file is cut off after line {reader.line}: its last line is missing")
    beside = name + ".safetensors"
    if os.path.exists(beside) and rec.header.get("values"):
        read_values(rec, beside)
    return rec


def table(reader: Reader, rec: Recording, row: dict[str, Any]) -> None:
    """One line of a table."""
    kind, i = row.pop("kind"), row.pop("i", None)
    row_of = {"kind": kind, **row}
    into: Any = {"site": rec.sites, "module": rec.modules, "like": rec.likes, "tensor": rec.tensor_rows,
                 "graph": rec.node_rows, "registration": rec.hooks, "optimizer": rec.optimizers,
                 "value": rec.value_likes, "part": rec.parts}[kind]
    if i != len(into):
        raise reader.bad(f"{kind}: expected number {len(into)}, found {i!r:.40}")
    if kind == "site":
        into.append((reader.text(row_of, "file"), reader.integer(row_of, "line", 0, INF), str(row.get("function", ""))))
        rec.texts[i] = str(row.get("text") or "")
    elif kind == "like":
        into.append((reader.integers(row_of, "shape", 0, INF), reader.text(row_of, "dtype"),
                     reader.text(row_of, "device")))
    elif kind == "tensor":
        into.append((reader.integer(row_of, "like", 0, len(rec.likes)), reader.integer(row_of, "op", -1, INF),
                     bool(row.get("leaf")) + 2 * bool(row.get("wants")), reader.integer(row_of, "from", -1, i)))
        if "node" in row:
            edge = reader.integers(row_of, "node", 0, INF)
            if len(edge) != 2:
                raise reader.bad("tensor: 'node' must be [node, output number]")
            rec.tensor_edges[i] = (edge[0], edge[1])
        if "value" in row:
            rec.input_values[i] = reader.integer(row_of, "value", 0, INF)
        known = {k: v for k, v in row.items() if k not in ("like", "op", "leaf", "wants", "from", "node", "value")}
        if known:
            names = known.get("names")
            if not isinstance(names, list) or not all(isinstance(n, str) for n in names):
                raise reader.bad("tensor: 'names' must be a list of strings")
            known["role"] = str(known.get("role"))
            if "at_end" in known:
                reader.integer(row_of, "at_end", -1, INF)
            if known.get("name") is None or known["name"] not in names:
                raise reader.bad("tensor: 'name' must be one of its 'names'")
            rec.tensor_names[i] = known
    elif kind == "graph":
        edges = row.get("next")
        if not isinstance(edges, list) or not all(
                e is None or (isinstance(e, list) and len(e) == 2 and all(type(n) is int and n >= 0 for n in e))
                for e in edges):
            raise reader.bad("graph: 'next' must be a list of [node, output number] or null")
        into.append((reader.text(row_of, "name"), reader.integer(row_of, "op", -1, INF),
                     reader.integer(row_of, "seq", -1, 1 << 64), tuple(None if e is None else tuple(e) for e in edges),
                     reader.integer(row_of, "tensor", -1, len(rec.tensor_rows))))
    elif kind == "module":
        reader.text(row_of, "path"), reader.text(row_of, "type")
        reader.integer(row_of, "parent", -1, INF)
        into.append(row)
    elif kind == "registration":
        for text in ("hook", "name", "on"):
            reader.text(row_of, text)
        for name in ("owner", "fired", "changed"):
            reader.integer(row_of, name, -1, INF)
        for name in ("defined", "registered"):
            reader.integer(row_of, name, -1, len(rec.sites))
        row["kind"] = row.pop("hook")
        if row["kind"] == "multi_grad":
            row["tensors"] = list(reader.integers(row_of, "tensors", 0, len(rec.tensor_rows)))
        into.append(row)
    elif kind == "optimizer":
        reader.text(row_of, "type"), reader.integers(row_of, "tensors", 0, len(rec.tensor_rows))
        if row.get("variable") is not None:
            reader.text(row_of, "variable")
        into.append(row)
    elif kind == "part":
        limits = INF, len(rec.node_rows), INF, len(rec.node_rows), INF, len(rec.value_likes)
        into.append(tuple(reader.integer(row_of, name, 0, limit) for name, limit in zip(PART, limits)))
    else:
        rec.value_likes.append(reader.integer(row_of, "like", 0, len(rec.likes)))
        stats = row.get("stats")
        if stats is None:
            rec.stats.extend([-1.0] * WIDTH)
            return
        if not isinstance(stats, list) or len(stats) != WIDTH:
            raise reader.bad(f"value: 'stats' must be null or {WIDTH} numbers")
        try:
            numbers = [float(x) for x in stats]
        except (TypeError, ValueError, OverflowError):
            raise reader.bad(f"value: 'stats' must be null or {WIDTH} numbers") from None
        if not all(-1 <= numbers[k] < INF for k in COUNTS):
            raise reader.bad("value: 'stats' must have counts of elements, zeros, nans and infs")
        rec.stats.extend(numbers)


# what the numbers in an event may be: the table they point into
POINTS = {"module": "modules", "site": "sites", "node": "node_rows", "tensor": "tensor_rows", "hook": "hooks",
          "gradient": "value_likes", "had": "value_likes", "now": "value_likes", "optimizer": "optimizers",
          "parent": "modules"}
FLAGGED = {"hook": ("changed", "returned"), "begin": ("retain", "create"), "zero": ("to_none",)}
COUNTS = (0, 4, 5, 6)                                   # among a value's statistics
NUMBERS = ("pass", "call", "thread", "bytes", "waited")
TEXTS = {"op": ("name",), "begin": ("how",), "zero": ("owner",), "note": ("what", "text"), "collective": ("name", "group")}
LISTS = {
    "op": {"inputs": "tensor_rows", "outputs": "tensor_rows", "values": "value_likes"},
    "begin": {"roots": "node_rows", "tensors": "tensor_rows"},
    "node": {"inputs": "value_likes", "outputs": "value_likes"},
    "hook": {"before": "value_likes", "after": "value_likes"},
    "step": {"tensors": "tensor_rows", "gradients": "value_likes", "before": "value_likes", "after": "value_likes"},
    "zero": {"tensors": "tensor_rows"},
    "averaged": {"tensors": "tensor_rows", "gradients": "value_likes"},
}


def event(reader: Reader, rec: Recording, row: dict[str, Any]) -> tuple[Any, ...]:
    kind = row["kind"]
    if row.get("i") != len(rec.rows):
        raise reader.bad(f"{kind}: expected event {len(rec.rows)}, found {row.get('i')!r:.40}")
    for name in ("t", "dt"):
        reader.integer(row, name, 0, INF)
    missing = [name for name in POSITION[kind] if name not in row]
    if missing:
        raise reader.bad(f"{kind}: no {', '.join(map(repr, missing))}")
    for name, into in POINTS.items():
        if name in POSITION[kind]:
            reader.integer(row, name, -1, len(getattr(rec, into)))
    for name in NUMBERS:
        if name in POSITION[kind]:
            reader.integer(row, name, -1, INF)
    for name in TEXTS.get(kind, ()):
        reader.text(row, name)
    if row.get("error") is not None:
        reader.text(row, "error")
    for name, into in LISTS.get(kind, {}).items():
        row[name] = reader.integers(row, name, -1, len(getattr(rec, into)))
    if kind in ("step", "averaged") and len({len(row[name]) for name in LISTS[kind]}) > 1:
        raise reader.bad(f"{kind}: {', '.join(map(repr, LISTS[kind]))} must have one length")
    for name in FLAGGED.get(kind, ()):
        if row[name] is not None and type(row[name]) is not bool:
            raise reader.bad(f"{kind}: {name!r} must be true, false or null, not {row[name]!r:.60}")
    if kind in ("enter", "exit"):
        row["facts"] = facts(reader, rec, kind, row["facts"])
    if kind == "begin" and row["targets"] is not None:
        row["targets"] = reader.integers(row, "targets", -1, len(rec.tensor_rows))
    if kind == "step" and row["rates"] is not None:
        rates = row["rates"]
        if not isinstance(rates, list) or not all(isinstance(r, (int, float)) and type(r) is not bool for r in rates):
            raise reader.bad(f"step: 'rates' must be a list of numbers or null, not {rates!r:.60}")
    if kind == "op":
        flags = row["flags"]
        if not isinstance(flags, list) or not all(isinstance(f, str) and f in FLAGS for f in flags):
            raise reader.bad(f"op: 'flags' must be a list of {', '.join(FLAGS)}")
        row["flags"] = sum(FLAGS[f] for f in set(flags))
    return tuple(row[name] for name in POSITION[kind])


def facts(reader: Reader, rec: Recording, kind: str, given: Any) -> Any:
    """What a call got, or returned."""
    if kind == "exit" and given is None:
        return None
    if not isinstance(given, dict):
        raise reader.bad(f"{kind}: 'facts' must be an object")
    row = {"kind": f"{kind}: facts", **given}
    if kind == "exit":
        reader.text(row, "type"), reader.integers(row, "tensors", -1, len(rec.tensor_rows))
    else:
        reader.integer(row, "tensors", 0, INF)
        if not isinstance(given.get("keywords"), list) or not all(isinstance(k, str) for k in given["keywords"]):
            raise reader.bad("enter: 'keywords' must be a list of strings")
    return given


def finish(reader: Reader, rec: Recording, row: dict[str, Any]) -> None:
    if row.get("events") != len(rec.rows) or row.get("values") != len(rec.value_likes):
        raise reader.bad(f"the last line counts {row.get('events')} events and {row.get('values')} values, the file has "
                         f"{len(rec.rows)} and {len(rec.value_likes)}: it is damaged")
    dropped = row.get("dropped")
    if not isinstance(dropped, dict) or not all(type(n) is int for n in dropped.values()):
        raise reader.bad("end-of-file: 'dropped' must map kinds to numbers")
    rec.dropped = dropped
    notes = row.get("notes", [])
    if not _texts(notes):
        raise reader.bad("end-of-file: 'notes' must be a list of strings")
    rec.notes = notes
    try:
        for site, name, found in row.get("numbers") or []:
            rec.flows[int(site), str(name)] = None if found is None else {
                (int(at), str(op)): bool(sure) for at, op, sure in found}
    except (TypeError, ValueError):
        raise reader.bad("end-of-file: 'numbers' must be a list of [site, op, null or a list of [site, op, certain]]") from None
    for _, op, _, edges, _ in rec.node_rows:
        if op >= len(rec.rows) or any(e is not None and e[0] >= len(rec.node_rows) for e in edges):
            raise reader.bad("an edge or op of the graph points outside the file: it is damaged")
        if op >= 0 and "node" in POSITION[rec.rows[op][0]]:
            raise reader.bad(f"a node of the graph was made by event {op}, which is of a backward pass: it is damaged")
    for i, module in enumerate(rec.modules):
        above, steps = module["parent"], 0
        while above >= 0:
            if above >= len(rec.modules) or steps > len(rec.modules):
                raise reader.bad(f"module {i}: its parents lead outside the file, or form a cycle: it is damaged")
            above, steps = rec.modules[above]["parent"], steps + 1
    ends = [known["at_end"] for known in rec.tensor_names.values() if "at_end" in known]
    if any(n >= len(rec.value_likes) for n in (*rec.input_values.values(), *ends)):
        raise reader.bad("a tensor points to a value outside the file: it is damaged")
    if any(n >= len(rec.node_rows) for n, _ in rec.tensor_edges.values()):
        raise reader.bad("a tensor points to a node outside the file: it is damaged")
    for _, op, _, _ in rec.tensor_rows:
        if op >= len(rec.rows):
            raise reader.bad("a tensor points to an event outside the file: it is damaged")


def read_values(rec: Recording, path: str) -> None:
    try:
        from safetensors.numpy import load_file
    except ImportError:
        rec.notes.append(f"values not read: {path} needs the package safetensors")
        return
    try:
        rec.arrays = {int(n): a for n, a in load_file(path).items() if 0 <= int(n) < len(rec.value_likes)}
    except Exception as error:
        raise TraceError(f"{path}: {error}") from None
    for n, a in rec.arrays.items():
        shape, dtype, _ = rec.likes[rec.value_likes[n]]
        if dtype == "complex128" and str(a.dtype) == "float64" and a.shape == (*shape, 2):
            rec.arrays[n] = a = a.view("complex128").reshape(shape)
        if a.shape != shape:
            raise TraceError(f"{path}: value {n} has shape {a.shape}, in the recording {shape}: they do not belong together")
