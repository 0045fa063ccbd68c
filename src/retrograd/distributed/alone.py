"""MPI as mpi4py gives it, and what stands for it in one process: there every message arrives before it is sent."""
from __future__ import annotations

import importlib.util
import os
from pathlib import Path
from typing import Any

import numpy as np

Array = Any


class Done:
    """A request that is complete."""

    def Test(self, status: Any = None) -> bool:
        return True

    def Cancel(self) -> None:
        """Nothing is under way."""


DONE = Done()


class Alone:
    """The part of mpi4py's Comm that collectives use.  Buffers are arrays, or [array, counts]; None is MPI.IN_PLACE."""

    rank, size = 0, 1

    def copy(self, send: Any, receive: Any, *_: Any, root: int = 0, op: Any = None) -> Done:
        if send is not None and receive is not None:
            to, given = (x[0] if isinstance(x, list) else x for x in (receive, send))
            np.copyto(to.reshape(-1), given.reshape(-1))
        return DONE

    Iallreduce = Ireduce = Iallgather = Iallgatherv = Igather = Iscatter = Ireduce_scatter_block = Ialltoallv = copy

    def Ibcast(self, buffer: Array, root: int = 0) -> Done:
        return DONE

    def Ibarrier(self) -> Done:
        return DONE

    def bcast(self, value: Any, root: int = 0) -> Any:
        return value

    def Free(self) -> None:
        """Nothing is held."""

    def Abort(self, status: int) -> None:
        """Nobody else is to be ended."""


def mpi4py_MPI() -> Any:
    """mpi4py's module; importing it starts MPI."""
    found = importlib.util.find_spec("mpi4py")
    if found is not None and found.origin is not None and "MPI4PY_LIBMPI" not in os.environ:
        beside = Path(found.origin).parents[3]  # the `mpich` wheel puts MPI there: lib/ of the environment that has mpi4py
        if any(beside.glob("libmpi.*")):
            os.environ["MPI4PY_LIBMPI"] = str(beside)
    from mpi4py import MPI

    return MPI
