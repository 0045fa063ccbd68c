"""A FactorStore of two ranks, 10^6 samples of 1,024 numbers: the 100 best for each of 1,000 queries, and the memory it takes.

    python -m benchmarks.shards benchmarks/results/shards.json

The store takes 4.1 GB of the folder for temporary files (TMPDIR), and is deleted. Two processes write a shard each, a third one
reads: its greatest resident set counts pages of the files that it has mapped. The samples are inputs of a Linear(1024, 1) whose
outputs are summed, so that each is its own gradient: NumPy computes the best of the first queries again.
"""
from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import retrograd as torch
from benchmarks.machine import machine
from retrograd import nn
from retrograd.microscope import FactorStore, capture

RANKS, STEPS, EACH, WIDTH, QUERIES, BEST, CHECKED = 2, 50, 10_000, 1024, 1_000, 100, 8


def numbers(rank: int, step: int, n: int = EACH) -> Any:
    return np.random.default_rng([rank, step]).standard_normal((n, WIDTH), np.float32)


def gradients(x: Any) -> Any:
    model = nn.Linear(WIDTH, 1, bias=False)
    with capture(model) as cap:
        model(torch.from_numpy(x)).sum().backward()
    return cap.grads()


def write(folder: str, rank: int) -> dict[str, float]:
    begin = time.perf_counter()
    with FactorStore(folder, rank=rank) as store:
        written = sum(store.append(gradients(numbers(rank, step)), step) for step in range(STEPS))
    return {"write_gb": written / 1e9, "write_seconds": time.perf_counter() - begin}


def query(folder: str, memory_mb: float) -> dict[str, Any]:
    """The 100 best, and the greatest resident set of this process until then."""
    wanted = numbers(RANKS, 0, QUERIES)
    store, asked = FactorStore(folder, "r"), gradients(wanted)
    begin = time.perf_counter()
    best = store.top(asked, BEST, memory_mb=memory_mb)
    found = {"top_seconds": time.perf_counter() - begin, "top_peak_mb": peak()}
    begin = time.perf_counter()
    norms, ids = store.self_influence(memory_mb=memory_mb)
    found |= {"samples": len(ids), "self_influence_seconds": time.perf_counter() - begin, "peak_mb": peak()}
    check(best, wanted[:CHECKED])
    return found


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def check(best: Any, wanted: Any) -> None:
    """AssertionError where the best of these queries are others than NumPy's."""
    where = [(rank, step) for rank in range(RANKS) for step in range(STEPS)]
    scores = np.concatenate([wanted @ numbers(*each).T for each in where], 1)
    for i, row in enumerate(np.argsort(-scores, 1)[:, :BEST]):
        assert {(*where[n // EACH], n % EACH) for n in row} == {(one.rank, one.step, one.sample) for one in best.ids[i]}
        np.testing.assert_allclose(best.values[i].numpy(), scores[i, row], rtol=1e-4)


def part(memory_mb: float, *of: str) -> Any:
    """What a process of its own found."""
    command = [sys.executable, "-m", "benchmarks.shards", "--memory", str(memory_mb), "--part", *of]
    return json.loads(subprocess.run(command, env=os.environ | {"OMP_NUM_THREADS": "1"}, check=True, capture_output=True,
                                     text=True).stdout)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", nargs="?", help="file for the figures, as JSON")
    parser.add_argument("--memory", type=float, default=512, help="memory_mb of a block")
    parser.add_argument("--part", nargs="+", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.part:
        folder, *rank = given.part
        print(json.dumps(write(folder, int(rank[0])) if rank else query(folder, given.memory)))
        return
    with tempfile.TemporaryDirectory() as folder:
        *writers, reader = [part(given.memory, folder, *rank) for rank in [*([str(rank)] for rank in range(RANKS)), []]]
    found = {"machine": machine(), "load": os.getloadavg()[0], "queries": QUERIES, "best": BEST, "memory_mb": given.memory,
             "write_gb": sum(one["write_gb"] for one in writers),
             "write_seconds": max(one["write_seconds"] for one in writers), **reader}
    text = json.dumps({key: round(value, 2) if isinstance(value, float) else value for key, value in found.items()}, indent=1)
    print(text)
    if given.result:
        Path(given.result).write_text(text + "\n")


if __name__ == "__main__":
    main()
