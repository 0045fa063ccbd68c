"""Starts programs on several ranks: by mpiexec with torch meaning retrograd, and with PyTorch over gloo to compare with."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import warm

from retrograd.cli.launch import CannotLaunch, mpiexec
from retrograd.distributed.environment import free_port

HERE = Path(__file__).parent


def found() -> str | None:
    """mpiexec; None where MPI cannot be had."""
    try:
        return mpiexec()
    except CannotLaunch:
        return None


if found() is None and os.environ.get("RETROGRAD_REQUIRE_MPI") == "1":
    raise RuntimeError("no mpiexec: pip install mpi4py mpich")
needs_mpi = pytest.mark.skipif(found() is None, reason="no MPI: pip install retrograd[mpi] brings mpi4py and mpich")


def ours(n: int, program: str, *arguments: str, timeout: float = 60, env: dict[str, str] | None = None,
         status: int | None = 0) -> subprocess.CompletedProcess[str]:
    """`mpiexec -n N retrograd run PROGRAM ARGUMENTS`; ends within the timeout."""
    command = [found() or "", "-n", str(n), sys.executable, "-m", "retrograd", "run", str(HERE / program), *arguments]
    return ended(command, timeout, env or {}, status)


def ended(command: list[str], timeout: float, env: dict[str, str], status: int | None) -> subprocess.CompletedProcess[str]:
    """A launcher in Python is a fork; the processes that it starts are none."""
    told = os.environ | QUIET | env
    if command[0] == sys.executable:
        done = warm.run(*command[1:], timeout=timeout, env=told)
    else:
        done = subprocess.run(command, capture_output=True, text=True, timeout=timeout, env=told)
    assert status is None or done.returncode == status, done.stdout + done.stderr
    return done


QUIET = {"OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "default"}


def theirs(n: int, program: str, *arguments: str, timeout: float = 100) -> None:
    """The same program with PyTorch, on n processes that meet by gloo."""
    told = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), "WORLD_SIZE": str(n), "OMP_NUM_THREADS": "1",
            "GLOO_SOCKET_IFNAME": "lo"}
    done = warm.run(HERE / "forked.py", n, HERE / program, *arguments, packages=warm.TORCH, env=os.environ | told,
                    timeout=timeout)
    assert done.returncode == 0, done.stdout + done.stderr
