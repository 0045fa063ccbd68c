"""What a worker of a DataLoader does: seed its generators, then make the batches that it is asked for."""
from __future__ import annotations

import random
import signal
import socket
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, NamedTuple

import numpy as np

from ... import random as draws
from ..._kernels.threads import set_num_threads
from . import identity
from .caught import Caught
from .channel import SHARES, Channel
from .fetch import Fetcher, Source
from .handover import pack, unpack
from .identity import WorkerInfo


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """What seeds NumPy in a worker."""
    words = [worker_id, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4).tolist()


RESUME = None           # instead of a task's number: begin again


class End(NamedTuple):
    """Instead of a batch: this worker's part of an iterable dataset is over."""


class Job(NamedTuple):
    """What a worker is given when it starts."""

    number: int
    workers: int
    base_seed: int
    source: Source
    init: Callable[[int], None] | None


class Worker:
    """Answers tasks (number, index) with (number, batch, Caught or End), or with None when there is nothing to say."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.fetcher: Fetcher | None = None
        self.caught: Caught | None = None
        self.ended = False
        seed = job.base_seed + job.number
        random.seed(seed)
        draws.manual_seed(seed)
        np.random.seed(_generate_state(job.base_seed, job.number))
        identity.info = WorkerInfo(job.number, job.workers, seed, job.source.dataset)
        self.begin(job.init)

    def begin(self, init: Callable[[int], None] | None = None) -> None:
        self.ended, self.caught = False, None
        try:
            if init is not None:
                init(self.job.number)
            self.fetcher = Fetcher(self.job.source)
        except Exception:
            self.caught = Caught(self.job.number)

    def answer(self, number: int | None, index: Any) -> Any:
        if number is RESUME:
            self.begin()
            return RESUME, None
        if self.ended:
            return None
        if self.caught is not None:
            return number, self.caught
        assert self.fetcher is not None
        try:
            return number, self.fetcher.fetch(index)
        except Exception as error:
            self.ended = isinstance(error, StopIteration) and self.job.source.iterable
            return number, End() if self.ended else Caught(self.job.number)


def work(end: socket.socket, job: Job) -> None:
    """The process of a worker, until the program closes its end or interrupts it."""
    with suppress(KeyboardInterrupt, EOFError, ConnectionError):
        signal.signal(signal.SIGTERM, signal.SIG_DFL)           # the program's handler is the program's
        if hasattr(signal, "pthread_sigmask"):
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")                     # without threadpoolctl the number stays
            set_num_threads(1)
        channel, worker = Channel(end), Worker(job)
        while True:
            answer = worker.answer(*unpack(*channel.wait()))
            if answer is not None:
                try:
                    packed = pack(answer, SHARES)
                except Exception:
                    packed = pack((answer[0], Caught(job.number)), SHARES)
                del answer
                channel.send(*packed)


@contextmanager
def apart(states: list[Any]) -> Iterator[None]:
    """A worker's turn in the program's own process: with generators and an identity of its own, kept in `states`."""
    before = _states()
    if states:
        _set_states(states)
    try:
        yield
    finally:
        states[:] = _states()
        _set_states(before)


def _states() -> list[Any]:
    return [random.getstate(), np.random.get_state(), draws.get_rng_state(), identity.info]


def _set_states(states: list[Any]) -> None:
    random.setstate(states[0])
    np.random.set_state(states[1])
    draws.set_rng_state(states[2])
    identity.info = states[3]
