"""`retrograd launch`: starts a program on several ranks by mpiexec, and says which rank failed."""

from __future__ import annotations

import importlib.util
import io
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

GRACE = 5.0             # seconds that mpiexec has to end its ranks
DEAD = re.compile(rb"PID (\d+) RUNNING AT")
CODE = re.compile(rb"EXIT CODE: (\d+)")
NONE = """found no mpiexec: pip install retrograd[mpi] brings one, with MPI and mpi4py.
On a cluster, load the site's module of MPI and pip install mpi4py."""


class CannotLaunch(Exception):
    """The message is for the user."""


def launch(n: int, arguments: Sequence[str], options: Sequence[str] = ()) -> int:
    """Run `retrograd run ARGUMENTS` on n ranks -> mpiexec's exit status.

    options  of mpiexec's, as they are
    """
    program = mpiexec()
    with tempfile.TemporaryDirectory(prefix="retrograd-launch-") as folder:
        command = [program, *tagged(program), "-n", str(n), *options, sys.executable, "-m", "retrograd", "run", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(folder))
        outputs = [Output(process.stdout, sys.stdout), Output(process.stderr, sys.stderr)]
        before = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
        try:
            status = process.wait()
        except KeyboardInterrupt:               # mpiexec was told, too, and ends its ranks
            status = 130
            end(process)
        finally:
            signal.signal(signal.SIGTERM, before)
            end(process)
        for output in outputs:
            output.thread.join(GRACE)
        if status:
            report(status, b"".join(output.end for output in outputs), Path(folder))
        return status


def mpiexec() -> str:
    """The mpiexec beside mpi4py's, or the one on PATH.  CannotLaunch without one."""
    found = importlib.util.find_spec("mpi4py")
    if found is None or found.origin is None:
        raise CannotLaunch("mpi4py is not installed: pip install retrograd[mpi] brings it and an MPI")
    beside = Path(found.origin).parents[4] / "bin" / "mpiexec"
    program = str(beside) if beside.exists() else shutil.which("mpiexec")
    if program is None:
        raise CannotLaunch(NONE)
    return program


def tagged(program: str) -> list[str]:
    """The option that puts the rank before each line of output."""
    told = subprocess.run([program, "--version"], capture_output=True, text=True).stdout
    return ["--tag-output"] if "Open MPI" in told or "OpenRTE" in told else ["-l"]


def environment(folder: str) -> dict[str, str]:
    """What torchrun's children find, but for the ranks; one thread each, unless the user said how many."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    return {"OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": port, **os.environ,
            "RETROGRAD_LAUNCHED": folder}


class Output:
    """Passes a stream on, line by line, and keeps its end."""

    def __init__(self, source: Any, to: Any) -> None:
        self.source, self.to, self.end = source, to, b""
        self.thread = threading.Thread(target=self.copy, daemon=True)
        self.thread.start()

    def copy(self) -> None:
        for line in self.source:
            self.end = (self.end + line)[-20_000:]
            try:
                self.to.write(line.decode(errors="replace"))
                self.to.flush()
            except (BrokenPipeError, ValueError):       # nobody reads; the ranks go on
                pass


def end(process: subprocess.Popen[bytes]) -> None:
    """Wait for mpiexec to end its ranks; after a while, end it."""
    for stop in (None, process.terminate, process.kill):
        if stop is not None:
            stop()
        try:
            process.wait(GRACE)
            return
        except subprocess.TimeoutExpired:
            continue


def report(status: int, said: bytes, folder: Path) -> None:
    """Which rank was it?  What mpiexec says of a process that was killed, and ranks whose program raised, say it."""
    ranks = {path.name: path.read_text() for path in folder.glob("[0-9]*")}
    text = f"mpiexec ended with status {status}"
    process, code = DEAD.search(said), CODE.search(said)
    if process is not None and code is not None and process[1].decode() in ranks:
        number, value = process[1].decode(), int(code[1])
        how = f"was killed by signal {value}" if b"(signal" in said else f"ended with status {value}"
        text = f"rank {ranks[number]} (process {number}) {how}; the other ranks were ended"
    print(f"retrograd: {text}", file=sys.stderr)


def started() -> None:
    """A rank says which process it is, where the launcher asked."""
    from ..distributed.environment import like_torchrun, under_mpi

    like_torchrun()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(line_buffering=True, write_through=False)    # ranks' lines come whole, and at once
    folder, found = os.environ.get("RETROGRAD_LAUNCHED"), under_mpi()
    if folder is not None and found is not None and os.path.isdir(folder):
        Path(folder, str(os.getpid())).write_text(str(found[0]))
