"""`python ARGUMENTS...` in a fork of a process that imported its packages before: milliseconds, not an import each time.

For what a program prints and how it ends. What is about a process's start (what an import loads, variables that are read
then, options of Python) starts one.
"""

from __future__ import annotations

import atexit
import functools
import gc
import json
import os
import runpy
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from pathlib import Path
from types import ModuleType
from typing import Any, NoReturn

Done = subprocess.CompletedProcess
# What a server imports: a package, and those of its parts that many programs would import anew in each fork.
RETROGRAD = ("retrograd.cli.commands", "retrograd.cli.run", "retrograd.nn", "retrograd.optim")
TORCH = ("torch", "torch._dynamo")


def run(
    *arguments: object, packages: tuple[str, ...] = RETROGRAD, text: bool = True, input: str | bytes = "",
    cwd: Path | str | None = None, env: dict[str, str] | None = None, timeout: float = 300, python: str = sys.executable,
) -> Done[Any]:
    """subprocess.run([python, *arguments], capture_output=True, ...), forked from a process that has the packages."""
    if not hasattr(os, "fork"):
        command = [python, *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=text, input=input, cwd=cwd, env=env, timeout=timeout)
    with tempfile.TemporaryDirectory() as folder:
        paths = [Path(folder, name) for name in ("in", "out", "err")]
        paths[0].write_bytes(input.encode() if isinstance(input, str) else input)
        order = {"arguments": [*map(str, arguments)], "files": [*map(str, paths)], "cwd": str(cwd or os.getcwd()),
                 "env": dict(os.environ if env is None else env)}
        code = server(python, packages, os.getpid()).answer(order, timeout)
        out, err = (path.read_bytes() for path in paths[1:])
    if text:
        return Done(order["arguments"], code, *(b.decode().replace("\r\n", "\n") for b in (out, err)))
    return Done(order["arguments"], code, out, err)


@functools.cache
def server(python: str, packages: tuple[str, ...], owner: int) -> Server:
    """One for each process that runs tests (`owner`), as a fork of it has no share in its server."""
    return Server(python, packages)


class Server:
    def __init__(self, python: str, packages: tuple[str, ...]) -> None:
        environment = os.environ | {"PYTHONIOENCODING": "utf-8", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1"}
        for name in ("PYTHONWARNINGS", "PYTHONSTARTUP"):
            environment.pop(name, None)
        self.process = subprocess.Popen(
            [python, __file__, *packages], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            start_new_session=True)
        self.lock = threading.Lock()
        atexit.register(self.close)

    def answer(self, order: dict[str, Any], timeout: float) -> int:
        assert self.process.stdin is not None and self.process.stdout is not None
        with self.lock:
            late = threading.Timer(timeout, os.killpg, (self.process.pid, signal.SIGKILL))
            late.start()
            try:
                print(json.dumps(order), file=self.process.stdin, flush=True)
                said = self.process.stdout.readline()
            finally:
                late.cancel()
        if not said:
            server.cache_clear()
            raise subprocess.TimeoutExpired(order["arguments"], timeout)
        return int(said)

    def close(self) -> None:
        self.process.communicate()


# in the server


def serve(packages: list[str]) -> None:
    for name in packages:
        __import__(name)
    gc.collect()
    gc.freeze()                                 # the children's collections leave it alone, and its pages shared
    for late in [*weakref.finalize._registry]:  # type: ignore[attr-defined]
        late.atexit = False                     # hundreds of the packages', which each child would call at its end
    for line in sys.stdin:
        order = json.loads(line)
        child = os.fork()
        if child == 0:
            become(order)
            leave(order["arguments"])
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


def become(order: dict[str, Any]) -> None:
    """Folder, variables and streams of a process of its own."""
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    for fd, (path, mode) in enumerate(zip(order["files"], ("rb", "wb", "wb"))):
        with open(path, mode) as file:
            os.dup2(file.fileno(), fd)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    sys.stdin = sys.__stdin__ = open(0, encoding="utf-8", closefd=False)
    sys.stdout = sys.__stdout__ = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = sys.__stderr__ = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)


def leave(arguments: list[str]) -> NoReturn:
    """Execute them, and end this process."""
    code = execute(arguments)
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def execute(arguments: list[str]) -> int:
    """What `python ARGUMENTS...` executes -> its exit status."""
    what, *rest = arguments
    try:
        if what == "-m":
            sys.argv, sys.path[0] = ["-m", *rest[1:]], os.getcwd()
            runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
            return 0
        main = ModuleType("__main__")
        sys.modules["__main__"] = main
        if what == "-c":
            source, name = rest[0], "<string>"
            sys.argv, sys.path[0] = ["-c", *rest[1:]], ""
        else:
            source, name = Path(what).read_text(encoding="utf-8"), what
            sys.argv, sys.path[0] = arguments, os.path.dirname(os.path.realpath(what))
            main.__file__ = os.path.abspath(what)
        exec(compile(source, name, "exec", dont_inherit=True), vars(main))
    except SystemExit as stop:
        if stop.code is None or isinstance(stop.code, int):
            return (stop.code or 0) & 255
        print(stop.code, file=sys.stderr)
        return 1
    except BaseException as error:
        frames = error.__traceback__
        while frames is not None and frames.tb_frame.f_code.co_filename in (__file__, runpy.__file__, "<frozen runpy>"):
            frames = frames.tb_next
        sys.excepthook(type(error), error, frames)
        return 1
    return 0


if __name__ == "__main__":
    serve(sys.argv[1:])
