"""torch.futures: a result that another thread sets.

https://pytorch.org/docs/stable/futures.html
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from retrograd._missing import late_names

__all__ = ["Future", "collect_all", "wait_all"]
late_names(__name__)
T = TypeVar("T")


class Future(Generic[T]):
    """A result, or an error, that comes later: wait(), value(), then(), add_done_callback().

    devices     must be empty: results are on the CPU
    """

    def __init__(self, *, devices: Any = None) -> None:
        if devices:
            raise ValueError(f"Expected devices to have indices, got {', '.join(map(str, devices))}")
        self._lock = threading.Condition()
        self._done = False
        self._result: Any = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[], None]] = []
        # f(block): moves on what the result comes from, where no other thread does: messages between processes
        self._drive: Callable[[bool], None] | None = None

    def done(self) -> bool:
        """Is it there?"""
        if not self._done and self._drive is not None:
            self._drive(False)
        return self._done

    def wait(self) -> Any:
        """The result, once it is there; the error is raised."""
        if not self._done and self._drive is not None:
            self._drive(True)
        with self._lock:
            self._lock.wait_for(lambda: self._done)
        return self.value()

    def value(self) -> Any:
        """The result, which is there; the error is raised."""
        if not self._done:
            raise RuntimeError("completed() INTERNAL ASSERT FAILED: the Future is not done yet. wait() waits for it.")
        if self._error is not None:
            raise self._error
        return self._result

    def set_result(self, result: Any) -> None:
        """Here is the result: those who wait go on, callbacks run on this thread."""
        self._finish(result, None)

    def set_exception(self, result: Any) -> None:
        """Those who wait get the error `result`."""
        assert isinstance(result, Exception), f"{result} is of type {type(result)}, not an Exception."
        self._finish(None, result)

    def _finish(self, result: Any, error: BaseException | None) -> None:
        with self._lock:
            if self._done:
                raise RuntimeError("Attempting to mark a completed Future as complete again. Note that a Future can only be "
                                   "marked completed once.")
            self._result, self._error, self._done = result, error, True
            callbacks, self._callbacks = self._callbacks, []
            self._lock.notify_all()
        for callback in callbacks:
            callback()

    def _when_done(self, callback: Callable[[], None]) -> None:
        with self._lock:
            if not self._done:
                self._callbacks.append(callback)
                return
        callback()

    def then(self, callback: Callable[[Future[T]], Any]) -> Future[Any]:
        """A Future of callback(this one), which runs when this one is done."""
        made: Future[Any] = Future()
        made._drive = self._drive

        def run() -> None:
            try:
                found = callback(self)
            except Exception as e:
                made._finish(None, RuntimeError(
                    f"Got the following error when running the callback: {type(e).__name__}: {e}"))
            else:
                made.set_result(found)
        self._when_done(run)
        return made

    def add_done_callback(self, callback: Callable[[Future[T]], None]) -> None:
        """callback(this one) runs when it is done; its errors are printed."""
        def run() -> None:
            try:
                callback(self)
            except Exception as e:
                sys.stderr.write(f"Got the following error when running the callback: {type(e).__name__}: {e}\n")
        self._when_done(run)

    def __reduce__(self) -> Any:
        raise RuntimeError("Can not pickle torch.futures.Future")


def collect_all(futures: Iterable[Future[Any]]) -> Future[list[Future[Any]]]:
    """A Future of the list of these futures, done when all are."""
    given = list(futures)
    made: Future[list[Future[Any]]] = Future()
    lock, left = threading.Lock(), [len(given)]

    def one() -> None:
        with lock:
            left[0] -= 1
            last = left[0] == 0
        if last:
            made.set_result(given)
    def drive(block: bool) -> None:
        for future in given:
            if future._drive is not None and not future._done:
                future._drive(block)

    if any(future._drive is not None for future in given):
        made._drive = drive
    if not given:
        made.set_result(given)
    for future in given:
        future._when_done(one)
    return made


def wait_all(futures: Iterable[Future[Any]]) -> list[Any]:
    """The results of all futures, or the first error."""
    return [future.wait() for future in collect_all(futures).wait()]
