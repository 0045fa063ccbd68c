"""What ranks exchange during a recording: an event for each collective and message, and what DistributedDataParallel does.

Both engines have a class of groups, whose methods begin something, a class of what is under way, which is waited for, and a
class of parallel models.  Ours tell an Exchanges of it (distributed/work.py); for PyTorch's methods functions of the recorder
stand meanwhile.  The messages of PyTorch's DistributedDataParallel are begun in C++: of them only the end of the pass is seen
(answers/ranks.py).
"""
from __future__ import annotations

import os
import socket
import sys
import time
from collections.abc import Callable
from functools import wraps
from typing import Any
from weakref import WeakSet

from ..listen.sites import name_of
from .book import now

RANKS = ("RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK")            # environment variables, the first that is set
UNFINISHED = "not over when the recording ended"
# PyTorch's methods of a group, and the function of torch.distributed that calls them
OF_PYTORCH = {
    "allreduce": "all_reduce", "allreduce_coalesced": "all_reduce_coalesced", "broadcast": "broadcast", "reduce": "reduce",
    "allgather": "all_gather", "_allgather_base": "all_gather_into_tensor", "gather": "gather", "scatter": "scatter",
    "reduce_scatter": "reduce_scatter", "_reduce_scatter_base": "reduce_scatter_tensor", "alltoall": "all_to_all",
    "alltoall_base": "all_to_all_single", "barrier": "barrier", "send": "send", "recv": "recv", "recv_anysource": "recv",
    "all_gather_single": "all_gather_into_tensor", "reduce_scatter_single": "reduce_scatter_tensor",
    "all_to_all_single": "all_to_all_single", "allgather_coalesced": "all_gather_coalesced"}


class Exchanges:
    """What is under way in a recording."""

    def __init__(self, tap: Any) -> None:
        self.recorder = tap.recorder
        self.going: dict[int, tuple[Any, int]] = {}             # what is under way -> (the Work, its event)
        self.calls: dict[str, int] = {}
        self.hooks: set[int] = set()
        self.parallel: Any = ()                                 # a WeakSet of the parallel and sharded models that were called

    @property
    def on(self) -> bool:
        """Is the recording on?"""
        return bool(self.recorder.on)

    def begin(self, original: Callable[..., Any], name: str, group: Any, size: int, args: Any, kwargs: Any) -> Any:
        """A group begins something -> its Work."""
        recorder = self.recorder
        label = str(group.group_name)
        self.tell(label, group)
        call = self.calls[label] = self.calls.get(label, 0) + 1
        thread = recorder.thread()
        began = now()
        slot = recorder.put(("collective", began - recorder.start, 0, thread.number, name, label, call, size, 0,
                             recorder.sites.here(sys._getframe(2)), UNFINISHED))
        try:
            work = original(group, *args, **kwargs)
        except BaseException as error:
            self.end(slot, 0, error)
            raise
        if slot >= 0:
            if work is None or not key(work):
                self.end(slot, now() - began, None)
            else:
                self.going[key(work)] = work, slot
        return work

    def wait(self, original: Callable[..., Any], work: Any, args: Any, kwargs: Any) -> Any:
        """Somebody waits for a Work."""
        began, error = now(), None
        known = self.going.get(key(work))
        try:
            return original(work, *args, **kwargs)
        except BaseException as raised:
            error = raised
            raise
        finally:
            if known is not None:
                self.end(known[1], now() - began, error)
                self.going.pop(key(work), None)

    def over(self, work: Any) -> None:
        """A Work is over, as somebody found who asked."""
        known = self.going.pop(key(work), None)
        if known is not None:
            self.end(known[1], 0, work.exception())

    def end(self, slot: int, waited: int, error: BaseException | None) -> None:
        rows, recorder = self.recorder.rows, self.recorder
        if 0 <= slot < len(rows):
            row = rows[slot]
            took = row[2] if row[-1] is None else now() - recorder.start - row[1]
            said = None if error is None else f"{type(error).__name__}: {error}"[:400]
            rows[slot] = (*row[:2], took, *row[3:8], row[8] + waited, row[9], said)

    def tell(self, label: str, group: Any) -> None:
        """The recording says which rank it is of, and who is in the group."""
        header = self.recorder.rec.header
        groups = header.setdefault("groups", {})
        if label not in groups:
            ranks = getattr(group, "ranks", None)
            if ranks is None:
                from torch.distributed import get_process_group_ranks
                ranks = get_process_group_ranks(group)
            groups[label] = list(ranks)
            header.setdefault("rank", ranks[group.rank()])
            header["world_size"] = max(header.get("world_size", 0), len(ranks))
            header["host"] = socket.gethostname()

    def passes(self, ddp: Any, grad: bool) -> None:
        """The forward of a parallel model begins: will its backward pass average gradients?"""
        recorder = self.recorder
        if not grad:
            return
        site = recorder.sites.here(sys._getframe(2))
        if ddp not in self.parallel and (ddp.find_unused_parameters or ddp.static_graph):
            recorder.note("unused_allowed", str(ddp.process_group.group_name), site)
        self.met(ddp)
        recorder.note("averages" if ddp.require_backward_grad_sync else "no_sync", str(ddp.process_group.group_name), site)
        self.tell(str(ddp.process_group.group_name), ddp.process_group)
        hook = getattr(ddp.reducer, "hook", None)
        for given in getattr(ddp, "_comm_hooks", None) or ([(hook, None)] if hook is not None else []):
            if id(given[0]) not in self.hooks:
                self.hooks.add(id(given[0]))
                recorder.note("comm_hook", name_of(given[0]), recorder.sites.of_function(given[0]))

    def met(self, model: Any) -> None:
        """A parallel or sharded model is called."""
        if not self.parallel:
            self.parallel = WeakSet()
        self.parallel.add(model)

    def passed(self, tap: Any, thread: int, number: int, begin: int) -> None:
        """A pass is over: what .grad of a parallel model's parameters are now, which messages wrote where no version tells."""
        recorder = self.recorder
        models = [*self.parallel]
        came = {row[6] for row in recorder.rows[begin:] if row[0] == "accumulate" and row[4] == number} if models else set()
        shown: dict[int, Any] = {}
        for model in models if came else ():
            params = {recorder.tensor(tap, p): p for p in model.parameters() if p.requires_grad}
            if not came.isdisjoint(params):
                shown |= params
        if not shown:
            return
        values = []
        with tap.quiet():
            for p in shown.values():
                recorder._seen.pop(id(p.grad), None)
                values.append(tap.grad_now(p, p.grad))
        recorder.put(("averaged", now() - recorder.start, 0, thread, number, tuple(shown), tuple(values)))


def clock(start: int) -> int:
    """The time of day, in ns, at which a recording's clock was 0."""
    return time.time_ns() - (now() - start)


def rank_of_process() -> int | None:
    """RANK, as launchers set it."""
    for name in RANKS:
        try:
            text = os.environ[name]
        except KeyError:
            continue
        return int(text) if text.isdigit() else None
    return None


def plan(kinds: dict[str, Any], put: Callable[[Any, str, Any], None], seat: Any) -> None:
    """Put the recorder's functions in place of PyTorch's.

    kinds  group, work and parallel: the classes; methods: {method of a group: what it is called}
    """
    def heard(owner: Any, method: str, tell: Callable[[Any, Any, Any, Any], Any]) -> None:
        original = getattr(owner, method)

        @wraps(original)
        def run(*args: Any, **kwargs: Any) -> Any:
            tap = seat.current
            if tap is None or not tap.recorder.on:
                return original(*args, **kwargs)
            return tell(tap, original, args, kwargs)

        put(owner, method, run)

    def begins(name: str) -> Callable[..., Any]:
        return lambda tap, original, args, kwargs: tap.exchanges.begin(
            original, name, args[0], size_of(args[1:]), args[1:], kwargs)

    def forward(tap: Any, original: Any, args: Any, kwargs: Any) -> Any:
        tap.exchanges.passes(args[0], tap.grad_enabled())
        return original(*args, **kwargs)

    for method, name in kinds["methods"].items():
        if hasattr(kinds["group"], method):
            heard(kinds["group"], method, begins(name))
    heard(kinds["work"], "wait", lambda tap, original, args, kwargs: tap.exchanges.wait(original, args[0], args[1:], kwargs))
    heard(kinds["parallel"], "forward", forward)


def key(work: Any) -> int:
    """What tells a Work from others that are under way; of a tensor that will hold a result, its memory (0 of an empty one)."""
    work = work[0] if isinstance(work, (list, tuple)) and work else work
    return int(work.data_ptr()) if hasattr(work, "data_ptr") else id(work)


def size_of(args: Any) -> int:
    """The bytes of the first argument that has tensors."""
    for given in args:
        flat = [given]
        while flat and isinstance(flat[0], (list, tuple)):
            flat = [one for some in flat for one in some]
        if flat and hasattr(flat[0], "nbytes"):
            return sum(int(one.nbytes) for one in flat)
    return 0
