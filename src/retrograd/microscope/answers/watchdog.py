"""watchdog: a thread in each rank says where the rank is, and tells a hang from slowness.

Ranks see each other through files in a folder.  A rank that computes is slow; ranks that wait for each other, in different calls
or for one that has ended, hang; a rank that does neither stands still: in a lock, a file, a sleep.
"""
from __future__ import annotations

import getpass
import json
import os
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from ..arguments import FilePath, checked
from ..listen.sites import Sites
from ..plain_text import escaped
from ..record.exchanges import rank_of_process
from .ranks import AVERAGING

BUSY = 0.2              # of a processor: a rank that uses more of it computes
OURS, PYTORCH = os.path.join("retrograd", "distributed"), os.path.join("torch", "distributed", "distributed_c10d.py")


@dataclass
class Place:
    """Where a rank is.

    state  "computes", "waits" (in the collective `call`), "stands", "left" (the block), "ended" (its process) or "silent" (its
           watchdog does not run: it is stopped, or holds the interpreter)
    since  seconds of that, at the same line
    """

    rank: int
    process: int
    state: str
    line: str
    call: str
    number: int
    since: float

    @escaped
    def __str__(self) -> str:
        doing = {"waits": f"waits in {self.call}", "computes": "computes", "stands": "neither computes nor waits for ranks",
                 "left": "has left the watched block", "ended": f"(process {self.process}) has ended",
                 "silent": "does not answer: it is stopped, or holds the interpreter"}[self.state]
        return f"rank {self.rank} {doing}" + (f" at {self.line}" if self.line else "") + (
            f", for {self.since:.1f} s" if self.state in ("waits", "computes", "stands") else "")


@dataclass
class Verdict:
    """code: "fine", "slow" (a rank is still computing), "hang" (no rank will come) or "stuck" (a rank stands still)."""

    code: str
    text: str
    places: dict[int, Place]

    @escaped
    def __str__(self) -> str:
        return "\n  ".join([f"{self.code}: {self.text}", *map(str, self.places.values())])


@checked
def watchdog(seconds: float = 30.0, every: float = 1.0, folder: FilePath | None = None,
             on: Callable[[Verdict], None] | None = None) -> Watchdog:
    """Context manager that watches the thread which opens it, and compares notes with the watchdogs of the other ranks.

        with microscope.watchdog(seconds=30):
            train()

    seconds  seconds of waiting after which one rank reports on stderr what it sees, and again when that changes
    every    seconds between looks
    folder   a folder that all ranks can read; by default one on this machine
    on       called with a Verdict, instead of writing to stderr

    ValueError in a process that is not a rank.
    """
    return Watchdog(seconds, every, folder, on)


class Watchdog:
    """What watchdog() makes; verdict() says what the ranks are doing now."""

    def __init__(self, seconds: float, every: float, folder: Any, on: Callable[[Verdict], None] | None) -> None:
        if not seconds > 0 or not every > 0:
            raise ValueError(f"watchdog: seconds and every must be positive, not {seconds!r} and {every!r}")
        rank, size = rank_of_process(), os.environ.get("WORLD_SIZE", os.environ.get("PMI_SIZE", ""))
        if rank is None or not size.isdigit():
            raise ValueError("watchdog: this process is not a rank: start it with retrograd launch, mpiexec or torchrun")
        self.rank, self.size, self.seconds, self.every, self.on = rank, int(size), seconds, every, on
        name = f"retrograd-watchdog-{getpass.getuser()}-{os.environ.get('MASTER_PORT', '')}-{os.getppid()}"
        self.folder = Path(tempfile.gettempdir(), name) if folder is None else Path(folder)
        self.said = "fine"
        self._stop = threading.Event()
        self._sites = Sites()
        loaded = sys.modules.get("torch")
        if loaded is not None and hasattr(loaded, "_C") and loaded.__file__:
            self._sites.skip(os.path.dirname(loaded.__file__))
        self._mark: Any = None
        self._changed = time.time()
        self._used = time.process_time()
        self._looked = time.monotonic()

    def __enter__(self) -> Watchdog:
        self.folder.mkdir(parents=True, exist_ok=True)
        self._watched = threading.get_ident()
        self._write(self._look())
        self._thread = threading.Thread(target=self._run, name="retrograd-watchdog", daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()
        self._write(Place(self.rank, os.getpid(), "left", "", "", 0, 0.0))

    def _run(self) -> None:
        while not self._stop.wait(self.every):
            self._write(self._look())
            verdict = self.verdict()
            waiting = [place.rank for place in verdict.places.values() if place.state == "waits"]
            if verdict.code != self.said and (verdict.code == "fine" or min(waiting, default=-1) == self.rank):
                self.said = verdict.code
                if verdict.code != "fine":
                    (self.on or report)(verdict)

    def _look(self) -> Place:
        """Where this rank is."""
        frame = sys._current_frames().get(self._watched)
        user = self._sites.user_frame(frame)
        line = "" if user is None else f"{os.path.basename(user.f_code.co_filename)}:{user.f_lineno}"
        used, looked = time.process_time(), time.monotonic()
        busy = (used - self._used) / max(looked - self._looked, 1e-6) > BUSY
        self._used, self._looked = used, looked
        call = waits_in(frame, busy)
        state = "waits" if call else "computes" if busy else "stands"
        number = collectives()
        if self._mark != (mark := (state, line, call, number)):
            self._mark, self._changed = mark, time.time()
        return Place(self.rank, os.getpid(), state, line, call, number, time.time() - self._changed)

    def _write(self, place: Place) -> None:
        from ...io.beside import write_beside

        text = json.dumps({**asdict(place), "written": time.time(), "host": os.uname().nodename}).encode()
        write_beside(str(self.folder / str(self.rank)), lambda file: file.write(text))

    def verdict(self) -> Verdict:
        """What the ranks are doing now."""
        places = {rank: place for rank in range(self.size) if (place := self._read(rank)) is not None}
        waiting = [p for p in places.values() if p.state == "waits" and p.since >= self.seconds]
        others = [p for p in places.values() if p not in waiting]
        if not waiting:
            return Verdict("fine", "no rank waits for long", places)
        for state, what in (("ended", "has ended"), ("left", "has left the watched block"), ("silent", "does not answer")):
            gone = [p.rank for p in others if p.state == state]
            if gone:
                return Verdict("stuck" if state == "silent" else "hang", f"{named(gone)} {what}", places)
        if len(places) < self.size:
            return Verdict("fine", "not all ranks have begun", places)
        if not others:
            calls = {(p.call, p.line) for p in waiting}
            apart = f"ranks are in different calls: {', '.join(f'{c} at {w}' for c, w in sorted(calls))}"
            return Verdict("hang", apart if len(calls) > 1 else f"all ranks wait in {waiting[0].call}, and nothing comes", places)
        still = [p.rank for p in others if p.state == "stands" and p.since >= self.seconds]
        if still:
            return Verdict("stuck", f"{named(still)} neither computes nor waits for ranks", places)
        busy = [p.rank for p in others if p.state == "computes"]
        if not busy:
            return Verdict("fine", "not decided yet", places)
        return Verdict("slow", f"{named(busy)}, at work, still to come", places)

    def _read(self, rank: int) -> Place | None:
        try:
            found = json.loads((self.folder / str(rank)).read_bytes())
        except (OSError, ValueError):
            return None
        age, host = time.time() - found.pop("written"), found.pop("host")
        place = Place(**found)
        if place.state != "left" and host == os.uname().nodename and not import_module(
                "retrograd.distributed.watch").lives(place.process):
            place.state = "ended"
        elif place.state != "left" and age > max(5 * self.every, self.seconds):
            place.state = "silent"
        return place


def waits_in(frame: Any, busy: bool) -> str:
    """The collective that a thread waits in; "" for none."""
    name = ""
    while frame is not None:
        file, function = frame.f_code.co_filename, frame.f_code.co_name
        if file.endswith(PYTORCH):
            return str(function)
        if file.endswith(os.path.join("autograd", "graph.py")) and function == "_engine_run_backward" and not busy:
            return AVERAGING
        if file.endswith(os.path.join(OURS, "work.py")):
            name = function
        elif name and file.endswith(os.path.join("parallel", "reducer.py")):
            return AVERAGING
        elif name and os.path.dirname(file).endswith(OURS):
            name = function
        elif name:
            return str(name)
        frame = frame.f_back
    return name


def collectives() -> int:
    """How many this rank has begun, of either engine."""
    count = 0
    for package in ("retrograd", "torch"):
        module = sys.modules.get(f"{package}.distributed")
        if module is not None and module.is_available() and module.is_initialized():
            group = module.group.WORLD
            count += getattr(group, "calls", 0) or 0
            if hasattr(group, "_get_sequence_number_for_group"):
                count += group._get_sequence_number_for_group()
    return count


def named(ranks: list[int]) -> str:
    return f"rank{'s' * (len(ranks) > 1)} {', '.join(map(str, ranks))}"


def report(verdict: Verdict) -> None:
    print(f"retrograd: watchdog: {verdict}", file=sys.stderr, flush=True)
