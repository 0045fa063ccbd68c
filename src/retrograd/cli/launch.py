"""`retrograd launch`: starts a program on several ranks by mpiexec, and says which rank failed."""

from __future__ import annotations

import atexit
import importlib.util
import io
import os
import re
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, NoReturn

from ..distributed.environment import DRAIN, crowd, ends_with_us, free_port

GRACE = 5.0             # seconds that mpiexec has to end its ranks
SOON = 0.5              # seconds in which it ends if Ctrl-C reached it, too
DEAD = re.compile(rb"PID (\d+) RUNNING AT")
MOST = 2**31 - 1        # mpiexec starts another number of ranks instead of more
HIGH = 512              # a descriptor above those that a rank inherits
CODE = re.compile(rb"EXIT CODE: (\d+)")
NONE = """found no mpiexec: pip install retrograd[mpi] brings one, with MPI and mpi4py.
On a cluster, load the site's module of MPI and pip install mpi4py."""


class CannotLaunch(Exception):
    """The message is for the user."""


def launch(n: int, arguments: Sequence[str], options: Sequence[str] = ()) -> int:
    """Run `retrograd run ARGUMENTS` on n ranks -> the exit status of the first that failed, or mpiexec's.

    options  of mpiexec's, as they are
    """
    most = MOST if options else crowd()
    if n > most:
        raise CannotLaunch(f"{n} ranks are too many: {most} are the most" + " on this machine, unless --mpiexec says where "
                           "others run" * (not options))
    program = mpiexec()
    with tempfile.TemporaryDirectory(prefix="retrograd-launch-") as folder:
        command = [program, *tagged(program), "-n", str(n), *options, sys.executable, "-m", "retrograd", "run", *arguments]
        ranks = Ranks(Path(folder, "ranks"))
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(folder),
                                   preexec_fn=ends_with_us())
        outputs = [Output(process.stdout, sys.stdout), Output(process.stderr, sys.stderr)]
        before = signal.signal(signal.SIGTERM, terminated)
        status = stop = 0
        try:
            status = process.wait()
        except KeyboardInterrupt:
            stop = signal.SIGINT
            end(process, (lambda: None, SOON), (lambda: process.send_signal(stop), GRACE))
        except Terminated:
            stop = signal.SIGTERM
        finally:
            signal.signal(signal.SIGTERM, before)
            end(process, (process.terminate, GRACE), (process.kill, GRACE))
        ranks.close()
        for output in outputs:
            output.thread.join(GRACE)
        if stop:
            print(f"retrograd: {signal.Signals(stop).name} ended all ranks", file=sys.stderr)
            return 128 + stop
        return report(status, b"".join(output.end for output in outputs), ranks) if status or ranks.left else 0


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
    return {"OMP_NUM_THREADS": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(free_port()), **os.environ,
            "RETROGRAD_LAUNCHED": folder}


class Output:
    """Passes a stream on, line by line, and keeps its end."""

    def __init__(self, source: Any, to: Any) -> None:
        self.source, self.to, self.end = source, to, b""
        self.thread = threading.Thread(target=self.copy, daemon=True)
        self.thread.start()

    def copy(self) -> None:
        with self.source:
            for line in self.source:
                self.end = (self.end + line)[-20_000:]
                with suppress(BrokenPipeError, ValueError):     # nobody reads; the ranks go on
                    self.to.write(line.decode(errors="replace"))
                    self.to.flush()


class Ranks:
    """Which process is which rank, and which of them was killed first.

    mpiexec kills the ranks that are left when one has gone, and names any of them.  So each holds a link to `path`, which the
    system closes with the process, before mpiexec's.
    """

    def __init__(self, path: Path) -> None:
        self.number: dict[str, str] = {}        # process -> rank
        self.ends: dict[str, str] = {}          # processes that ended badly, in order -> status; "": killed
        self.well = 0                           # how many others came to their end
        self.early = self.left = ""             # the first of these, before any other, and whether one was killed then
        self.over = False
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen(128)
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    def watch(self) -> None:
        links: dict[Any, bytes] = {self.listener: b""}
        link: Any
        with selectors.DefaultSelector() as waiting, self.listener:
            waiting.register(self.listener, selectors.EVENT_READ)
            came = waiting.select(0.1)
            while came or not self.over or len(links) > 1:
                for key, _ in came:                         # in their order
                    if key.fileobj is self.listener:
                        link = self.listener.accept()[0]
                        links[link] = b""
                        waiting.register(link, selectors.EVENT_READ)
                        continue
                    link = key.fileobj
                    if not self.heard(link, links):
                        waiting.unregister(link)
                        link.close()
                came = waiting.select(0.1)

    def heard(self, link: Any, links: dict[Any, bytes]) -> bool:
        """Does the link go on?  A rank says "process rank ", at its end "ended STATUS "."""
        came = link.recv(64)
        links[link] += came
        process, number, _, status, *_ = [*links[link].decode(errors="replace").split(" "), "", "", ""]
        self.number[process] = number
        if number and status != "0" and (status or not came):
            self.ends.setdefault(process, status)
            self.left = self.left or self.early * (not status)
        if not came:
            self.well += status == "0"
            if status == "0" and not self.ends:
                self.early = self.early or process
            del links[link]
        return bool(came)

    def close(self) -> None:
        """All of them have gone."""
        self.over = True
        self.thread.join(GRACE)


class Terminated(BaseException):
    """SIGTERM has come."""


def terminated(*_: object) -> None:
    raise Terminated


def end(process: subprocess.Popen[bytes], *stops: tuple[Callable[[], object], float]) -> None:
    """Stop mpiexec in one way after the other, and wait for as long, until it has ended."""
    for stop, seconds in stops:
        stop()
        with suppress(subprocess.TimeoutExpired):
            process.wait(seconds)
            return


def report(status: int, said: bytes, ranks: Ranks) -> int:
    """Which rank was it?  What the first to end said, or what mpiexec says of a process that was killed -> the exit status."""
    first, its = next(iter(ranks.ends.items()), ("", ""))
    process, code = DEAD.search(said), CODE.search(said)
    if not status:                              # mpiexec takes this for the end of all
        first, status, how = ranks.left, 1, "ended by os._exit(0)"
    elif its:
        status = int(its)
        how = f"ended with status {status}"
    elif process is not None and code is not None:
        killed, value = b"(signal" in said, int(code[1])
        if not (killed and value == signal.SIGKILL and first):          # mpiexec's own, too
            first = process[1].decode()
        how = f"was killed by signal {value}" if killed else f"ended with status {value}"
    elif first and status > 0:
        how = f"ended with status {status}"
    else:
        print(f"retrograd: mpiexec ended with status {status}", file=sys.stderr)
        return status if status > 0 else 128 - status
    others = "; the other ranks were ended" if ranks.well - (first == ranks.left) < len(ranks.number) - 1 else ""
    rank = f"rank {ranks.number[first]}" if first in ranks.number else "a rank that had not begun"
    print(f"retrograd: {rank} (process {first}) {how}{others}", file=sys.stderr)
    return status


class Lines(io.TextIOWrapper):
    """Writes whole lines, at once: what mpiexec reads in pieces it mixes with the lines of other ranks."""

    held: list[str] | None = None

    def hold(self) -> None:
        """What is written until flush() comes out in one piece."""
        self.held = []

    def write(self, text: str) -> int:
        if self.held is not None:
            self.held.append(text)
            return len(text)
        lines, end, rest = text.rpartition("\n")
        super().write(lines + end)
        super().write(rest)
        return len(text)

    def flush(self) -> None:
        held, self.held = self.held, None
        if held:
            self.write("".join(held))
        super().flush()


class Rank:
    """This process as a rank, which says who it is, where the launcher asked, and how it ends."""

    def __init__(self) -> None:
        from ..distributed.environment import like_torchrun, under_mpi

        like_torchrun()
        for name in ("stdout", "stderr"):
            stream = getattr(sys, name)
            if type(stream) is io.TextIOWrapper:
                whole = Lines(stream.detach(), stream.encoding, stream.errors, line_buffering=True)
                setattr(sys, name, whole)
                setattr(sys, f"__{name}__", whole)
        self.status = 2                         # unless the program starts
        self.link: socket.socket | None = None
        folder, found = os.environ.get("RETROGRAD_LAUNCHED"), under_mpi()
        if folder is not None and found is not None:
            with suppress(OSError):             # on another machine
                self.connect(Path(folder, "ranks"), found[0])
        atexit.register(self.end, os.getpid())

    def connect(self, path: Path, rank: int) -> None:
        """Hold a link to the launcher; processes that this one forks do not."""
        import fcntl

        with socket.socket(socket.AF_UNIX) as first:
            first.connect(str(path))
            # Linux closes the highest first: before the link to mpiexec, which kills the other ranks as soon as that one closes
            self.link = socket.socket(fileno=fcntl.fcntl(first, fcntl.F_DUPFD_CLOEXEC, HIGH))
        self.link.sendall(f"{os.getpid()} {rank} ".encode())
        os.register_at_fork(after_in_child=self.link.close)
        leave = os._exit

        def left(status: int) -> NoReturn:
            """os._exit, and the launcher is told, before mpiexec kills the ranks that do not leave as well."""
            if self.link is not None and self.link.fileno() >= 0:       # no fork
                self.status = status
                self.ends()
                time.sleep(0 if status else DRAIN)
            leave(status)

        os._exit = left

    def ends(self) -> None:
        """The program is over: the launcher is told, before MPI waits for other ranks."""
        if self.link is not None:
            with suppress(OSError):
                self.link.sendall(f"ended {self.status & 0xFF} ".encode())

    def end(self, process: int) -> None:
        """Of a rank that fails before MPI has begun, MPICH's mpiexec takes no notice: it is told."""
        if os.getpid() != process:              # a fork
            return
        early = self.status if "mpi4py.MPI" not in sys.modules else 0
        if early and "PMI_FD" in os.environ:
            time.sleep(DRAIN)
            with suppress(OSError, ValueError):
                os.write(int(os.environ["PMI_FD"]), f"cmd=abort exitcode={early} message=failed\n".encode())
