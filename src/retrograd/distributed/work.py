"""Work: a collective that is under way, and how one waits for it.

NOTE [Who makes progress]
No thread of ours moves messages: MPI does while somebody asks it (Test), so waiting is asking. That leaves the processors to
the program, and an error, a timeout and Ctrl-C reach the thread that waits.

NOTE [Works that nobody keeps]
MPI reads and writes a work's buffers until its requests are complete, whoever keeps the Work. So one that is dropped before is
kept in `dropped`; each later call of this process asks for those that are complete. At exit, what is still under way gets a
little time, and is never freed after that: MPI goes on until it has ended itself.
"""
from __future__ import annotations

import atexit
import ctypes
import os
import time
import weakref
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from ..futures import Future
from .errors import of_backend
from .stores import fits

EAGER = 100             # questions before other processes get a turn
PATIENT = 0.02          # seconds of waiting after which it sleeps between questions
LOOK = 0.2              # seconds between looks at what the other ranks do
LAST = 1.0              # seconds at exit for works that nobody has waited for
IN_PLACE = {"all_reduce", "all_reduce_coalesced", "broadcast", "reduce", "send", "recv", "recvAnySource"}
give_way = getattr(os, "sched_yield", lambda: time.sleep(0))


class Listening:
    """Who hears what this process exchanges.

    ear      of the microscope: an object with on, begin, wait, over and passes (microscope/record/exchanges.py)
    profile  a running profile: an object whose under_way(name, tensors) returns what to call when the work is over
    """

    ear: Any = None
    profile: Any = None


listening = Listening()


def soon(test: Callable[[], bool]) -> bool:
    """Is it over before other processes need a turn?"""
    for _ in range(EAGER):
        if test():
            return True
    return False


dropped: list[Work] = []                        # not over, and nobody else has them
under_way: Any = weakref.WeakSet()              # works that may not be over


def sweep() -> None:
    """Let go of the works in `dropped` that are over."""
    some = dropped[:]
    del dropped[:len(some)]
    dropped.extend(work for work in some if not work.is_completed())


def settle() -> None:
    """The program is over: what nobody has waited for is over soon, or is never freed."""
    left = [*under_way]
    end = time.monotonic() + LAST
    while (left := [work for work in left if not work.is_completed()]) and time.monotonic() < end:
        time.sleep(1e-3)
    for work in left:
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(work))


atexit.register(settle)


class Work:
    """A collective under way, as async_op=True returns it: wait(), is_completed(), result(), get_future()."""

    _done = True                                # until it has requests

    def __init__(self, group: Any, name: str, requests: Sequence[Any], outputs: list[Any],
                 finish: Callable[[], None] | None = None, source: int | None = None, number: int = 0) -> None:
        self._group, self._name = group, name
        self._requests = list(requests)
        self._outputs, self._finish = outputs, finish
        self._source, self._number = source, number
        self._error: BaseException | None = None
        self._done = False
        self._limit: timedelta | None = None    # instead of the group's timeout
        self._future: Future[Any] | None = None
        profile = listening.profile
        given = outputs if name in IN_PLACE else ()
        self._over = None if profile is None else profile.under_way(f"{group.backend}:{name}", given)
        under_way.add(self)

    def __del__(self) -> None:
        if not self._done:
            dropped.append(self)

    def is_completed(self) -> bool:
        """Has it finished?  Asking also moves it on."""
        if self._done:
            return True
        try:
            while self._requests:
                if not self._requests[-1].Test():
                    return False
                self._requests.pop()
        except Exception as error:
            self._error = of_backend(error)
        self._end()
        return True

    def wait(self, timeout: timedelta | float = timedelta(0)) -> bool:
        """Wait until it has finished -> True.

        timeout  of this wait, or its seconds as a float; 0 is the group's. DistBackendError when it has passed, or
                 when a rank that takes part has ended: the message says where the other ranks are.
        """
        fits("wait", (timeout, (timedelta, float)))
        timeout = timedelta(seconds=timeout) if isinstance(timeout, float) else timeout
        ear = listening.ear
        if ear is not None and ear.on:
            return bool(ear.wait(Work._wait, self, (timeout,), {}))
        return self._wait(timeout)

    def _wait(self, timeout: timedelta) -> bool:
        if not self._done and not soon(self.is_completed):
            self._wait_long(timeout)
        if self._error is not None:
            raise self._error
        return True

    def _wait_long(self, timeout: timedelta) -> None:
        seconds = (timeout or self._limit or self._group.timeout).total_seconds()
        start = time.monotonic()
        look = start + LOOK
        count = 0
        while not self.is_completed():
            count += 1
            if count & 15:
                give_way()
                continue
            now = time.monotonic()
            if now > look:
                look = now + LOOK
                self._group.watch.look(self._group, self._name, self._number)
            if now - start > seconds:
                self._group.watch.too_late(self._group, self._name, seconds)
            if now - start > PATIENT:
                time.sleep(5e-5)

    def _end(self) -> None:
        self._done = True
        under_way.discard(self)
        self._requests.clear()
        try:
            self._group.compare(self._number)
        except Exception as error:              # says more than MPI's
            self._error = error
        finish, self._finish = self._finish, None
        if finish is not None and self._error is None:
            try:
                finish()
            except Exception as error:
                self._error = error
        self._group.watch.leave()
        over, self._over = self._over, None
        if over is not None:
            over()
        if self._future is not None:
            self._tell(self._future)
        ear = listening.ear
        if ear is not None and ear.on:
            ear.over(self)

    def _tell(self, future: Future[Any]) -> None:
        if self._error is None:
            future.set_result(self._outputs)
        else:
            future.set_exception(self._error)

    def is_success(self) -> bool:
        """Has it finished without an error?"""
        return self.is_completed() and self._error is None

    def exception(self) -> BaseException | None:
        """The error it ended with, if any."""
        return self._error

    def result(self) -> list[Any]:
        """The tensors it wrote."""
        self.wait()
        return self._outputs

    def synchronize(self) -> None:
        """wait()."""
        self.wait()

    def get_future(self) -> Future[list[Any]]:
        """A torch.futures.Future of its tensors; waiting for it moves it on."""
        if self._future is None:
            self._future = Future()
            self._future._drive = self._drive
            if self._done:
                self._tell(self._future)
        return self._future

    def _drive(self, block: bool) -> None:
        if not block:
            self.is_completed()
            return
        try:
            self.wait()
        except Exception:                       # the future raises it
            if not self._done:
                raise

    def _source_rank(self) -> int:
        if self._source is None:
            raise RuntimeError("sourceRank() may only be called on work objects that correspond to a recv or recv-from-any call.")
        return self._source

    source_rank = _source_rank
