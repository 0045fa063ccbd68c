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
