"""python forked.py N PROGRAM ARGUMENTS...: the program on N ranks, each a fork of this process and of what it has imported."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
import warm  # noqa: E402

count, *arguments = sys.argv[1:]
warnings.simplefilter("ignore")
ranks: list[int] = []
for rank in range(int(count)):
    child = os.fork()
    if child == 0:
        os.environ |= {"RANK": str(rank), "LOCAL_RANK": str(rank)}
        warm.leave(arguments)
    ranks.append(child)
failed = False
while ranks:
    child, status = os.wait()
    ranks.remove(child)
    if status and not failed:
        failed = True
        for other in ranks:
            os.kill(other, signal.SIGKILL)
sys.exit(failed)
