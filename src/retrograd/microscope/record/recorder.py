"""record(): every forward op, backward node, hook, accumulation and optimiser step, in order.

Recorder keeps the tables and the events; a tap (tap_torch.py, tap_retrograd.py) tells it what its engine does.  All that
a tap changes meanwhile goes through `Recorder.later` and `Recorder.swap`, so that one place undoes it.
"""
from __future__ import annotations

import functools
import sys
import threading
import time
from typing import Any
from weakref import proxy, ref

from .._hooked import Hooked
from ..arguments import checked
from ..errors import tied
from ..listen import engine_of_module
from ..listen.sites import Sites
from .book import now
from .exchanges import clock, rank_of_process
from .fired import OF_OPTIMIZERS
from .kept import kept_graphs
from .naming import Names, numbered
from .recording import FIELDS, POSITION, Recording
from .swaps import NOTHING, Seat, swap_in, swap_out

LIMIT = 500_000
VALUES = 1 << 30                    # bytes of kept values
ON_OPTIMIZERS = {kind for _, kind in OF_OPTIMIZERS}
PYTHON = sys.version.split()[0]
_running: list[Recorder] = []


class RecordingError(RuntimeError):
    """A recording cannot start, or cannot answer the question."""


@checked
def record(
    *models: Any, ops: bool = True, nodes: bool = True, norms: bool = True, values: str | None = None,
    limit: int = LIMIT, max_bytes: int = VALUES, engine: str | None = None, replay: bool = False,
) -> Recorder:
    """Context manager that records what autograd does, in retrograd and PyTorch, into a Recording.

        with record(model) as rec:
            loss_of(model(x), y).backward()

    models     modules whose paths name things; several are told apart by the variables that hold them; models not given are
               named when they are first called
    ops        forward ops and module calls; False: hooks, backward nodes and steps only
    nodes      backward nodes; ops=False, nodes=False records only hooks and steps (of hooks on nodes and on results of ops,
               those registered in the block, since nothing walks the graph)
    norms      norm, min, max and shares of zeros, NaN and inf of every tensor seen
    values     "parameters": keep the gradients that reach parameters (the ledger needs them); "paths": also what each way
               through the graph brings to them (the graph is kept after backward for it); "all": every tensor seen
    limit      events kept; later ones are counted in rec.dropped
    max_bytes  bytes of values kept; later ones are dropped and rec.notes says so
    engine     "retrograd" or "torch"; None: that of the models, or whichever of the two is loaded
    replay     keep what rec.replay() needs to run a step again: the graph (retrograd), arguments, copies of weights

    RecordingError inside another recording.  Whatever ends the block, hooks and patches are gone and events are kept.
    """
    if values not in (None, "parameters", "paths", "all"):
        raise ValueError(f"record: values must be None, 'parameters', 'paths' or 'all', not {values!r}")
    if type(limit) is not int or limit < 1:
        raise ValueError(f"record: limit must be a positive number of events, not {limit!r}")
    if engine not in (None, "retrograd", "torch"):
        raise ValueError(f"record: engine must be 'retrograd' or 'torch', not {engine!r}")
    if replay and not ops:
        raise ValueError("record: replay=True needs the forward pass, and ops=False leaves it out")
    if values == "paths" and not nodes:
        raise ValueError("record: values='paths' needs backward nodes, and nodes=False leaves them out")
    return Recorder(models, ops, nodes, norms, values, limit, max_bytes, engine, replay)


class Recorder(Names):
    """The context that record() makes; `with` gives the Recording."""

    __reduce_ex__ = tied

    def __init__(self, models: tuple[Any, ...], ops: bool, nodes: bool, norms: bool, values: str | None, limit: int,
                 max_bytes: int, engine: str | None, replay: bool) -> None:
        super().__init__(Recording(), Sites(), Hooked, norms, "parameters" if values == "paths" else values, limit)
        self.models, self.ops, self.nodes, self.asked = models, ops, nodes, values
        self.lone: Any = None
        self.given = set(map(id, models))
        self.splitting: Any = None                      # of the pass that runs, with values="paths"
        self.max_bytes, self.replay = max_bytes, replay
        self.timed = ops or nodes
        self.bytes = 0
        self.pass_count = 0
        self._undo: list[Any] = []
        self._handles: dict[int, list[tuple[Any, int]]] = {}
        self._optimizers: dict[int, tuple[Any, int]] = {}
        self.zeroed: list[tuple[int, Any]] = []         # zero events of optimizers, and a weak reference of each
        self.naming = threading.RLock()
        self._told: set[tuple[int, int]] = set()
        self.built: list[tuple[Any, str, Any, int]] = []
        self.taps = [make(self) for make in taps_for(models, engine)]

    # -- the block

    def __enter__(self) -> Recording:
        if _running:
            raise RecordingError(
                "record: a recording is already running, and recordings do not nest: end its `with` block first"
                + ("" if _running[0] is not self else " (this very one)"))
        if self.start:
            raise RecordingError("record: this recording has ended; call record() again for a new one")
        _running.append(self)
        self.start = now()
        self.firing = self.fired
        try:
            rec = self.rec
            rec.live = self
            rec.sites = self.sites.table
            versions = {}
            for tap in self.taps:
                versions[tap.name] = tap.version
            rec.header = {
                "engine": "+".join(versions), "versions": versions,
                "python": PYTHON, "created": date(int(time.time())),
                "ops": self.ops, "nodes": self.nodes, "norms": self.norms, "values": self.asked,
                "limit": self.limit, "argv": list(sys.argv[:8])}
            self.on = True
            for tap in self.taps:
                tap.install()
            self.lone = lone(self.models)
            for model in self.models:
                tap = next(t for t in self.taps if isinstance(model, t.Module))
                self.name_model(tap, model)
            for tap in self.taps:
                tap.listen()
        except BaseException:
            self.stop(None)
            raise
        return self.rec

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        self.stop(error)

    def stop(self, error: BaseException | None) -> None:
        """Undo every change, keep the events."""
        try:
            self.name_late()
            if self.ops:
                self.look_at_parameters()
                for name, site, count in kept_graphs(self, sys._getframe(2)):
                    self.note("kept", f"{name} keeps results of {count} steps with their graphs", site)
        except Exception as failure:                            # of a model of the user's
            self.rec.notes.append(f"not named: what was put into models meanwhile: {failure!r}")
        self.on = False
        failures = []
        for undo, *arguments in reversed(self._undo):
            try:
                undo(*arguments)
            except Exception as failure:                        # the others must still be undone
                failures.append(f"not undone: {failure!r}")
        self._undo.clear()
        self.unwrap()
        self.firing = None
        self.pending.clear()
        for tap in self.taps:
            tap.close()
        rec = self.rec
        rec.error = None if error is None else f"{type(error).__name__}: {str(error)[:400]}".rstrip(": ")
        rec.complete = error is None
        rec.notes.extend(failures)
        rank = rank_of_process()
        if "rank" in rec.header or rank is not None:
            rec.header.setdefault("rank", rank)
            rec.header["clock"] = clock(self.start)
        self.settle()
        if len(rec.optimizers) > 1:
            self.name_optimizers()
        self._seen.clear()
        if self in _running:
            _running.remove(self)
        if self.alone() and not self.replay:
            for tap in self.taps:
                tap.let_go()
            self.rec = proxy(rec)

    def look_at_parameters(self) -> None:
        """The block ends: which parameters have no .grad then, or want none; what it is of the others."""
        for n, known in self._parameters.items():
            p = known()
            if p is not None and self.nodes and p.is_leaf and p.grad is not None:
                tap = next(tap for tap in self.taps if isinstance(p, tap.Tensor))
                with tap.quiet():
                    self.rec.tensor_names[n]["at_end"] = tap.grad_now(p, p.grad)
            if p is not None and p.is_leaf:
                names = self.rec.tensor_names[n]
                if p.grad is None:
                    names["empty"] = 1
                if p.requires_grad != bool(self.rec.tensor_rows[n][2] & 2):
                    names["wants_at_end"] = int(p.requires_grad)

    def swap(self, plan: Any) -> None:
        """What plan(put, seat), a method of a tap, puts somewhere stands there until the recording ends.

        It is asked once in a process, and again when something else stands there by then.
        """
        kept = plan_of(plan)
        entries = kept.entries
        self._undo.append((swap_out, entries))
        if not (entries and swap_in(entries)):
            entries.clear()
            kept.seat = Seat()
            plan(lambda owner, name, new: entries.append((owner, vars(owner), name, new, vars(owner).get(name, NOTHING))),
                 kept.seat)
            swap_in(entries)
        kept.seat.current = plan.__self__
        self._undo.append((setattr, kept.seat, "current", None))

    def later(self, undo: Any, *arguments: Any) -> None:
        """Call undo(*arguments) at the end."""
        self._undo.append((undo, *arguments))

    # -- events

    def note(self, what: str, text: str, site: int = -1) -> None:
        """Something a reader of the recording must know."""
        self.put(("note", now() - self.start, 0, self.thread().number, what, text, site))

    # -- values

    def keep(self, tap: Any, n: int, t: Any) -> None:
        """Keep a copy of t as the array of value n."""
        if n < 0 or n in self.rec.arrays:
            return
        array = tap.array_of(t)
        if array is None:
            return
        if self.has_room(array.nbytes):
            self.bytes += array.nbytes
            self.rec.arrays[n] = array.copy()

    def has_room(self, size: int) -> bool:
        """May so many more bytes of values be kept?"""
        if self.bytes + size <= self.max_bytes:
            return True
        note = f"values beyond {self.max_bytes} bytes were not kept (max_bytes=)"
        if note not in self.rec.notes:
            self.rec.notes.append(note)
        return False

    def blame(self, tap: Any, tensors: list[Any], values: list[int]) -> None:
        """An op gave NaN or inf: were its inputs finite?  Those that no op made were not measured yet."""
        if not self.norms:
            return
        stats = self.rec.stats
        for v in values:
            if v >= 0 and (stats[7 * v + 5] or stats[7 * v + 6]):
                break
        else:
            return
        for t in tensors:
            n = self.tensor_number(t)
            if n is not None and self.rec.tensor_rows[n][1] < 0 and n not in self.rec.input_values:
                self.rec.input_values[n] = self.value(tap, t)

    def row_of(self, n: int) -> Any:
        return self.rec.stats[7 * n:7 * n + 7]

    # -- hooks

    def registered(self, tap: Any, handle: Any, table: Any, hook: Any, place: tuple[str, str, int], frame: Any) -> None:
        """A hook gets its handle: remember where, and wrap it before it can fire.  place: kind, what it is on, its number."""
        kind, on, owner = place
        site = self.sites.here(frame)
        if kind == "tensor" and tap.of_several(hook, owner, id(table), handle.id, site):
            return
        n = self.new_hook(tap, kind, on, owner, site, False)
        self._hooks[id(table), handle.id] = n
        self._handles.setdefault(id(handle), []).append((ref(handle), n))
        self.pending.append((tap, ref(table), kind, on, owner))

    def hook_of(self, handle: Any) -> int | None:
        """The hook behind a handle."""
        for known, n in self._handles.get(id(handle), ()):
            if known() is handle:
                return n
        table = handle.hooks_dict_ref()
        return None if table is None else self._hooks.get((id(table), handle.id))

    # -- optimisers

    def optimizer(self, tap: Any, optimizer: Any) -> int:
        known = self._optimizers.get(id(optimizer))
        if known is not None and known[0]() is optimizer:
            return known[1]
        taken = [o["variable"] for o in self.rec.optimizers]
        name = self.variable_of(optimizer, taken)
        name = None if name is None else numbered(name, taken)
        with self.lock:
            n = len(self.rec.optimizers)
            self.rec.optimizers.append({
                "type": type(optimizer).__name__, "engine": tap.name, "variable": name,
                "tensors": []})
        self._optimizers[id(optimizer)] = (ref(optimizer), n)
        self.rec.optimizers[n]["tensors"] = [self.tensor(tap, p) for g in optimizer.param_groups for p in g["params"]]
        return n


    def name_optimizers(self) -> None:
        """The recording is over: what was on one of several optimizers says which."""
        rec = self.rec
        numbers = {id(known): n for known, n in self._optimizers.values()}
        owner = POSITION["zero"]["owner"]
        for i, known in self.zeroed:
            if id(known) in numbers:
                row = rec.rows[i]
                rec.rows[i] = (*row[:owner], rec.name_of_optimizer(numbers[id(known)]), *row[owner + 1:])
        for hook in rec.hooks:
            if hook["owner"] >= 0 and hook["kind"] in ON_OPTIMIZERS:
                hook["on"] = rec.name_of_optimizer(hook["owner"])


class Kept:
    """What Recorder.swap keeps of a tap's method: entries of (owner, vars(owner), name, new, what was there)."""

    def __init__(self) -> None:
        self.entries: list[Any] = []
        self.seat = Seat()


_plans: dict[Any, Kept] = {}


def plan_of(plan: Any) -> Kept:
    key = type(plan.__self__), plan.__name__
    return _plans.get(key) or _plans.setdefault(key, Kept())


@functools.lru_cache(1)
def date(seconds: int) -> str:
    """The time of day of a recording."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(seconds))


def lone(models: tuple[Any, ...]) -> Any:
    """The model that contains all others; None when there is none."""
    if len(models) < 2:
        return models[0] if models else None
    below = {id(child) for m in models for child in m.modules() if child is not m}
    roots = {id(m): m for m in models if id(m) not in below}
    return next(iter(roots.values())) if len(roots) == 1 else None


def taps_for(models: tuple[Any, ...], engine: str | None) -> list[Any]:
    """The taps that a recording of these models needs."""
    wanted = set() if engine is None else {engine}
    for model in models:
        home = engine_of_module(model, "record").name
        if engine is not None and home != engine:
            raise RecordingError(f"record: a model of {home} and engine={engine!r}")
        wanted.add(home)
    if not wanted:
        wanted.add("retrograd")
        loaded = sys.modules.get("torch")
        if loaded is not None and loaded is not sys.modules.get("retrograd") and hasattr(loaded, "_C"):
            wanted.add("torch")
    return [_taps.get(name) or tap_of(name) for name in ("retrograd", "torch") if name in wanted]


def tap_of(engine: str) -> Any:
    """The class that knows an engine; PyTorch is imported when asked for."""
    if engine == "torch":
        from .tap_torch import TorchTap
        _taps[engine] = TorchTap
    else:
        from .tap_retrograd import RetrogradTap
        _taps[engine] = RetrogradTap
    return _taps[engine]


_taps: dict[str, Any] = {}


__all__ = ["FIELDS", "POSITION", "RecordingError", "record"]
