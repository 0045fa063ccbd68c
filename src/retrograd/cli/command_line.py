"""The command line: `retrograd run`, `doctor`, and the microscope's `trace`, `explain`, `compare`, `lint`, `view`."""

from __future__ import annotations

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from typing import Any


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="retrograd", description="PyTorch's autograd and hooks over NumPy.")
    top.add_argument("--version", action="store_true", help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser(
        "run", help="run a script with `import torch` meaning retrograd",
        description="Run SCRIPT as python would, with `import torch` meaning retrograd.",
        usage="retrograd run [-h] (SCRIPT | - | -m MODULE | -c CODE) [ARGS ...]",
        **examples("retrograd run train.py --epochs 3", "retrograd run -m package.train", "retrograd run - < train.py"))
    run.add_argument(
        "script", metavar="SCRIPT",
        help="a Python file written for PyTorch or for retrograd; - for standard input; -m MODULE and -c CODE as in python")
    arguments = run.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script")
    arguments.required = False              # no arguments are enough
    launch = commands.add_parser(
        "launch", help="run a script on several ranks, which torch.distributed connects",
        description="Run SCRIPT on N ranks by mpiexec, with `import torch` meaning retrograd.  Each line of output "
                    "starts with its rank; a rank that fails ends all.  Sets RANK, LOCAL_RANK, WORLD_SIZE, ... as torchrun does.",
        usage="retrograd launch [-h] [-n N] [--mpiexec OPTIONS] (SCRIPT | -m MODULE | -c CODE) [ARGS ...]",
        **examples("retrograd launch -n 4 train.py --epochs 3", "retrograd launch -n 4 -m package.train",
                   "retrograd launch -n 8 --mpiexec '-f hosts' train.py"))
    launch.add_argument("-n", type=int, metavar="N", default=os.cpu_count(), help="ranks (default: one per processor)")
    launch.add_argument("--mpiexec", metavar="OPTIONS", default="", help="more options for mpiexec, in quotes")
    launch.add_argument("script", metavar="SCRIPT", help="as for retrograd run")
    rest = launch.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script")
    rest.required = False
    commands.add_parser(
        "doctor", help="show the build and the environment",
        description="Show the build and the environment it runs in: what a bug report needs.")
    microscope(commands)
    return top


def microscope(commands: Any) -> None:
    """The commands of the microscope."""
    torch = {"action": "store_true", "help": "run with real PyTorch; otherwise `import torch` means retrograd"}
    trace = commands.add_parser(
        "trace", help="run a script and report what its backward passes and hooks did",
        description="Run SCRIPT and record it: ops, backward nodes, hooks, accumulations, steps.  Prints which hooks changed "
                    "something, which never fired and why, which parameters have no gradient and why, norms by layer, and "
                    "where NaN and inf first appear.  Exit status: the script's.",
        usage="retrograd trace [OPTIONS] (SCRIPT | - | -m MODULE) [OPTIONS] [--] [ARGS ...]",
        **examples("retrograd trace train.py", "retrograd trace train.py -o step.html --torch",
                   "retrograd trace --torch train.py --epochs 1", "retrograd trace train.py -- -o for-the-script",
                   "retrograd trace -m package.train --epochs 1", "retrograd trace - < train.py"))
    trace.add_argument("-o", "--output", metavar="FILE", help="write FILE; its ending gives the format: .html a page, .json for "
                       "Perfetto and chrome://tracing, .dot for Graphviz, .trace the recording itself (default: trace.html "
                       "in the current folder)")
    trace.add_argument("--torch", **torch)
    trace.add_argument("--values", action="store_true", help="keep gradients that reach parameters, so that ledgers have numbers")
    trace.add_argument("--paths", action="store_true", help="like --values, and also what each way through the graph contributes")
    trace.add_argument("--limit", type=int, default=500_000, metavar="N", help="keep at most N events (default 500000)")
    trace.add_argument("script", metavar="SCRIPT", help="a Python file; - for standard input; -m MODULE as in python -m")
    trace.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script, from the first that "
                       "is not an option of trace, or after --")
    explain = commands.add_parser(
        "explain", help="say what a parameter or module is, and why it has no gradient",
        description="FILE is a recording (retrograd trace -o run.trace) or a script to run; or -m MODULE, as in "
                    "python -m.  Without NAME it lists the names.",
        **examples("retrograd explain run.trace encoder.0.weight", "retrograd explain train.py head.bias",
                   "retrograd explain train.py head.bias -- --epochs 1",
                   "retrograd explain -m package.train head.bias"))
    explain.add_argument("--torch", **torch)
    explain.add_argument("file", metavar="FILE", help="a recording or a Python file; arguments after -- go to the script")
    explain.add_argument("names", metavar="NAME", nargs="*", help="paths of parameters and modules")
    compare = commands.add_parser(
        "compare", help="put two training steps, or two recordings, side by side",
        description="Two steps: loss, gradients, learning rates, clipping, what ran and what was skipped, largest differences "
                    "first.  Two recordings: what differs first, and the norms of all events.  FILE is a recording (retrograd "
                    "trace -o run.trace) or a script to run; or -m MODULE, as in python -m.  With FILE alone it lists the steps.",
        **examples("retrograd compare run.trace 1 20", "retrograd compare train.py 1 2 -- --epochs 1",
                   "retrograd compare -m package.train", "retrograd compare before.trace after.trace",
                   "retrograd compare before.trace after.trace 3 3 -o page.html"))
    compare.add_argument("--torch", **torch)
    compare.add_argument("file", metavar="FILE", help="a recording or a Python file; arguments after -- go to the script")
    compare.add_argument("-o", "--output", metavar="FILE", help="write the page of two recordings to FILE.html")
    compare.add_argument("steps", metavar="OTHER | STEP", nargs="*",
                         help="another recording; two steps, counted from 1: of FILE, or one of each recording")
    lint = commands.add_parser(
        "lint", help="find mistakes with hooks and gradients in source files",
        description="Exit status 0: no findings, 1: findings, 2: a file could not be read or its run failed.  The rules: "
                    "docs/lint.md.",
        **examples("retrograd lint train.py", "retrograd lint --run train.py -- --epochs 1",
                   "retrograd lint --run -m package.train", "retrograd lint --json src a.ipynb"))
    lint.add_argument("--run", action="store_true", help="also run the file and check what its hooks did; arguments after -- "
                      "go to the script")
    lint.add_argument("--torch", **torch)
    lint.add_argument("--json", action="store_true", help="print a JSON list")
    lint.add_argument("--rules", action="store_true", help="list the rules and exit")
    lint.add_argument("files", metavar="FILE", nargs="*", help="Python files, notebooks, folders; - for standard input")
    view = commands.add_parser(
        "view", help="summarize a recording and open its page in a browser",
        description="Print the summary of a recording and open its page.",
        **examples("retrograd view run.trace", "retrograd view run.trace -o run.html --no-browser"))
    view.add_argument("-o", "--output", metavar="FILE", help="write the page (or .json, .dot, .trace) to FILE")
    view.add_argument("--no-browser", action="store_true", help="do not open a browser")
    view.add_argument("file", metavar="FILE", help="a recording: retrograd trace -o run.trace script.py")
    merge = commands.add_parser(
        "merge", help="put the recordings of several ranks side by side",
        description="Say which ranks waited for which, and which call differs between them; write a page with a lane for each "
                    "rank.  Exit status 1 if ranks took different branches.",
        **examples("mpiexec -n 2 retrograd trace -o run.trace train.py", "retrograd merge run.*.trace -o run.html",
                   "torchrun --nproc-per-node 2 -m retrograd trace --torch -o run.trace train.py"))
    merge.add_argument("-o", "--output", metavar="FILE", help="write the page to FILE.html")
    merge.add_argument("files", metavar="FILE", nargs="+", help="recordings: trace under mpiexec or torchrun puts the rank "
                       "before the ending")


class OneALine(argparse.HelpFormatter):
    """The description is filled, the examples stand one a line."""

    def _fill_text(self, text: str, width: int, indent: str) -> str:
        return text if text.startswith("examples:") else super()._fill_text(text, width, indent)


def examples(*lines: str) -> dict[str, Any]:
    """Arguments of add_parser: the end of a help text."""
    return {"epilog": "examples:\n  " + "\n  ".join(lines), "formatter_class": OneALine}


def main(arguments: list[str]) -> int:
    """Run one command -> exit status."""
    if arguments[:1] == ["run"] and arguments[1:2] in (["-m"], ["-c"]):     # what follows its argument is the program's
        if len(arguments) == 2:
            parser().error("argument -m: expected the name of a module" if arguments[1] == "-m" else "argument -c: expected code")
        return run(arguments[2], arguments[3:], arguments[1])
    try:
        at = after_options(arguments, 1, lambda word: word not in ("-", "-m", "-c"))
        if arguments[:1] == ["launch"] and not {"-h", "--help"} & set(arguments[:at]):   # the rest is `retrograd run`'s
            found = parser().parse_args([*arguments[:at], "--", "program"])
            return launched(found.n, arguments[at:], found.mpiexec)
        found = parsed(arguments)
        if found.command == "run":
            return run(found.script, found.arguments)
        status = answer(found)
        sys.stdout.flush()
        return status
    except BrokenPipeError:                     # `retrograd doctor | head -1`: who reads has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def parsed(arguments: list[str]) -> argparse.Namespace:
    """What was asked.  argparse cannot know where a script's own arguments begin: after -m MODULE, and after --."""
    module, own = False, []
    if arguments[:1] == ["trace"]:
        at = after_options(arguments, 1, lambda word: word not in ("-", "-m"))
        module = arguments[at:at + 1] == ["-m"]
        script = at + (arguments[at:at + 1] in (["-m"], ["--"]))    # its place; options of trace may follow it
        if module and len(arguments) == script:
            parser().error("argument -m: expected the name of a module")
        end = after_options(arguments, script + 1, lambda word: word.partition("=")[0] in TRACES or word[:2] == "-o")
        if script < len(arguments):
            rest = arguments[end + (arguments[end:end + 1] == ["--"]):]
            arguments = [*arguments[:at], *arguments[script + 1:end], "--", arguments[script], *rest]
    elif arguments[:1] in (["explain"], ["compare"], ["lint"]):
        at = arguments.index("--") if "--" in arguments else len(arguments)
        arguments, own = arguments[:at], arguments[at + 1:]
        if "-m" in arguments:
            at = arguments.index("-m")
            module = True
            if at + 1 == len(arguments) or (arguments[0] == "lint" and "--run" not in arguments):
                parser().error("argument -m: expected the name of a module" if at + 1 == len(arguments) else
                               "argument -m: lint runs a module with --run only")
            del arguments[at]
    found = parser().parse_args(arguments)
    found.module = module
    if found.command in ("explain", "compare", "lint"):
        found.arguments = own
    return found


TRACES = ("-h", "--help", "-o", "--output", "--torch", "--values", "--paths", "--limit")


def after_options(arguments: list[str], at: int, ours: Callable[[str], bool]) -> int:
    """Where the options end that begin at a place."""
    while at < len(arguments) and arguments[at].startswith("-") and arguments[at] != "--" and ours(arguments[at]):
        at += 2 if arguments[at] in ("-o", "--output", "--limit", "-n", "--mpiexec") else 1
    return at


def answer(found: argparse.Namespace) -> int:
    """Print what the other commands print -> exit status."""
    if found.version:
        from ..version import retrograd

        print(f"retrograd {retrograd}")
        return 0
    if found.command == "doctor":
        from .doctor import report

        report()
        return 0
    if found.command in ("trace", "explain", "compare", "lint", "view", "merge"):
        from . import commands

        return as_rank(lambda: int(getattr(commands, found.command)(found)))
    parser().print_help()
    return 2


def launched(n: int, program: list[str], options: str) -> int:
    from .launch import CannotLaunch, launch

    if not program or n < 1:
        parser().error("launch: name a script" if not program else f"argument -n: must be at least 1, got {n}")
    try:
        return launch(n, program, shlex.split(options))
    except CannotLaunch as error:
        print(f"retrograd: {error}", file=sys.stderr)
        return 2


def run(script: str, arguments: list[str], kind: str = "") -> int:
    from .run import CannotRun, run_code, run_module, run_script

    start: Any = {"-m": run_module, "-c": run_code}.get(kind, run_script)
    try:
        return as_rank(lambda: start(script, arguments, restore=False))
    except CannotRun as error:
        print(f"retrograd: {error}", file=sys.stderr)
        return 2


def as_rank(start: Callable[[], int]) -> int:
    """start(), in a process of a launcher of MPI's as one of its ranks."""
    if not {"PMI_RANK", "OMPI_COMM_WORLD_RANK", "PMIX_RANK"} & os.environ.keys():
        return start()
    from .launch import Rank

    rank = Rank()
    try:
        rank.status = start()
    finally:
        rank.ends()
    return rank.status
