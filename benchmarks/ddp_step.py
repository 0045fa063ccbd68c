"""A step of DistributedDataParallel on two ranks, ours beside PyTorch's over gloo: MLP 784-512-512-10, SGD.

    python benchmarks/ddp_step.py --batch 64

Two pairs of processes take turns of nine steps (the first of which is not counted), so that both meet the same load.
"""
from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

OURS = [sys.executable, "-m", "retrograd", "launch", "-n", "2", __file__]
THEIRS = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", __file__]
STEPS = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", type=int, default=64, help="samples of each rank")
    parser.add_argument("--turns", type=int, default=20)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pairs = [subprocess.Popen([*command, "--rank-of", str(place), folder, str(given.batch), str(given.turns)],
                                  env=os.environ | {"OMP_NUM_THREADS": "1"}, stderr=subprocess.DEVNULL)
                 for place, command in enumerate((OURS, THEIRS))]
        for pair in pairs:
            assert pair.wait() == 0
        ours, theirs = (sorted(map(float, Path(folder, f"{place}.seconds").read_text().split())) for place in range(2))
    for name, at in (("median", 2), ("lowest tenth", 10)):
        a, b = ours[len(ours) // at] * 1e3, theirs[len(theirs) // at] * 1e3
        print(f"batches of {given.batch}, {name}: {a:.2f} ms, PyTorch's {b:.2f} ms, ratio {a / b:.2f}")
    print(f"means: ratio {statistics.mean(ours) / statistics.mean(theirs):.2f}; load {os.getloadavg()[0]:.1f}")


def rank(place: int, folder: Path, batch: int, turns: int) -> None:
    """One process of a pair; turn number t belongs to pair t % 2, and is over when both its ranks say so."""
    import torch
    import torch.distributed as d
    from torch import nn
    from torch.nn.parallel import DistributedDataParallel

    d.init_process_group("gloo")
    torch.set_num_threads(1)
    torch.manual_seed(0)
    model = DistributedDataParallel(
        nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10)))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(batch, 784), torch.randint(0, 10, (batch,))
    me, found = d.get_rank(), []
    for turn in range(2 * turns):
        if turn % 2 != place:
            continue
        while turn and not all((folder / f"{turn - 1}.{r}").exists() for r in range(2)):
            time.sleep(0.001)
        for _ in range(STEPS + 1):
            began = time.perf_counter()
            optimizer.zero_grad()
            nn.functional.cross_entropy(model(x), y).backward()
            optimizer.step()
            found.append(time.perf_counter() - began)
        del found[-STEPS - 1]
        (folder / f"{turn}.{me}").touch()
    if me == 0:
        (folder / f"{place}.seconds").write_text(" ".join(map(str, found[STEPS:])))
    d.barrier()
    d.destroy_process_group()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--rank-of"]:
        rank(int(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
    else:
        main()
