"""How many threads matrix products, convolutions and recurrent layers use; everything else runs on the thread that calls it.

Products are NumPy's BLAS, or a kernel of ours where vectors are wide.  Both take one thread for small ones, so there is nothing
to choose per op.  The kernels' threads sleep when they have nothing to do (`_kernels/threads.c`): two pools that spin for the
same processors slow each other down tenfold.
"""
from __future__ import annotations

import os
import warnings
from typing import Any

from . import kernel

__all__ = ["get_num_threads", "set_num_threads"]

NO_CONTROL = (
    "set_num_threads: without threadpoolctl the number of BLAS threads cannot be changed in a running process. Install it "
    "(pip install 'retrograd[threads]'), or set OPENBLAS_NUM_THREADS before Python starts.")

_pools: Any = None


def pools() -> Any:
    """The BLAS libraries loaded, as threadpoolctl's controllers; None where it is not installed."""
    global _pools
    if _pools is None:
        try:
            from threadpoolctl import ThreadpoolController
        except ImportError:
            return None
        _pools = ThreadpoolController().select(user_api="blas").lib_controllers
    return _pools


def set_num_threads(number: Any, /) -> None:
    """Let matrix products, convolutions and recurrent layers use `number` threads, in this process, from now on.

    BLAS is set through threadpoolctl; without it, this warns.  RuntimeError unless n is a positive integer.
    https://pytorch.org/docs/stable/generated/torch.set_num_threads.html
    """
    if type(number).__name__ != "int":
        raise RuntimeError(f"set_num_threads expects an int, but got {type(number).__name__}")
    if number <= 0:
        raise RuntimeError("set_num_threads expects a positive integer")
    kernel("threads")(min(number, 1024))
    found = pools()
    if found is None:
        if number != get_num_threads():
            warnings.warn(NO_CONTROL, stacklevel=2)
        return
    for library in found:
        library.set_num_threads(number)


def get_num_threads() -> int:
    """How many threads a large matrix product uses.

    https://pytorch.org/docs/stable/generated/torch.get_num_threads.html
    """
    found = pools()
    if found:
        return max(library.num_threads for library in found)
    for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS"):
        text = os.environ.get(name, "")
        if text.isdecimal() and text != "0":
            return int(text)
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
