"""A model of what a step of DistributedDataParallel costs, fitted to two ranks and printed for more.

    retrograd launch -n 2 benchmarks/scale.py --delay 0.02

Messages go round the ring of tests/distributed/ring.py, each with a delay, so that a machine with two processors has a link to
measure.  A bucket that is full at time r takes 2 (n - 1) messages of latency a and 2 (n - 1) / n of its bytes at bandwidth b.
Buckets share the bandwidth, and wait for their messages side by side.  a and b come from all-reduces alone, r and the computing
from passes without sync.
"""
from __future__ import annotations

import argparse
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "distributed"))

import numpy as np
from ring import Ring

import retrograd as torch
import retrograd.distributed as d
from retrograd import nn
from retrograd.nn.parallel import DistributedDataParallel

SIZES = 100_000, 1_000_000, 4_000_000          # floats of the all-reduces that are timed
RANKS = 2, 16, 64, 256, 1024


def timed(f: Callable[[], Any], times: int = 7) -> float:
    """Median seconds, of rank 0's view, all ranks beginning together."""
    found = []
    for _ in range(times):
        d.barrier()
        began = time.perf_counter()
        f()
        found.append(time.perf_counter() - began)
    told = [statistics.median(found)]
    d.broadcast_object_list(told, 0)
    return told[0]


def predicted(n: int, latency: float, bandwidth: float, computing: float, buckets: list[tuple[float, int]]) -> float:
    """Seconds of a step on n ranks; buckets: (when it is full, bytes)."""
    end = link = 0.0
    for ready, size in buckets:
        link = max(ready, link) + 2 * (n - 1) / n * size / bandwidth
        end = max(end, link + 2 * (n - 1) * latency)
    return max(computing, end)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--delay", type=float, default=0.02, help="seconds for each message")
    parser.add_argument("--batch", type=int, default=2048)
    given = parser.parse_args()
    d.init_process_group("mpi")
    n = d.get_world_size()
    whole = d.group.WORLD
    whole.comm = Ring(whole.comm, given.delay)
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    ddp = DistributedDataParallel(model, bucket_cap_mb=0.005)
    x = torch.randn(given.batch, 784)
    full: dict[int, float] = {}
    began = [0.0]
    for i, p in enumerate(model.parameters()):
        p.register_post_accumulate_grad_hook(lambda _, i=i: full.update({i: time.perf_counter() - began[0]}))

    def step() -> None:
        began[0] = time.perf_counter()
        model.zero_grad()
        ddp(x).pow(2).mean().backward()

    def apart() -> None:
        with ddp.no_sync():
            step()

    for _ in range(3):
        step()
    seconds = [timed(lambda size=size: d.all_reduce(torch.zeros(size))) for size in SIZES]
    rows = np.array([[2 * (n - 1), 2 * (n - 1) / n * 4 * size] for size in SIZES])
    latency, each = np.linalg.lstsq(rows, np.array(seconds), rcond=None)[0]
    bandwidth = 1 / max(each, 1e-12)
    computing = timed(apart)
    buckets = [(max(full[i] for i in bucket.indices), bucket.flat.nbytes) for bucket in ddp.reducer.buckets]
    measured = timed(step)
    if d.get_rank() == 0:
        guess = predicted(n, latency, bandwidth, computing, buckets)
        print(f"latency {latency * 1e3:.2f} ms, bandwidth {bandwidth / 1e9:.2f} GB/s, computing {computing * 1e3:.0f} ms")
        print(f"{n} ranks: predicted {guess * 1e3:.0f} ms, measured {measured * 1e3:.0f} ms: {guess / measured - 1:+.0%}")
        for name, a in (("this link", latency), ("50 us a message", 5e-5)):
            for ranks in RANKS:
                whole_step = predicted(ranks, a, bandwidth, computing, buckets)
                print(f"{name}: {ranks:5} ranks: {whole_step * 1e3:9.0f} ms, efficiency {computing / whole_step:.1%}")
    d.destroy_process_group()


if __name__ == "__main__":
    main()
