"""The command line: `retrograd run`, `retrograd doctor`."""

from __future__ import annotations

import argparse
import os
import sys


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="retrograd", description="PyTorch's autograd and hooks over NumPy.")
    top.add_argument("--version", action="store_true", help="print the version and stop")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser(
        "run", help="run a script with `import torch` meaning retrograd",
        description="Run SCRIPT as python would, with `import torch` meaning retrograd.",
        usage="retrograd run [-h] (SCRIPT | - | -m MODULE) [ARGS ...]",
        epilog="examples: retrograd run train.py --epochs 3   retrograd run -m package.train   retrograd run - < train.py")
    run.add_argument(
        "script", metavar="SCRIPT",
        help="a Python file written for PyTorch or for retrograd; - for standard input; -m MODULE as in python -m")
    run.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script")
    commands.add_parser(
        "doctor", help="say which build this is, and on what it runs",
        description="Say which build this is, and on what it runs: what a bug report needs.")
    return top


def main(arguments: list[str]) -> int:
    """Run one command -> exit status."""
    if arguments[:2] == ["run", "-m"]:          # what follows the module's name is the module's
        if len(arguments) == 2:
            parser().error("argument -m: expected the name of a module")
        return run(arguments[2], arguments[3:], module=True)
    try:
        found = parser().parse_args(arguments)
        if found.command == "run":
            return run(found.script, found.arguments)
        status = answer(found)
        sys.stdout.flush()
        return status
    except BrokenPipeError:                     # `retrograd doctor | head -1`: who reads has read enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0


def answer(found: argparse.Namespace) -> int:
    """Print what the other commands print -> exit status."""
    if found.version:
        from .version import retrograd

        print(f"retrograd {retrograd}")
        return 0
    if found.command == "doctor":
        from ._doctor import report

        report()
        return 0
    parser().print_help()
    return 2


def run(script: str, arguments: list[str], module: bool = False) -> int:
    from ._run import CannotRun, run_module, run_script

    try:
        start = run_module if module else run_script
        return start(script, arguments, restore=False)
    except CannotRun as error:
        print(f"retrograd: {error}", file=sys.stderr)
        return 2
