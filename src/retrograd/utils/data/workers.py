"""One pass over batches that workers make: which worker makes which, and the order in which they are given."""
from __future__ import annotations

import itertools
import weakref
from typing import Any

from .caught import Caught
from .crew import Lost, hire
from .passes import _BaseDataLoaderIter
from .worker import RESUME, End, Job


class _MultiProcessingDataLoaderIter(_BaseDataLoaderIter):
    """Task n goes to the next worker that still has samples, prefetch_factor tasks for each worker ahead of the caller.

    Batches are given in the order of the tasks, or as they come.  When to draw the next index, and that the sampler is
    asked for its iterator twice, are PyTorch's: so random samplers draw the same.
    """

    def __init__(self, loader: Any) -> None:
        super().__init__(loader)
        if loader.prefetch_factor <= 0:
            raise AssertionError("prefetch_factor must be greater than 0 for MultiProcessingDataLoaderIter")
        self.ahead = loader.prefetch_factor * loader.num_workers
        self.persistent = loader.persistent_workers
        self.in_order = loader.in_order
        self.timeout = loader.timeout
        self.crew = hire(loader.multiprocessing_context, [
            Job(i, loader.num_workers, self.seed, self.source, loader.worker_init_fn) for i in range(loader.num_workers)])
        self.stop = weakref.finalize(self, self.crew.stop)
        self.stop.atexit = False                # then multiprocessing ends them, without patience
        self.first(loader)

    def first(self, loader: Any) -> None:
        super().begin(loader)
        self.sent = self.wanted = 0             # numbers of the next task, and of the next batch to give
        self.waiting: dict[int, int] = {}       # the worker of each task that is being done
        self.early: dict[int, Any] = {}         # batches that came before their turn, with their workers
        self.active = [True] * self.num_workers             # not yet through its iterable dataset
        self.load = [0] * self.num_workers
        self.turns = itertools.cycle(range(self.num_workers))
        for _ in range(self.ahead):
            self.put()

    def again(self, loader: Any) -> None:
        """A pass more with the same workers."""
        if self.crew.lost():
            self.fail(self.crew.lost()[0])
        for worker in range(self.num_workers):
            self.crew.post(worker, RESUME)
        left = self.num_workers
        while left:                             # what was not taken of the pass before comes first
            number, _ = self.receive()
            left -= number is RESUME
        self.first(loader)

    def put(self) -> None:
        """Give the next index to a worker."""
        try:
            index = next(self.indices)
        except StopIteration:
            return
        for worker in itertools.islice(self.turns, self.num_workers):
            if self.active[worker] and (self.in_order or self.load[worker] < self.ahead // sum(self.active)):
                break
        else:
            return
        self.crew.post(worker, self.sent, index)
        self.waiting[self.sent] = worker
        self.load[worker] += 1
        self.sent += 1

    def next(self) -> Any:
        while True:
            while self.wanted < self.sent and not self.expected(self.wanted):
                self.waiting.pop(self.wanted, None)
                self.wanted += 1
            if self.wanted == self.sent:
                if not self.persistent:
                    self.stop()
                raise StopIteration
            if self.wanted in self.early:
                worker, data = self.early.pop(self.wanted)
                self.wanted += 1
                return self.give(worker, data)
            number, data = self.receive()
            worker = self.waiting.pop(number)
            if isinstance(data, End):
                self.active[worker] = False
                if not self.persistent:
                    self.crew.dismiss(worker)
                self.put()
            elif number == self.wanted or not self.in_order:
                self.wanted += number == self.wanted
                return self.give(worker, data)
            else:
                self.early[number] = worker, data

    def expected(self, number: int) -> bool:
        """Whether the batch of a task is there, or will come."""
        return number in self.early or (number in self.waiting and self.active[self.waiting[number]])

    def give(self, worker: int, data: Any) -> Any:
        self.load[worker] -= 1
        self.put()
        if isinstance(data, Caught):
            data.again()
        return data

    def receive(self) -> Any:
        try:
            return self.crew.answer(self.timeout or None)
        except TimeoutError:
            raise RuntimeError(f"DataLoader timed out after {self.timeout} seconds") from None
        except Lost as lost:
            worker = lost.worker
        self.active[worker] = False
        self.fail(worker)

    def fail(self, worker: int) -> Any:
        crew: Any = self.crew
        process = crew.processes[worker]
        raise RuntimeError(f"DataLoader worker (pid(s) {process.pid}) exited unexpectedly") from RuntimeError(
            crew.fate(worker))
