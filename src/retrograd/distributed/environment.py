"""What launchers tell a process in its environment: mpiexec of MPICH, Intel MPI and Open MPI, srun; and torchrun."""
from __future__ import annotations

import os
import random
import signal
import socket
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial
from pathlib import Path

DRAIN = 0.2             # seconds that mpiexec has to pass on what a rank wrote: it forgets the rest when it ends all
# (rank, size, rank on this machine, processes on this machine)
LAUNCHERS = (
    ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"),
    ("PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"),
    ("PMIX_RANK", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE"),
)


def under_mpi(environ: Mapping[str, str] = os.environ) -> tuple[int, int, int, int] | None:
    """(rank, size, rank on this machine, processes on this machine), as the launcher says; None without one."""
    for names in LAUNCHERS:
        if names[0] in environ and names[1] in environ:
            rank, size = int(environ[names[0]]), int(environ[names[1]])
            local, near = environ.get(names[2]), environ.get(names[3], "")
            return rank, size, rank if local is None else int(local), int(near) if near.isdigit() else size
    return None


def like_torchrun() -> None:
    """Set what torchrun sets, RANK, LOCAL_RANK, WORLD_SIZE and the like, from what the launcher of MPI set."""
    found = under_mpi()
    if found is None:
        return
    rank, size, local, near = found
    told = {
        "RANK": rank, "WORLD_SIZE": size, "LOCAL_RANK": local, "LOCAL_WORLD_SIZE": near, "GROUP_RANK": rank // near,
        "GROUP_WORLD_SIZE": -(-size // near), "ROLE_RANK": rank, "ROLE_WORLD_SIZE": size, "ROLE_NAME": "default",
        "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": 29500, "TORCHELASTIC_RUN_ID": "none", "TORCHELASTIC_RESTART_COUNT": 0,
        "TORCHELASTIC_MAX_RESTARTS": 0,
    }
    for name, value in told.items():
        os.environ.setdefault(name, str(value))


def machine() -> str:
    """A word that processes of one machine have in common: its name alone would not do, as containers may be called alike."""
    boot = ""
    with suppress(OSError):
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    return f"{os.uname().nodename}/{boot}"


def ends_with_us() -> Callable[[], object] | None:
    """What a child calls first, so that the system ends it when this process is killed.  None where there is no such thing."""
    if sys.platform != "linux":
        return None
    import ctypes

    return partial(ctypes.CDLL(None).prctl, 1, signal.SIGTERM)          # PR_SET_PDEATHSIG


def crowd() -> int:
    """The most ranks that are started on this machine: 64 for each processor."""
    return 64 * (os.cpu_count() or 1)


def free_port() -> int:
    """A port of this machine where nothing listens, below those that the system gives to outgoing connections (from 32768
    on), so that no connection of another program takes it before rank 0 listens."""
    for port in random.SystemRandom().sample(range(20_000, 32_768), 100):
        with socket.socket() as probe, suppress(OSError):
            probe.bind(("127.0.0.1", port))
            return port
    raise OSError("no free port among 100 tried from 20000 to 32767: name one with MASTER_PORT or --master-port")
