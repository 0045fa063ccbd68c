"""Kernels given what no caller of ours gives, or beside threads that write to their indices, neither crash nor answer wrongly.

hostile_kernels.py does it, in a process of its own: a crash is a failed test.  `make sanitize` runs it for longer.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from kernel_tools import native

SCRIPT = Path(__file__).with_name("hostile_kernels.py")


@native
@pytest.mark.parametrize("how, turns", [("arguments", "80"), ("threads", "20")])
def test_kernels_survive(how: str, turns: str) -> None:
    done = subprocess.run(
        [sys.executable, SCRIPT, how, turns], capture_output=True, text=True, timeout=300,
        env=os.environ | {"OMP_NUM_THREADS": "1"})
    assert done.returncode == 0 and done.stdout.endswith("\n0 faults\n"), done.stdout[-3000:] + done.stderr[-3000:]


EDITED = """
import threading
import numpy as np
import retrograd as torch

index, mask = torch.arange(100_000) % 300, torch.zeros(300, 300).bool()
row, square, added = torch.ones(300), torch.ones(300, 300), torch.ones(100_000)
half, whole, wholes = row.half(), row.int(), added.int()
good, done = index.numpy().copy(), threading.Event()


def edit():
    while not done.is_set():
        mask.numpy()[:] = True
        index.numpy()[:] = 2**40
        mask.numpy()[:] = False
        index.numpy()[:] = good


thread = threading.Thread(target=edit)
thread.start()
for _ in range(40):
    for work in (
        lambda: row.index_add(0, index, added), lambda: half.index_add(0, index, added.half()),
        lambda: row.index_copy(0, index, added), lambda: row.index_fill(0, index, 2.0), lambda: row[index],
        lambda: row.take(index), lambda: whole.gather(0, index), lambda: whole.scatter(0, index, wholes),
        lambda: square[index, index],
        lambda: square.index_put((index, index), added), lambda: row.clone().__setitem__(index, added), lambda: square[mask],
        lambda: square.clone().__setitem__(mask, 2.0), lambda: square.masked_select(mask), lambda: square.masked_fill(mask, 2.0),
        lambda: square.masked_scatter(mask, square)):
        try:
            work()
        except (IndexError, RuntimeError):
            pass
done.set()
thread.join()
"""


def test_indices_and_masks_may_be_edited_while_they_are_used() -> None:
    done = subprocess.run([sys.executable, "-c", EDITED], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
