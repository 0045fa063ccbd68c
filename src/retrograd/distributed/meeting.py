"""Processes that no mpiexec started meet as PyTorch's do, by a store: at MASTER_ADDR and MASTER_PORT, by tcp:// or file://.

NOTE [Who stands for mpiexec]
MPICH asks its mpiexec by a socket who the other ranks are (PMI), and takes any socket that it is told of.  So rank 0 starts
meeting_server.py, which answers, and the store says where.  It is a process, since MPI asks with the GIL held and once more when
Python has ended.  Intel MPI is an MPICH; Open MPI asks otherwise, and finds itself alone.
"""
from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import Any

from .environment import machine
from .errors import DistNetworkError
from .stores import FileStore, HashStore, PrefixStore, Store
from .tcp_store import TCPStore, listening

KEY = "retrograd/meeting"
LAUNCH = "Start the program with: retrograd launch -n {} program.py"


class Met:
    """The world that this process is in since it met others: MPI begins once in a process."""

    rank, size = 0, 0
    store: Store | None = None


met = Met()


def meet(rank: int, size: int, store: Store, timeout: timedelta, mpi: Callable[[], Any]) -> None:
    """Make one MPI world of the ranks.  mpi(): imports MPI, which begins then

    ValueError where MPI has begun, or is none that can; DistNetworkError where not all ranks come in time.
    """
    cannot = f"This process was not started by mpiexec, so it cannot meet the {size - 1} other ranks of a world of {size}: "
    kept = store
    while isinstance(kept, PrefixStore):
        kept = kept.underlying_store
    if isinstance(kept, HashStore) or "mpi4py.MPI" in sys.modules:
        why = "its store is in this process" if isinstance(kept, HashStore) else "mpi4py.MPI was imported before"
        raise ValueError(f"{cannot}{why}.\n{LAUNCH.format(size)}")
    held = 0
    if rank == 0:
        host = kept.host if isinstance(kept, TCPStore) else os.uname().nodename
        told, held = serve(host, size, timeout.total_seconds())
        store.set(KEY, told)
    store.set_timeout(timeout)
    host, port, where, token = store.get(KEY).decode().split()
    try:
        link = reached([host, *["127.0.0.1"] * (where == machine())], int(port), timeout.total_seconds())
        link.sendall(f"{token} {rank} {machine()}\n".encode())
        answer = link.recv(3)
    except OSError as error:
        stale = f"\nIf {kept.path} is of an earlier run, remove it." if isinstance(kept, FileStore) else ""
        raise DistNetworkError(f"rank {rank} could not reach rank 0 at {host}:{port}: {error}{stale}") from error
    finally:
        if held:
            os.close(held)
    if answer != b"go\n":
        raise DistNetworkError(f"rank {rank} met not all {size} ranks within {timeout.total_seconds():.0f} s, or two said that "
                               f"they are rank {rank}")
    link.setblocking(True)
    environment = {"PMI_FD": str(link.detach()), "PMI_RANK": str(rank), "PMI_SIZE": str(size)}
    os.environ.update(environment)
    try:
        world = mpi().COMM_WORLD
    finally:
        for name in environment:                # not for processes that this one starts
            os.environ.pop(name, None)
    if (world.rank, world.size) != (rank, size):
        raise ValueError(f"{cannot}only MPICH and its kin can connect such processes.\n{LAUNCH.format(size)}")
    met.rank, met.size, met.store = rank, size, store


def reached(hosts: list[str], port: int, seconds: float) -> socket.socket:
    """A link to the first of them that answers: a machine may not know its own name."""
    for host in hosts[:-1]:
        with suppress(OSError):
            return socket.create_connection((host, port), seconds)
    return socket.create_connection((hosts[-1], port), seconds)


def serve(host: str, size: int, seconds: float) -> tuple[str, int]:
    """Start the process that answers -> where, and the word by which it knows ranks; what to close when they have met."""
    token = secrets.token_hex(16)
    starter, held = os.pipe()
    with open(starter), listening(host, 0) as listener:
        subprocess.run(
            [sys.executable, "-I", "-S", str(Path(__file__).with_name("meeting_server.py")), str(listener.fileno()), str(size),
             str(seconds), token, str(starter)], pass_fds=[listener.fileno(), starter], start_new_session=True, check=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        return f"{host} {listener.getsockname()[1]} {machine()} {token}", held
