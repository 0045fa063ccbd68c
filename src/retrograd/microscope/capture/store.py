"""FactorStore: captured factors of a run on disk, larger than memory.

    path/manifest.json                  schema, engine, layers (as last written), shards in order
    path/shard-00000.safetensors        tensors "<record>.a", "<record>.delta"; records described in its metadata
    path/rank-00001/...                 the same again, one per process of a distributed run

A shard is written as shard-N.open and renamed when it is complete; then the manifest is replaced.  So a crash loses the
open shard at most.  One process writes (an advisory lock says so), any number may read.  Anything that reads safetensors
reads a shard: https://huggingface.co/docs/safetensors
"""
from __future__ import annotations

import fnmatch
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..arguments import FilePath, checked
from ..errors import StoreError
from ..listen import Engine, engine_named
from .grads import Grads
from .loss import loss_of
from .queries import Queries
from .terms import Dense, Outer, Rows, Term

SCHEMA = 1
RESERVED = 1 << 20                              # bytes for a shard's header, which is known last
HELD = 8                                        # shards whose headers a reader holds: some megabytes each
NUMPY = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "BOOL": "|b1"}


class Record:
    """One weight in one step: its kind, factors (through a memory map) and what is known about them.

    kind "outer": a (N, T, I), delta (N, T, O); "rows": ids (N, T), delta (N, T, E); "dense": gradient (N, *shape)
    """

    def __init__(self, store: FactorStore, shard: int, about: dict[str, Any]) -> None:
        self._store = store
        self._shard = shard
        self.layer: str = about["layer"]
        self.module: str = about["module"]
        self.step: int = about["step"]
        self.kind: str = about["kind"]
        self.shape: tuple[int, ...] = tuple(about["shape"])
        self.samples: list[int] = about["samples"]
        self.calls: int = about["calls"]
        self.about = about

    def __repr__(self) -> str:
        return f"Record({self.layer}, step {self.step}, {len(self.samples)} samples, {self.kind})"

    @property
    def store(self) -> FactorStore:
        """The store that it is in: of its rank."""
        return self._store

    @property
    def rank(self) -> int | None:
        """The rank that wrote it, where each rank has a store."""
        return self._store.rank

    def bytes_of_sample(self, dense: bool) -> int:
        """What one sample takes in memory; dense: as a gradient of its own."""
        if dense:
            return 4 * math.prod(self.shape)
        table = self._store._map(self._shard)[1]
        read = [table[f"{self.about['id']}.{name}"] for name in self.about["tensors"] if name != "mask"]
        return sum(2 * (end - begin) for _, _, begin, end in read) // max(len(self.samples), 1)

    def array(self, name: str, row: int | slice | None = None) -> Any:
        """The stored tensor "a", "delta", "ids", "gradient" or "mask", as a tensor of the store's engine (a copy).

        row  only that of one sample, by its place in `samples`, or of some
        """
        t = self._store._tensor(self._shard, f"{self.about['id']}.{name}", row)
        power = self.about.get("powers", {}).get(name)
        return t if power is None else t.float() * 2.0 ** -power

    def sample(self, sample: int) -> dict[str, Any]:
        """{name: tensor} of one sample, by its id."""
        row = self.samples.index(sample)
        return {name: self.array(name, row) for name in self.about["tensors"]}

    def term(self, begin: int = 0, end: int | None = None) -> Term:
        """What a capture would have made of it, or of samples begin to end."""
        T = self._store.engine.torch
        rows = slice(begin, len(self.samples) if end is None else end)
        N = rows.stop - rows.start
        if self.kind == "outer":
            return Outer(T, N, self.shape, lambda: (wide(self.array("a", rows)), wide(self.array("delta", rows))))
        if self.kind == "rows":
            return Rows(T, self.array("ids", rows), wide(self.array("delta", rows)), self.shape)
        return Dense(T, N, self.shape, lambda: wide(self.array("gradient", rows)))


class FactorStore(Queries):
    """A store on disk: append the captures of a run; query them by layer, sample and step.

    path        folder of the store
    mode        "a": append, made when absent; "r": read only; "w": a new store, which must not exist
    shard_mb    megabytes at which a shard is closed
    dtype       "float16" or "bfloat16": store the numbers in half the space, and read them as float32; by default unchanged,
                or in the store's dtype.  For float16, each tensor is scaled by a power of two that fits its largest number
    engine      "torch" or "retrograd": whose tensors reading returns; by default the writer's, if that is imported
    rank        of this process in a distributed run: it writes to a store of its own inside path
    """

    @checked
    def __init__(self, path: FilePath, mode: str = "a", *, shard_mb: float = 64.0, engine: str | None = None,
                 rank: int | None = None, dtype: str | None = None) -> None:
        if mode not in ("a", "r", "w"):
            raise ValueError(f"FactorStore: mode is 'a', 'r' or 'w', got {mode!r}")
        if rank is not None and rank < 0:
            raise ValueError(f"FactorStore: rank must not be negative, got {rank}")
        if dtype not in (None, "float16", "bfloat16"):
            raise ValueError(f"FactorStore: dtype is 'float16', 'bfloat16' or None (as captured), got {dtype!r}")
        self.root = Path(path)
        self.path = self.root if rank is None else self.root / f"rank-{rank:05d}"
        self.rank = rank
        self.mode = mode
        self.shard_bytes = int(shard_mb * (1 << 20))
        self._lock: Any = None
        self._open: _Shard | None = None
        self._maps: dict[int, Any] = {}         # of the shards read last
        self._files: list[Path] = []
        self._where: dict[tuple[str, int], list[tuple[FactorStore, int, int, int, int]]] | None = None
        self._parts: list[FactorStore] = []
        self.manifest: dict[str, Any] = {"schema": SCHEMA, "format": "retrograd factors", "engine": engine, "shards": []}
        there = (self.path / "manifest.json").exists()
        ranks = [] if rank is not None else sorted(self.root.glob("rank-*/manifest.json"))
        if mode == "w" and (there or ranks):
            raise StoreError(f"FactorStore: {self.path} exists; open it with mode 'a' or 'r'")
        if mode == "r" and not there and not ranks:
            raise StoreError(f"FactorStore: there is no store at {self.path} (no manifest.json)")
        if mode != "r":
            if ranks:
                raise StoreError(f"FactorStore: {self.path} has one store per rank; give rank= to append")
            self.path.mkdir(parents=True, exist_ok=True)
            self._take_lock()
            for left in self.path.glob("*.open"):       # of a writer that did not get to close it
                left.unlink()
        if there:
            self._load()
        if dtype is not None:
            self.manifest["dtype"] = dtype
        if not there and mode != "r":
            self._write_manifest()
        if mode == "r" and ranks:
            self._parts = [FactorStore(path, "r", engine=engine, rank=int(p.parent.name[5:])) for p in ranks]
        wanted = engine or self.manifest.get("engine") or "retrograd"
        if self._parts and engine is None:
            wanted = self._parts[0].engine.name
        if wanted == "torch" and "torch" not in sys.modules and engine is None:
            wanted = "retrograd"
        self.engine: Engine = engine_named(wanted)

    # Opening and closing

    def _take_lock(self) -> None:
        self._lock = open(self.path / ".lock", "a+")
        try:
            import fcntl
        except ImportError:                     # not Unix: nothing to ask; the manifest is still replaced atomically
            return
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.seek(0)
            owner = self._lock.read().strip()
            self._lock.close()
            self._lock = None
            raise StoreError(
                f"FactorStore: {self.path} is being written by process {owner or '?'}; close it there, read with "
                "mode='r', or give each process its own store (rank=)") from None
        self._lock.truncate(0)
        self._lock.write(str(os.getpid()))
        self._lock.flush()

    def _load(self) -> None:
        try:
            found = json.loads((self.path / "manifest.json").read_text(encoding="utf-8"))
        except ValueError as error:
            raise StoreError(f"FactorStore: {self.path / 'manifest.json'} is not JSON: {error}") from None
        if found.get("format") != "retrograd factors" or found.get("schema") != SCHEMA:
            raise StoreError(
                f"FactorStore: {self.path} has schema {found.get('schema')!r} of {found.get('format')!r}; this version "
                f"reads schema {SCHEMA} of 'retrograd factors'")
        self.manifest = found
        for shard in found["shards"]:
            self._add_file(self.path / shard["file"], shard["bytes"])

    def _add_file(self, file: Path, size: int) -> None:
        if not file.exists() or file.stat().st_size != size:
            raise StoreError(f"FactorStore: {file} is missing or does not have the {size} bytes given in the manifest")
        self._files.append(file)

    def _map(self, shard: int) -> Any:
        """(bytes, {tensor: (dtype, shape, begin, end)}, records) of a shard, of which few are held."""
        if shard not in self._maps:
            data = np.memmap(self._files[shard], np.uint8, "r")
            length = int(data[:8].view("<u8")[0])
            header = json.loads(bytes(data[8:8 + length]))
            about = header.pop("__metadata__", {})
            first = 8 + length
            table = {name: (d["dtype"], tuple(d["shape"]), first + d["data_offsets"][0], first + d["data_offsets"][1])
                     for name, d in header.items()}
            if len(self._maps) >= HELD:
                del self._maps[next(iter(self._maps))]
            self._maps[shard] = (data, table, json.loads(about["records"]))
        return self._maps[shard]

    def flush(self) -> None:
        """Close the open shard: everything appended so far is safe."""
        if self._open is None:
            return
        shard, self._open = self._open, None
        file, size = shard.finish()
        self.manifest["shards"].append({
            "file": file.name, "bytes": size, "records": len(shard.records),
            "steps": [min(r["step"] for r in shard.records), max(r["step"] for r in shard.records)]})
        self._write_manifest()
        self._add_file(file, size)
        self._where = None

    def _write_manifest(self) -> None:
        beside = self.path / "manifest.json.new"
        with open(beside, "w", encoding="utf-8") as out:
            json.dump(self.manifest, out, indent=1)
            out.flush()
            os.fsync(out.fileno())
        os.replace(beside, self.path / "manifest.json")

    def close(self) -> None:
        """Close the open shard, and let other processes write."""
        try:
            if self.mode != "r" and self._lock is not None:
                self.flush()
        finally:
            if self._lock is not None:
                self._lock.close()
                self._lock = None
        self._maps.clear()

    def __enter__(self) -> FactorStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # Writing

    @checked
    def append(self, grads: Grads, step: int, samples: Sequence[int] | None = None, token_mask: Any = None) -> int:
        """Write the factors of every parameter in `grads` (a grads.Grads); -> bytes written.

        step  the number of the training step
        samples     ids of the samples (N,); 0 to N - 1 by default
        token_mask  (N, T) which tokens count; stored too, nothing is left out
        """
        if self.mode == "r" or self._lock is None:
            raise StoreError("FactorStore.append: the store is " + ("read only" if self.mode == "r" else "closed"))
        grads._samples("FactorStore.append")
        N = len(grads)
        if token_mask is not None and not hasattr(token_mask, "shape"):
            raise TypeError(f"append: token_mask must be a tensor (N, T), got {type(token_mask).__name__}")
        ids = list(range(N)) if samples is None else [int(s) for s in samples]
        if len(ids) != N or len(set(ids)) != N:
            raise ValueError(f"FactorStore.append: expected {N} different sample ids, got {len(ids)}")
        if imaginary := [p.name for p in grads.cap.params if p.name in grads.names and p.tensor.is_complex()]:
            raise StoreError(f"FactorStore.append: expected real weights, got complex ones: {', '.join(imaginary[:6])}; "
                             "leave them out of capture(layers=)")
        engine = grads.cap.engine.name
        if self.manifest.get("engine") != engine:
            self.manifest["engine"] = engine
        report = getattr(grads, "_report", None)
        by_name = {p.name: p for p in grads.cap.params}
        written = 0
        for name in grads.names:
            p = by_name[name]
            at = 0
            for k, (term, factor, n) in enumerate(grads._each(name)):
                here, at = ids[at:at + n], at + n
                if term is None:
                    continue
                run, uses = grads._runs[k]
                kind, tensors = contents(term)
                tensors, powers = halved(grads.torch, tensors, self.manifest.get("dtype"))
                if token_mask is not None and kind != "dense":
                    tensors["mask"] = token_mask
                row = None if report is None else report[name]
                loss = loss_of(run)
                about = {
                    "layer": name, "module": p.path, "step": int(step), "kind": kind, "shape": list(p.shape),
                    "samples": here, "calls": 1 if row is None else row.calls, "run": k, "scale": factor,
                    "tokens_of_calls": tokens_of_calls(run, uses, p.number, term),
                    "dtype": sorted({str(u.dtype) for u in uses if p.number in u.numbers}),
                    "reduction": None if loss is None else [loss.kind, loss.count, loss.factor],
                    "coverage": None if row is None else row.status, "error": None if row is None else row.error,
                    "tensors": list(tensors), "powers": powers}
                written += self._write(about, tensors)
                self.manifest.setdefault("layers", {})[name] = {
                    key: about[key] for key in ("module", "shape", "kind", "calls", "coverage", "error", "reduction", "dtype")}
        if self._open is not None and self._open.size >= self.shard_bytes:
            self.flush()
        return written

    def _write(self, about: dict[str, Any], tensors: dict[str, Any]) -> int:
        if self._open is not None and not self._open.room(about, tensors):
            self.flush()
        if self._open is None:
            self._open = _Shard(self.path, len(self.manifest["shards"]))
        return self._open.add(about, tensors)

    # Reading

    @checked
    def records(self, layer: str = "*", step: int | None = None, sample: int | None = None) -> Iterator[Record]:
        """What is stored, in order: layer is a pattern of parameter names, sample an id.  Leaves out the open shard.

        layer   a pattern of names of parameters
        step    one step alone; all by default
        sample  one id alone; all by default
        """
        for store, shard, _, about in self._all():
            if step is not None and about["step"] != step:
                continue
            if sample is not None and sample not in about["samples"]:
                continue
            if layer == "*" or about["layer"] == layer or fnmatch.fnmatchcase(about["layer"], layer):
                yield Record(store, shard, about)

    def _all(self) -> Iterator[tuple[FactorStore, int, int, dict[str, Any]]]:
        """(store of the rank, shard, number there, what is known) of every record."""
        for part in self._parts:
            yield from part._all()
        for shard in range(len(self._files)):
            for i, about in enumerate(self._map(shard)[2]):
                yield self, shard, i, about

    def __len__(self) -> int:
        """Number of records."""
        return sum(1 for _ in self.records())

    @property
    def layers(self) -> list[str]:
        """Names of the parameters, in the order in which they first appear."""
        return list(dict.fromkeys(r.layer for r in self.records()))

    @checked
    def read(self, layer: str, sample: int, step: int | None = None) -> dict[str, Any]:
        """{"a": (T, I), "delta": (T, O)} of one sample of one weight; the latest step by default.  KeyError.

        layer   the name of the weight
        sample  its id
        step    of the training
        """
        if self._where is None:
            self._where = {}
            for store, shard, i, about in self._all():
                for row, s in enumerate(about["samples"]):
                    self._where.setdefault((about["layer"], s), []).append((store, shard, i, row, about["step"]))
        for store, shard, i, row, its in reversed(self._where.get((layer, sample), [])):
            if step is None or its == step:
                record = Record(store, shard, store._map(shard)[2][i])
                return {name: record.array(name, row) for name in record.about["tensors"]}
        raise KeyError(f"FactorStore: no sample {sample} of {layer}" + ("" if step is None else f" in step {step}"))

    def _tensor(self, shard: int, name: str, row: int | slice | None) -> Any:
        data, table, _ = self._map(shard)
        dtype, shape, begin, end = table[name]
        if row is not None:
            each = (end - begin) // max(shape[0], 1)
            first, last = (row, row + 1) if isinstance(row, int) else (row.start, row.stop)
            begin, end, shape = begin + first * each, begin + last * each, (
                shape[1:] if isinstance(row, int) else (last - first, *shape[1:]))
        if isinstance(row, slice):              # read, for pages of a map count as memory of the process
            return tensor_of(self.engine, np.fromfile(self._files[shard], np.uint8, end - begin, offset=begin), dtype, shape)
        return tensor_of(self.engine, data[begin:end], dtype, shape)


class _Shard:
    """A shard being written: tensors behind a gap, into which the header goes at the end."""

    def __init__(self, path: Path, number: int) -> None:
        self.target = path / f"shard-{number:05d}.safetensors"
        self.temporary = path / f"shard-{number:05d}.open"
        self.file = open(self.temporary, "wb", buffering=0)
        self.file.seek(8 + RESERVED)
        self.size = 0
        self.table: dict[str, Any] = {}
        self.records: list[dict[str, Any]] = []
        self.header = 200                       # bytes of JSON so far, counted from above

    def room(self, about: dict[str, Any], tensors: dict[str, Any]) -> bool:
        """Will the header still fit?"""
        return self.header + self._cost(about, tensors) < RESERVED

    def _cost(self, about: dict[str, Any], tensors: dict[str, Any]) -> int:
        return 2 * len(json.dumps(about)) + 160 * len(tensors) + 64

    def add(self, about: dict[str, Any], tensors: dict[str, Any]) -> int:
        cost = self._cost(about, tensors)
        if self.header + cost >= RESERVED:
            raise StoreError(f"FactorStore: {len(about['samples'])} sample ids are too many for one shard's header")
        about = {**about, "id": len(self.records)}
        before = self.size
        for name, t in tensors.items():
            array, dtype, shape = bytes_of(t)
            view = memoryview(array).cast("B") if array.size else b""
            done = 0
            while done < len(view):             # an unbuffered write may take less
                done += self.file.write(view[done:done + (1 << 30)])
            self.table[f"{about['id']}.{name}"] = {
                "dtype": dtype, "shape": list(shape), "data_offsets": [self.size, self.size + len(view)]}
            self.size += len(view)
        self.records.append(about)
        self.header += cost
        return self.size - before

    def finish(self) -> tuple[Path, int]:
        head = json.dumps({"__metadata__": {"records": json.dumps(self.records)}, **self.table}).encode()
        if len(head) > RESERVED:
            raise StoreError("FactorStore: a shard's header outgrew its room")
        self.file.seek(0)
        self.file.write(RESERVED.to_bytes(8, "little") + head + b" " * (RESERVED - len(head)))
        os.fsync(self.file.fileno())
        self.file.close()
        os.replace(self.temporary, self.target)
        return self.target, 8 + RESERVED + self.size


def tokens_of_calls(run: Any, uses: list[Any], number: int, term: Term) -> list[int] | None:
    """How many of a record's tokens came from each call, in order; None for a weight without tokens, or of some tokens."""
    if not isinstance(term, (Outer, Rows)):
        return None
    width = term.factors[1].shape[-1] if isinstance(term, Outer) else term.d.shape[-1]
    counts = [u.delta.numel() // ((run.size or 1) * width) for u in uses if number in u.numbers and u.arrived]
    return counts if sum(counts) == term.token_count() else None


def contents(term: Term) -> tuple[str, dict[str, Any]]:
    """(kind, tensors) of a term."""
    if isinstance(term, Outer):
        a, d = term.factors
        return "outer", {"a": a, "delta": d}
    if isinstance(term, Rows):
        return "rows", {"ids": term.ids, "delta": term.d}
    return "dense", {"gradient": term.per_sample()}


def halved(T: Any, tensors: dict[str, Any], dtype: str | None) -> tuple[dict[str, Any], dict[str, int]]:
    """Floating-point tensors in half the room, {tensor: power of two it was multiplied by}.  Narrow ones stay as they are."""
    found, powers = {}, {}
    for name, t in tensors.items():
        if dtype is not None and t.is_floating_point() and t.dtype.itemsize > 2:
            power = 0
            if dtype == "float16" and t.numel():
                most = float(t.abs().max())
                if most > 0 and math.isfinite(most):
                    power = min(120, 15 - math.frexp(most)[1])      # below 2 ** 15, where float16 ends at 2 ** 16
            powers[name] = power
            t = (t * 2.0 ** power if power else t).to(getattr(T, dtype))
        found[name] = t
    return found, powers


def bytes_of(t: Any) -> tuple[Any, str, tuple[int, ...]]:
    """(contiguous array of its bytes, safetensors dtype, shape)"""
    shape = tuple(t.shape)
    name = str(t.dtype).rpartition(".")[2]
    if name == "bfloat16":
        if hasattr(t, "array"):
            return np.ascontiguousarray(t.array).view(np.int16), "BF16", shape
        return t.detach().cpu().contiguous().view(sys.modules["torch"].int16).numpy(), "BF16", shape
    array = np.ascontiguousarray(t.array if hasattr(t, "array") else t.detach().cpu().numpy())
    code = {"float64": "F64", "float32": "F32", "float16": "F16", "int64": "I64", "int32": "I32", "bool": "BOOL"}[name]
    return array, code, shape


def tensor_of(engine: Any, data: Any, dtype: str, shape: tuple[int, ...]) -> Any:
    """A tensor with these bytes, copied if they are of a map."""
    T = engine.torch
    if dtype == "BF16":
        raw = T.from_numpy(owned(data).view(np.int16))
        return raw.view(T.bfloat16).reshape(shape)
    return T.from_numpy(owned(data).view(NUMPY[dtype]).reshape(shape))


def owned(data: Any) -> Any:
    """Bytes that are not of a map."""
    return data if data.flags.owndata else np.array(data)


def wide(t: Any) -> Any:
    return t.float() if t.dtype.itemsize < 4 else t
