"""record(): every forward op, backward node, hook, accumulation and optimiser step, in order.

Recorder keeps the tables and the events; a tap (tap_torch.py, tap_retrograd.py) tells it what its engine does.  All that
a tap changes meanwhile goes through `Recorder.patch` and `Recorder.swap`, so that one place undoes it.
"""
from __future__ import annotations

import sys
import threading
import time
from array import array
from typing import Any
from weakref import ref

from ._hooked import PLACE, Hooked, first_tensors
from ._measure import Row
from ._sites import Sites, name_of
from .naming import Names
from .recording import FIELDS, POSITION, Recording

now = time.perf_counter_ns
NOTHING = object()
UNMEASURED: Row = (-1, 0.0, 0.0, 0.0, 0, 0, 0)
BLANK = array("d", UNMEASURED)
LIMIT = 500_000
VALUES = 1 << 30                    # bytes of kept values
_running: list[Recorder] = []


class RecordingError(RuntimeError):
    """A recording cannot start or be used as asked."""


def record(
    *models: Any, ops: bool = True, nodes: bool = True, norms: bool = True, values: str | None = None,
    limit: int = LIMIT, max_bytes: int = VALUES, engine: str | None = None, replay: bool = False,
) -> Recorder:
    """Context: record what autograd does, of retrograd and of PyTorch, into a Recording.

        with record(model) as rec:
            loss_of(model(x), y).backward()

    models     modules whose paths name things; others are named as they are first called
    ops        forward ops and module calls; False: hooks, backward nodes and steps only
    nodes      backward nodes; with ops=False, nodes=False what is left are hooks and steps
    norms      norm, min, max and shares of zeros, NaN and inf of every tensor seen
    values     "parameters": keep the gradients that reach parameters (the ledger needs them); "paths": also what each way
               through the graph brings to them (the graph is kept after backward for it); "all": every tensor seen
    limit      events kept; later ones are counted in rec.dropped
    max_bytes  bytes of values kept; later ones are dropped and rec.notes says so
    engine     "retrograd" or "torch"; None: that of the models, or whichever of the two is loaded
    replay     keep the graph after backward, so that rec.replay() can run it again (retrograd only)

    RecordingError inside another recording.  Whatever ends the block, hooks and patches are gone and events are kept.
    """
    if values not in (None, "parameters", "paths", "all"):
        raise ValueError(f"record: values must be None, 'parameters', 'paths' or 'all', not {values!r}")
    if type(limit) is not int or limit < 1:
        raise ValueError(f"record: limit must be a positive number of events, not {limit!r}")
    if engine not in (None, "retrograd", "torch"):
        raise ValueError(f"record: engine must be 'retrograd' or 'torch', not {engine!r}")
    if values == "paths" and not nodes:
        raise ValueError("record: values='paths' needs backward nodes, and nodes=False leaves them out")
    if replay and engine == "torch":
        raise RecordingError("record: replay needs retrograd's own graph: PyTorch's cannot be run with other hooks")
    return Recorder(models, ops, nodes, norms, values, limit, max_bytes, engine, replay)


class Thread:
    """What a thread is doing."""

    __slots__ = ("modules", "passes", "busy", "last", "number", "open", "adopting", "stepping", "extra",
                 "told")

    def __init__(self, number: int) -> None:
        self.modules: list[tuple[int, int, Any]] = []   # (module, call, the object), innermost last
        self.passes: list[int] = []
        self.busy = 0                                   # ours: what ops do now is not recorded
        self.last = now()
        self.number = number
        self.open: list[Any] = []                       # nodes of retrograd that run, innermost last
        self.adopting = False                           # ops of this thread are seen
        self.extra: Any = ()                            # tensors that the next ops read besides their inputs
        self.told = 0                                   # id of an error that a pass was refused with
        self.stepping = False                           # inside an optimizer's step, whose ops are its own


class Recorder(Names):
    """The context that record() makes; `with` gives the Recording."""

    def __init__(self, models: tuple[Any, ...], ops: bool, nodes: bool, norms: bool, values: str | None, limit: int,
                 max_bytes: int, engine: str | None, replay: bool) -> None:
        self.models, self.ops, self.nodes, self.norms = models, ops, nodes, norms
        self.asked, self.values = values, "parameters" if values == "paths" else values
        self.splitting: Any = None                      # of the pass that runs, with values="paths"
        self.limit, self.max_bytes, self.replay = limit, max_bytes, replay
        self.on = False
        self.full = False
        self.rec = Recording()
        self.rows: list[Any] = self.rec.rows
        self.lock = threading.Lock()
        self.local = threading.local()
        self.sites = Sites()
        self.bytes = 0
        self.start = 0
        self.threads = 0
        self.pass_count = 0
        self.open_passes: list[int] = []
        self._undo: list[Any] = []
        self._swapped: list[tuple[Any, int]] = []
        self._likes: dict[Any, int] = {}
        self._ids: dict[int, tuple[Any, int]] = {}              # id of a tensor -> (weak reference, number)
        self._seen: dict[int, tuple[Any, int, int]] = {}        # id -> (weak reference, version, number of its value)
        self._modules: dict[int, tuple[Any, int]] = {}
        self._hooks: dict[tuple[int, int], int] = {}            # (id of the table, id of the handle) -> hook
        self._handles: dict[int, list[tuple[Any, int]]] = {}
        self._optimizers: dict[int, tuple[Any, int]] = {}
        self.pending: list[tuple[Any, Any, str, str, int]] = []   # tables with a registration still to be wrapped
        self.named_root = False
        self._parameters: dict[int, Any] = {}                   # number -> weak reference
        self.owners: dict[int, set[int]] = {}                   # parameter -> modules that have it
        self.guessed: set[int] = set()                          # modules named by themselves, not as part of a model
        self._told: set[tuple[int, int]] = set()
        self.taps = [make(self) for make in taps_for(models, engine)]

    # -- the block

    def __enter__(self) -> Recording:
        if _running:
            raise RecordingError(
                "record: a recording is going on already, and recordings do not nest: end its `with` block first"
                + ("" if _running[0] is not self else " (this very one)"))
        if self.start:
            raise RecordingError("record: this recording is over; call record() again for a new one")
        _running.append(self)
        self.start = now()
        try:
            rec = self.rec
            rec.live = self
            rec.sites = self.sites.table
            rec.header = {
                "engine": "+".join(tap.name for tap in self.taps), "versions": {t.name: t.version for t in self.taps},
                "python": sys.version.split()[0], "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                "ops": self.ops, "nodes": self.nodes, "norms": self.norms, "values": self.asked,
                "limit": self.limit, "argv": list(sys.argv[:8])}
            self.on = True
            for tap in self.taps:
                tap.install()
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
        self.on = False
        failures = []
        for undo, *arguments in reversed(self._undo):
            try:
                undo(*arguments)
            except Exception as failure:                        # the others must still be undone
                failures.append(repr(failure))
        self._undo.clear()
        for table, key in self._swapped:
            live = table()
            hooked = None if live is None else live.get(key)
            if type(hooked) is Hooked:
                live[key] = hooked.hook
        self._swapped.clear()
        self.pending.clear()
        for tap in self.taps:
            tap.close()
        rec = self.rec
        rec.error = None if error is None else f"{type(error).__name__}: {str(error)[:400]}".rstrip(": ")
        rec.complete = error is None
        rec.notes.extend(f"not undone: {text}" for text in failures)
        self.settle_rows()
        self.settle_names()
        self._seen.clear()
        if self in _running:
            _running.remove(self)

    def settle_rows(self) -> None:
        """Events that never came to an end (an exception passed through them) end at the last thing that happened."""
        for i, row in enumerate(self.rows):
            if row is None:
                self.rows[i] = ("note", now() - self.start, 0, 0, "unfinished", "it was cut short", -1)

    def settle_names(self) -> None:
        """Say where hooks sit with the names that were found since."""
        rec = self.rec
        for hook in rec.hooks:
            if hook["owner"] >= 0 and hook["kind"] in ("tensor", "post_accumulate"):
                hook["on"] = rec.name_of_tensor(hook["owner"])
            elif hook["owner"] >= 0 and hook["kind"] not in ("node_pre", "node_post", "step_pre", "step_post"):
                hook["on"] = rec.modules[hook["owner"]]["path"] or "the model"

    def patch(self, owner: Any, name: str, new: Any) -> None:
        """owner.name = new, until the recording ends."""
        old = vars(owner).get(name, NOTHING)
        setattr(owner, name, new)
        self._undo.append((_restore, owner, name, old))

    def later(self, undo: Any, *arguments: Any) -> None:
        """Call undo(*arguments) at the end."""
        self._undo.append((undo, *arguments))

    # -- events

    def thread(self) -> Thread:
        found = getattr(self.local, "it", None)
        if found is None:
            with self.lock:
                self.threads += 1
                found = Thread(self.threads - 1)
            self.local.it = found
        return found

    def reserve(self, kind: str) -> int:
        """The number of an event that begins; -1 when there is no room for it."""
        with self.lock:
            n = len(self.rows)
            if n >= self.limit:
                self.full = True
                self.rec.dropped[kind] = self.rec.dropped.get(kind, 0) + 1
                return -1
            self.rows.append(None)
            return n

    def put(self, row: tuple[Any, ...]) -> int:
        """Add an event that took no time."""
        n = self.reserve(row[0])
        if n >= 0:
            self.rows[n] = row
        return n

    def note(self, what: str, text: str, site: int = -1) -> None:
        """Something a reader of the recording must know."""
        self.put(("note", now() - self.start, 0, self.thread().number, what, text, site))

    # -- tensors and values

    def like(self, tap: Any, t: Any) -> int:
        key = tap.key_of(t)
        found = self._likes.get(key)
        if found is None:
            found = self.new_like(key, t.shape, t.dtype, t.device)
        return found

    def new_like(self, key: Any, shape: Any, dtype: Any, device: Any) -> int:
        with self.lock:
            found = self._likes[key] = len(self.rec.likes)
            self.rec.likes.append((tuple([int(n) for n in shape]), str(dtype).rpartition(".")[2], str(device)))
        return found

    def tensor(self, tap: Any, t: Any) -> int:
        """The number of a tensor seen before, or a new one."""
        known = self._ids.get(id(t))
        if known is not None and known[0]() is t:
            return known[1]
        return self.new_tensor(tap, t, -1, -1)

    def new_tensor(self, tap: Any, t: Any, made_by: int, stem: int, sweep: bool = True) -> int:
        leaf = t.is_leaf
        wants = t.requires_grad
        like = self.like(tap, t)
        with self.lock:
            n = len(self.rec.tensor_rows)
            self.rec.tensor_rows.append((like, made_by, leaf + 2 * wants, stem))
        self._ids[id(t)] = (ref(t), n)
        if wants and made_by == -1 and sweep:
            if leaf:
                self.name_new_leaf(tap, t, n)
            tap.sweep_tensor(t)                         # it may have hooks from before the recording
        return n

    def tensor_number(self, t: Any) -> int | None:
        known = self._ids.get(id(t))
        return known[1] if known is not None and known[0]() is t else None

    def value(self, tap: Any, t: Any) -> int:
        """The number of t's value now; the same as before when t is the same and was not edited."""
        if t is None:
            return -1
        key = id(t)
        version = tap.version_of(t)
        known = self._seen.get(key)
        if known is not None and known[1] == version and known[0]() is t:
            return known[2]
        n = self.new_value(tap, t, tap.measure(t) if self.norms else UNMEASURED)
        self._seen[key] = (ref(t), version, n)
        return n

    def new_value(self, tap: Any, t: Any, row: Row) -> int:
        like = self.like(tap, t)
        rec = self.rec
        with self.lock:
            n = len(rec.value_likes)
            rec.value_likes.append(like)
            rec.stats.extend(BLANK if row is UNMEASURED else row)
        if self.values == "all":
            self.keep(tap, n, t)
        return n

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

    def registered(self, tap: Any, handle: Any, table: Any, frame: Any) -> None:
        """A hook gets its handle: remember where, and wrap it before it can fire."""
        if id(frame.f_code) in tap.own:                 # the engine's
            return
        found = tap.registration(frame, table)
        if found is None:
            tap.own[id(frame.f_code)] = frame.f_code
            return
        kind, on, owner = found
        site = self.sites.here(frame)
        n = self.new_hook(tap, kind, on, owner, site, False)
        self._hooks[id(table), handle.id] = n
        self._handles.setdefault(id(handle), []).append((ref(handle), n))
        if kind == "node":                              # the tap finds the table when the node runs
            return
        self.pending.append((tap, ref(table), kind, on, owner))

    def new_hook(self, tap: Any, kind: str, on: str, owner: int, site: int, prior: bool) -> int:
        with self.lock:
            n = len(self.rec.hooks)
            self.rec.hooks.append({
                "kind": kind, "name": "?", "on": on, "owner": owner, "defined": -1, "registered": site,
                "prior": prior, "fired": 0, "changed": 0, "at": now() - self.start, "removed": False,
                "engine": tap.name})
        return n

    def sweep_pending(self) -> None:
        while self.pending:
            tap, table, kind, on, owner = self.pending.pop()
            live = table()
            if live is not None:
                self.sweep(tap, live, kind, on, owner)

    def unswept(self, table: Any) -> bool:
        """Is there a hook in the table around which we are not yet?"""
        for hook in table.values():
            if type(hook) is not Hooked or hook.recorder is not self:
                return True
        return False

    def sweep(self, tap: Any, table: Any, kind: str, on: str, owner: int, with_kwargs: Any = ()) -> None:
        """Put ourselves around the hooks in a table, where we are not yet."""
        place, live = id(table), ref(table)
        for key, hook in list(table.items()):
            if type(hook) is Hooked and hook.recorder is self or tap.is_ours(hook):
                continue
            n = self._hooks.get((place, key))
            if n is None:
                n = self._hooks[place, key] = self.new_hook(tap, kind, on, owner, -1, True)
            row = self.rec.hooks[n]
            if row["kind"] == "node":
                row["kind"], row["on"], row["owner"] = kind, on, owner
            plain = tap.plain(hook)
            row["name"], row["defined"] = name_of(plain), self.sites.of_function(plain)
            table[key] = Hooked(self, tap, hook, row["kind"], n, key in with_kwargs)
            self._swapped.append((live, key))
        if len(self._swapped) > 10_000:
            self._swapped = [(t, k) for t, k in self._swapped if t() is not None]

    def fire(self, hooked: Hooked, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A hook fires: look at what it gets, let it run, look at what it made of it."""
        tap = hooked.tap
        kind = hooked.kind
        thread = self.thread()
        row = self.rec.hooks[hooked.number]
        row["fired"] += 1
        place = PLACE.get(kind)
        sees: list[Any] = []
        before: tuple[int, ...] = ()
        keeps = False
        if place is not None:
            sees = [args[0].grad] if kind == "post_accumulate" else first_tensors(args[place], tap.Tensor)
            thread.busy += 1
            before = tuple([self.value(tap, t) for t in sees])
            if self.values is not None and kind in ("tensor", "post_accumulate", "node_pre", "node_post"):
                keeps = True
                for n, t in zip(before, sees):
                    if t is not None:
                        self.keep(tap, n, t)
            thread.busy -= 1
        versions = [None if t is None else tap.version_of(t) for t in sees]
        slot = self.reserve("hook")
        number = thread.passes[-1] if thread.passes else self.open_passes[-1] if self.open_passes else -1
        node = tap.node_of_hook(hooked, thread, slot)
        began = now()
        try:
            result = hooked.hook(*args, **kwargs)
        except BaseException as error:
            if slot >= 0:
                self.rows[slot] = ("hook", began - self.start, now() - began, thread.number, number, hooked.number, node,
                                   before, (), None, False, f"{type(error).__name__}: {error}"[:400])
            raise
        took = now() - began
        changed: Any = None
        after: tuple[int, ...] = ()
        if place is not None:
            made = sees
            if kind == "post_accumulate":
                made = [args[0].grad]
            elif result is not None:
                if hooked.with_kwargs and kind == "forward_pre" and isinstance(result, tuple) and len(result) == 2:
                    made = first_tensors(result[0], tap.Tensor)
                else:
                    made = first_tensors(result, tap.Tensor)
            thread.busy += 1
            if untouched(tap, sees, versions, made):
                after, changed = before, False
            else:
                after = tuple([self.value(tap, t) for t in made])
                if keeps:
                    for n, t in zip(after, made):
                        if t is not None:
                            self.keep(tap, n, t)
                changed = self.compare(tap, sees, versions, before, made, after, slot)
            thread.busy -= 1
            if changed:
                row["changed"] += 1
            if kind in ("tensor", "node_pre"):
                tap.replaced(thread, kind, after)
        thread.last = now()
        if slot >= 0:
            self.rows[slot] = ("hook", began - self.start, took, thread.number, number, hooked.number, node, before,
                               after, changed, result is not None, None)
        return result

    def compare(self, tap: Any, sees: list[Any], versions: list[Any], before: tuple[int, ...], made: list[Any],
                after: tuple[int, ...], slot: int) -> bool | None:
        """Did the hook change anything?  None: it wrote into a tensor, and the statistics are those of before."""
        if len(sees) != len(made):
            return True
        unknown = False
        for old, version, n, new, m in zip(sees, versions, before, made, after):
            if old is new:
                if old is None or tap.version_of(old) == version:
                    continue
                tap.edited(old)
                if not self.norms or self.row_of(n) != self.row_of(m):
                    return True
                unknown = True
                continue
            if old is None or new is None:
                return True
            if tap.deferred(new):
                tap.defer_comparison(slot, old, new)
                unknown = True
            elif (self.norms and self.row_of(n) != self.row_of(m)) or not tap.equal(old, new):
                return True
        return None if unknown else False

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
        with self.lock:
            n = len(self.rec.optimizers)
            self.rec.optimizers.append({
                "type": type(optimizer).__name__, "engine": tap.name,
                "tensors": []})
        self._optimizers[id(optimizer)] = (ref(optimizer), n)
        self.rec.optimizers[n]["tensors"] = [self.tensor(tap, p) for g in optimizer.param_groups for p in g["params"]]
        return n


def untouched(tap: Any, sees: list[Any], versions: list[Any], made: list[Any]) -> bool:
    """Did a hook leave the very tensors that it saw, unedited?"""
    if len(sees) != len(made):
        return False
    for old, version, new in zip(sees, versions, made):
        if old is not new or (old is not None and tap.version_of(old) != version):
            return False
    return True


def _restore(owner: Any, name: str, old: Any) -> None:
    if old is NOTHING:
        delattr(owner, name)
    else:
        setattr(owner, name, old)


def taps_for(models: tuple[Any, ...], engine: str | None) -> list[Any]:
    """The taps that a recording of these models needs."""
    from .tap_retrograd import RetrogradTap

    def of_torch() -> Any:
        from .tap_torch import TorchTap
        return TorchTap

    wanted = set() if engine is None else {engine}
    for model in models:
        home = engine_of_module(model)
        if engine is not None and home != engine:
            raise RecordingError(f"record: a model of {home} and engine={engine!r}")
        wanted.add(home)
    if not wanted:
        wanted.add("retrograd")
        loaded = sys.modules.get("torch")
        if loaded is not None and loaded is not sys.modules.get("retrograd") and hasattr(loaded, "_C"):
            wanted.add("torch")
    return [*([RetrogradTap] if "retrograd" in wanted else []), *([of_torch()] if "torch" in wanted else [])]


def engine_of_module(model: Any) -> str:
    """'retrograd' or 'torch'; TypeError for what is no module of either."""
    from ..nn import Module
    if isinstance(model, Module):
        return "retrograd"
    loaded = sys.modules.get("torch")
    if loaded is not None and isinstance(model, getattr(getattr(loaded, "nn", None), "Module", ())):
        return "torch"
    raise TypeError(f"record: expected modules (retrograd.nn.Module or torch.nn.Module), got {type(model).__name__}")


__all__ = ["FIELDS", "POSITION", "RecordingError", "record"]
