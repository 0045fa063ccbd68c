"""The command line: `retrograd run`, `retrograd doctor`."""

from __future__ import annotations

import argparse
import sys


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(
        prog="retrograd", description="PyTorch's autograd and hooks over NumPy.")
    top.add_argument("--version", action="store_true", help="print the version and stop")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    run = commands.add_parser(
        "run", help="run a script with `import torch` meaning retrograd",
        description="Run SCRIPT as python would, with `import torch` meaning retrograd.",
        epilog="example: retrograd run train.py --epochs 3")
    run.add_argument("script", metavar="SCRIPT", help="a Python file written for PyTorch or for retrograd")
    run.add_argument("arguments", metavar="ARGS", nargs=argparse.REMAINDER, help="arguments of the script")
    commands.add_parser(
        "doctor", help="say which build this is, and on what it runs",
        description="Say which build this is, and on what it runs: what a bug report needs.")
    return top


def main(arguments: list[str]) -> int:
    """Run one command -> exit status."""
    found = parser().parse_args(arguments)
    if found.version:
        from . import __version__

        print(f"retrograd {__version__}")
        return 0
    if found.command == "run":
        return run(found.script, found.arguments)
    if found.command == "doctor":
        from ._doctor import report

        report()
        return 0
    parser().print_help()
    return 2


def run(script: str, arguments: list[str]) -> int:
    from ._run import CannotRun, run_script

    try:
        return run_script(script, arguments, restore=False)
    except CannotRun as error:
        print(f"retrograd: {error}", file=sys.stderr)
        return 2
