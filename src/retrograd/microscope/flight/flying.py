"""flight(model): keeps the last steps of a training, and writes them out when something goes wrong."""
from __future__ import annotations

import os
import signal as signals
import threading
import warnings
from collections import deque
from operator import index
from typing import Any
from weakref import WeakSet

from ..answers.trouble import trouble
from ..arguments import FilePath, checked
from ..errors import tied
from ..listen import engine_of_module
from ..page.write import write_page
from ..plain_text import escaped
from ..record.recording import Recording
from .hearing import Hearing
from .step import Step
from .told import told
from .usual import Judge

KEEP = 20
SPIKE = 12.0            # robust z-score of a loss that is a spike
DEAF = "SIGKILL", "SIGSTOP"     # signals that nobody hears of
_flying: WeakSet[Flight] = WeakSet()


@checked
def flight(model: Any, *optimizers: Any, keep: int = KEEP, path: FilePath = "flight", spike: float | None = SPIKE,
           signal: int | None = None) -> Flight:
    """Context manager that keeps the last steps of a training, and writes them to a file when something goes wrong.

        with microscope.flight(model, keep=20):
            train(model)

    model       of retrograd.nn or torch.nn
    optimizers  whose steps end a step of the training; by default all that hold parameters of the model
    keep        how many steps to keep: operations with their lines, norms of results, gradients and .grad, losses, learning
                rates
    path        where to write: PATH.html, a page that opens at the first bad number, and PATH.trace (microscope.load)
    spike       robust z-score of a loss among the last 200 that counts as a spike; None: never
    signal      a signal, such as signal.SIGUSR1, on which it writes as well; the training continues

    It writes after a pass whose loss or gradients are NaN or inf, after a spike, at an exception that leaves the block, at
    the signal, and on write().  Gradients of a loss that a GradScaler scaled may overflow; 20 times in a row is trouble.
    What it hears is this thread's; a process forked from it (a DataLoader's worker) records and writes nothing.
    It raises at once: ValueError for an impossible keep, spike or signal, FileNotFoundError if the folder of path is missing.
    """
    engine = engine_of_module(model, "flight")
    keep = index(keep)
    signal = None if signal is None else index(signal)
    if keep < 1:
        raise ValueError(f"flight: keep must be a positive number of steps, not {keep!r}")
    if spike is not None and not spike > 0:
        raise ValueError(f"flight: spike must be a positive z-score or None, not {spike!r}")
    if signal is not None and signal not in signals.valid_signals() - {getattr(signals, name, 0) for name in DEAF}:
        raise ValueError(f"flight: signal must be one of this system's that can be caught, as signal.SIGUSR1, not {signal!r}")
    folder = os.path.dirname(os.path.abspath(os.fsdecode(path)))
    if not os.path.isdir(folder):
        raise FileNotFoundError(f"flight: no such folder: {folder!r}; make it before the training begins")
    for optimizer in optimizers:
        if not hasattr(optimizer, "param_groups"):
            raise TypeError(f"flight: expected optimizers after the model, got {type(optimizer).__name__}")
    return Flight(model, engine, optimizers, keep, path, spike, signal)


class Flight:
    """What flight() returns.

    losses    of the last passes
    reports   a sentence about each file written, with the reason
    """

    __reduce_ex__ = tied

    def __init__(self, model: Any, engine: Any, optimizers: tuple[Any, ...], keep: int, path: Any, spike: float | None,
                 signal: int | None) -> None:
        self.model, self.path, self.signal = model, os.path.abspath(os.fsdecode(path)), signal
        self.reports: list[str] = []
        self._hearing = Hearing(engine, model, optimizers, keep, Judge(spike, keep))
        self.losses: deque[float] = self._hearing.judge.losses
        self._hearing.passed = self._passed
        self._begun = False
        self._before: Any = None

    # -- the block

    def __enter__(self) -> Flight:
        if self._begun:
            raise RuntimeError("flight: this flight has begun already; call flight() again for another")
        if self.signal is not None:
            if threading.current_thread() is not threading.main_thread():
                raise ValueError("flight: only the main thread can receive signals")
            self._before = signals.signal(self.signal, self._signalled)
        self._begun = True
        self._hearing.begin()
        _flying.add(self)
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        _flying.discard(self)
        self._hearing.end()
        if self.signal is not None:
            signals.signal(self.signal, self._before)
        if error is not None and not isinstance(error, GeneratorExit):
            text = f"{kind.__name__}: {str(error)[:400]}".rstrip(": ")
            where = None                        # the innermost line that is the user's
            while trace is not None:
                file, home = trace.tb_frame.f_code.co_filename, str(trace.tb_frame.f_globals.get("__name__"))
                # files of compiled code have no folders
                if not self._hearing.sites.is_library(file) and home.partition(".")[0] != __name__.partition(".")[0]:
                    where = f"{file}:{trace.tb_lineno}"
                trace = trace.tb_next
            self._write(f"the training ended with {text}" + (f" [{where}]" if where else ""), text)

    def _passed(self, step: Step, why: str) -> None:
        """A pass has ended that is to be reported."""
        self._hearing.replay(step)
        self._write(why)

    def _signalled(self, number: int, frame: Any) -> None:
        if self in _flying:
            self._write(f"signal {signals.Signals(number).name}")
        if callable(self._before):
            self._before(number, frame)

    # -- writing

    def recording(self) -> Recording:
        """The steps kept, as a Recording."""
        return self._told()[0]

    def _told(self, steps: int = 0) -> tuple[Recording, list[tuple[int, int]]]:
        """told() of the last steps; 0: of all."""
        hearing = self._hearing
        busy, hearing.busy = hearing.busy, True
        try:
            return told(hearing, hearing.kept()[-steps:], hearing.optimizers)
        finally:
            hearing.busy = busy

    @checked
    def write(self, path: FilePath | None = None) -> None:
        """Write PATH.html and PATH.trace now.

        path  without its ending; by default that of the flight
        """
        self._write("asked to", None, path)

    def _write(self, why: str, error: str | None = None, path: Any = None) -> None:
        path = self.path if path is None else os.fsdecode(path)
        rec, origins = self._told()
        rec.notes.extend(sorted(self._hearing.notes))
        rec.error, rec.complete = error, error is None
        newest, its = self._told(1)
        found = [f for f in trouble(newest) if f.kind in ("nan", "inf") and f.state != "healed"]
        said = [f"step {rec.header['steps'][-1]}: {why}", *map(str, found)]
        first = max(min(rec.header.get("newest", 0), len(rec.rows) - 1), 0)
        rec.header["opens"] = min((origins.index(its[f.event]) for f in found), default=first)
        rec.notes.append("; ".join(said))
        self.reports.append("; ".join(said))
        try:
            rec.save(path + ".trace")
            write_page(rec, path + ".html", f"flight: {said[0]}")
        except OSError as failure:              # a full disk must not end the training
            warnings.warn(f"flight: not everything was written: {failure}", RuntimeWarning, stacklevel=2)

    @escaped
    def __repr__(self) -> str:
        return f"<Flight at step {self._hearing.kept()[-1].number}, {len(self.reports)} written>"


def _land() -> None:
    """In a child of fork: its parent flies."""
    for it in list(_flying):
        it._hearing.on = False
    _flying.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_land)
