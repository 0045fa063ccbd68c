"""Passes inside passes inside passes: past a depth the next one runs on a thread of its own, as in PyTorch.

A thread has a stack, and a recursion limit, of its own; so a hook or a Function may call backward as deeply as there
are threads.  The thread that asked waits, and lends its modes.  Where no thread can start, the pass runs on the stack there is.
"""
from __future__ import annotations

import contextvars
import sys
import threading
from typing import Any

from .modes import State, adopt


class Job:
    """One call on a new thread."""

    def __init__(self, it: State, function: Any, args: tuple[Any, ...]) -> None:
        self.it: State = it
        self.function: Any = function
        self.args: tuple[Any, ...] = args
        self.found: Any = None
        self.error: Any = None
        self.finished: bool = False
        self.ident: int = 0                     # of the thread that runs it
        self.taken: Any = threading.Lock()
        self.over: Any = threading.Lock()
        self.over.acquire()

    def run(self) -> None:
        if not self.taken.acquire(False):       # started twice: see wait()
            return
        adopt(self.it)
        self.ident = threading.get_ident()
        self.it.threads.append(self.ident)
        try:
            self.found = self.function(*self.args)
        except BaseException as error:
            self.error = error
        finally:
            self.it.threads.pop()
            self.finished = True
            self.over.release()

    def lost(self) -> bool:
        """Did the thread end in the middle, because Ctrl-C hit its last lines?"""
        return self.ident != 0 and self.ident not in sys._current_frames()


def elsewhere(it: State, function: Any, args: tuple[Any, ...]) -> Any:
    """function(*args) on a new thread, with this one's modes and context; this one waits."""
    job = Job(it, function, args)
    depth = it.depth
    level = len(it.threads)
    interrupted = False
    it.depth = 0
    try:
        interrupted = wait(job, it)
    finally:
        it.depth = depth
        del it.threads[level:]
    error: Any = job.error
    if error is not None:
        job.error = None                    # an exception and its frames would be a cycle
        raise error
    if interrupted:                         # it finished before it noticed
        raise KeyboardInterrupt
    return job.found


def wait(job: Job, it: State) -> bool:
    """Start the job and wait until it is over; -> did Ctrl-C come?

    By a lock of ours: Thread.join and is_alive give a running thread up when Ctrl-C comes while they look.
    """
    context: Any = contextvars.copy_context()
    started = False
    gone = False
    interrupted = False
    while not job.finished and not gone:
        try:
            if not started:                     # again, if Ctrl-C comes in the middle of it
                thread: Any = threading.Thread(target=context.copy().run, args=(job.run,), daemon=True)
                try:
                    thread.start()
                except RuntimeError:            # no threads, as in a browser, or no more of them: on this stack, then
                    job.run()
                    return False
                started = True
            if not job.over.acquire(True, 1.0):     # seconds
                gone = job.lost()
        except KeyboardInterrupt:               # it arrives here, and is meant for the thread that works
            interrupted = True
            interrupt(job, it)
    return interrupted


def interrupt(job: Job, it: State) -> None:
    import ctypes
    if it.threads and not job.finished:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(it.threads[len(it.threads) - 1]), ctypes.py_object(KeyboardInterrupt))
