"""The workers of one pass, as processes or in line: tasks go out to each, answers come back from whichever is first."""
from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import selectors
import signal
import socket
import sys
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..._engine.warn import warn
from .channel import Channel
from .handover import close, pack, unpack
from .worker import Job, Worker, apart, work

UNPICKLABLE = (
    "Got pickle error when attempting to start a worker Process. This might be because the worker Process arguments are not "
    "picklable. Python 3.14+ changed the multiprocessing start method in non-Mac POSIX platforms to 'forkserver', which requires "
    "the worker Process arguments to be picklable. You can also try multiprocessing.set_start_method('fork').")
LOOK = 5.0              # seconds between looks at processes whose socket somebody else keeps open
PATIENCE = 5.0          # seconds that workers have to end what they are doing


class Lost(Exception):
    """A worker is gone: its number."""

    def __init__(self, worker: int) -> None:
        self.worker = worker


class Crew:
    """Workers as processes."""

    def __init__(self, context: Any, jobs: list[Job]) -> None:
        self.owner = os.getpid()
        self.selector = getattr(selectors, "PollSelector", selectors.SelectSelector)()
        self.channels: dict[int, Channel] = {}
        self.processes: list[Any] = []
        self.arrived: deque[tuple[int, Any]] = deque()
        try:
            with _uninterrupted(context):
                for job in jobs:
                    self.start(context, job)
        except BaseException:
            self.stop(0.0)
            raise

    def start(self, context: Any, job: Job) -> None:
        ours, theirs = socket.socketpair()
        channel = self.channels[job.number] = Channel(ours)
        channel.keep()
        self.selector.register(ours, selectors.EVENT_READ, job.number)
        process = context.Process(target=work, args=(theirs, job), daemon=True)
        try:
            process.start()
        except (TypeError, AttributeError, pickle.PicklingError):
            warn(UNPICKLABLE)
            raise
        finally:
            theirs.close()
        self.processes.append(process)

    def post(self, worker: int, number: int | None, index: Any = None) -> None:
        """Give a worker a task."""
        channel = self.channels.get(worker)
        if channel is not None:
            channel.post(pack((number, index), False)[0])
            self.watch(worker)

    def answer(self, patience: float | None) -> Any:
        """The next answer; TimeoutError after `patience` seconds, Lost when a worker ended without being asked to."""
        until = None if patience is None else time.monotonic() + patience
        while not self.arrived:
            left = LOOK if until is None else until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            events = self.selector.select(min(left, LOOK))
            for key, happened in events:
                if happened & selectors.EVENT_WRITE:
                    self.channels[key.data].flush()
                    self.watch(key.data)
                if happened & selectors.EVENT_READ:
                    self.read(key.data)
            if not events:
                self.look()
        worker, found = self.arrived.popleft()
        if found is None:
            self.dismiss(worker)
            raise Lost(worker)
        return unpack(*found)

    def read(self, worker: int) -> None:
        channel = self.channels[worker]
        try:
            channel.fill()
        except EOFError:
            self.selector.unregister(channel.end)
            self.arrived.append((worker, None))
        while (found := channel.take()) is not None:
            self.arrived.append((worker, found))

    def look(self) -> None:
        """Notice workers that ended while a process of theirs keeps their socket open."""
        for worker, channel in self.channels.items():
            if channel.end in self.selector.get_map() and not self.processes[worker].is_alive():
                self.selector.unregister(channel.end)
                self.arrived.append((worker, None))

    def watch(self, worker: int) -> None:
        """Wait for room, too, while something is left to send."""
        channel = self.channels[worker]
        events = selectors.EVENT_READ | (selectors.EVENT_WRITE if channel.outbox else 0)
        if channel.end in self.selector.get_map() and self.selector.get_key(channel.end).events != events:
            self.selector.modify(channel.end, events, worker)

    def dismiss(self, worker: int) -> None:
        """Tell a worker that there is nothing more to do."""
        channel = self.channels.pop(worker, None)
        if channel is not None:
            if channel.end in self.selector.get_map():
                self.selector.unregister(channel.end)
            channel.close()

    def lost(self) -> list[int]:
        """Workers that were lost, or dismissed."""
        return [worker for worker in range(len(self.processes)) if worker not in self.channels]

    def fate(self, worker: int) -> str:
        """How a lost worker ended."""
        process = self.processes[worker]
        process.join(1)
        code = process.exitcode
        if code is not None and code < 0:
            return f"DataLoader worker (pid {process.pid}) is killed by signal: {signal.strsignal(-code)}. "
        return (
            f"DataLoader worker (pid {process.pid}) exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace.")

    def stop(self, patience: float = PATIENCE) -> None:
        """End the processes: those that do not end by themselves are terminated, then killed.  Not in a child of fork."""
        if os.getpid() != self.owner:
            return
        for worker in list(self.channels):
            self.dismiss(worker)
        for _, found in self.arrived:
            close(found[1] if found else ())
        self.arrived.clear()
        self.selector.close()
        for how in ("is_alive", "terminate", "kill"):
            left = [process for process in self.processes if process.is_alive()]
            for process in left:
                getattr(process, how)()
            until = time.monotonic() + patience
            for process in left:
                process.join(max(0.0, until - time.monotonic()))
            patience = 1.0
        self.processes.clear()


class InLine:
    """The same without processes: each worker makes its batch when its answer is asked for."""

    def __init__(self, jobs: list[Job]) -> None:
        self.states: list[list[Any]] = [[] for _ in jobs]
        self.tasks: deque[tuple[int, int | None, Any]] = deque()
        self.workers = []
        for job in jobs:
            with apart(self.states[job.number]):
                self.workers.append(Worker(job))

    def post(self, worker: int, number: int | None, index: Any = None) -> None:
        self.tasks.append((worker, number, index))

    def answer(self, patience: float | None) -> Any:
        while True:
            worker, number, index = self.tasks.popleft()
            with apart(self.states[worker]):
                found = self.workers[worker].answer(number, index)
            if found is not None:
                return found

    def dismiss(self, worker: int) -> None:
        """There is nobody to tell."""

    def lost(self) -> list[int]:
        return []

    def stop(self) -> None:
        self.tasks.clear()


def hire(context: Any, jobs: list[Job]) -> Crew | InLine:
    """Workers as processes; in line where the system has none."""
    if sys.platform in ("emscripten", "wasi"):
        return InLine(jobs)
    try:
        return Crew(context or multiprocessing, jobs)
    except OSError as error:
        if error.errno not in (errno.ENOSYS, errno.EPERM):
            raise
        return InLine(jobs)


@contextmanager
def _uninterrupted(context: Any) -> Iterator[None]:
    """Ctrl-C waits: a process that is being made would show it, and would not be known yet.

    Not with a fork server, whose other children would inherit that they wait.
    """
    if not hasattr(signal, "pthread_sigmask") or context.get_start_method() == "forkserver":
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
