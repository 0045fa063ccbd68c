"""A transport for tests: all-reduce as a ring of messages, each of which takes a delay; messages and bytes are counted."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np


class Ring:
    """Stands for a communicator; what it does not do itself, that one does."""

    def __init__(self, comm: Any, delay: float = 0.0) -> None:
        self.comm, self.delay = comm, delay
        self.messages = self.bytes = self.reductions = 0
        self.open: list[Request] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self.comm, name)

    def Iallreduce(self, _: Any, buffer: Any, op: Any = None) -> Request:
        self.reductions += 1
        return Request(self, buffer.reshape(-1), self.reductions)


class Request:
    """An all-reduce under way: all of a ring move on when one is asked, as MPI's do."""

    def __init__(self, ring: Ring, buffer: Any, tag: int) -> None:
        self.steps, self.open = self.run(ring, buffer, tag), ring.open
        self.open.append(self)
        self.Test()

    def Test(self) -> bool:
        self.open[:] = [each for each in self.open if each.moves()]
        return self not in self.open

    def moves(self) -> bool:
        """Take the steps that are due -> are there more?"""
        while (arrived := next(self.steps, None)) is not None:
            if not arrived:
                return True
        return False

    def run(self, ring: Ring, buffer: Any, tag: int) -> Iterator[bool]:
        """Yields whether a message has arrived, until it has; n - 1 that add up parts, n - 1 that hand on what is ready."""
        n, r = ring.comm.size, ring.comm.rank
        parts = np.array_split(buffer, n)
        for k in range(2 * (n - 1)):
            given, taken = parts[(r - k) % n], parts[(r - k - 1) % n]
            got, began = np.empty_like(taken), time.monotonic()
            sent = given.copy()
            requests = [ring.comm.Irecv(got, source=(r - 1) % n, tag=tag), ring.comm.Isend(sent, dest=(r + 1) % n, tag=tag)]
            ring.messages += 1
            ring.bytes += given.nbytes
            while not (all(request.Test() for request in requests) and time.monotonic() - began >= ring.delay):
                yield False
            if k < n - 1:
                taken += got
            else:
                taken[...] = got
            yield True
