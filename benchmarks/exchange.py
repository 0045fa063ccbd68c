"""all_reduce beside bare mpi4py's, interleaved; through PyTorch over gloo where torchrun starts it.

    retrograd launch -n 2 benchmarks/exchange.py
    torchrun --nproc-per-node 2 benchmarks/exchange.py
"""
from __future__ import annotations

import random
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
import torch.distributed as d

SIZES = 1_000, 100_000, 1_000_000
CALLS = 10              # in a row, of one way


def ways(size: int) -> dict[str, Callable[[], object]]:
    """{name: a sum of `size` float32 of all ranks, in place}"""
    t = torch.zeros(size)
    found: dict[str, Callable[[], object]] = {"torch.distributed": lambda: d.all_reduce(t)}
    if "retrograd" in sys.modules:
        from mpi4py import MPI

        comm, a = MPI.COMM_WORLD.Dup(), t.numpy()
        b = np.zeros_like(a)
        found["Allreduce in place"] = lambda: comm.Allreduce(MPI.IN_PLACE, a)
        found["Allreduce"] = lambda: comm.Allreduce(a, b)
        found["Iallreduce in place"] = lambda: comm.Iallreduce(MPI.IN_PLACE, a).Wait()
    return found


def main() -> None:
    d.init_process_group("gloo")
    for size in SIZES:
        every = ways(size)
        found: dict[str, list[float]] = {name: [] for name in every}
        for i in range(300):
            for name in random.Random(i).sample(list(every), len(every)):
                call = every[name]
                call()                                  # the ranks begin together
                began = time.perf_counter()
                for _ in range(CALLS):
                    call()
                found[name].append((time.perf_counter() - began) / CALLS)
        if d.get_rank() == 0:
            medians = {name: statistics.median(seconds) * 1e6 for name, seconds in found.items()}
            for name, median in medians.items():
                print(f"{size:9,} floats: {name:20} {median:8.1f} us, {medians['torch.distributed'] / median:.2f}")
    d.destroy_process_group()


if __name__ == "__main__":
    main()
