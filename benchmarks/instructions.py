"""Instructions that fixed small works execute, by valgrind's callgrind: `python -m benchmarks.instructions [--update]`.

Each work runs 50 and 100 times in a process of its own; the difference, over 50, is what one turn costs, without start
and import.  The counts are compared with benchmarks/instructions.json: more than 5 % above fails.  `--update` writes it.

Counts do not depend on how busy or how fast the machine is.  They do depend on Python, NumPy, the C compiler and, through
NumPy's and BLAS's choice of loops, on the processor: valgrind shows programs the processor it emulates, so that newer ones
look alike (AVX2).  The file says what it was taken with; where that differs, the command says so, prints and does not fail.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from benchmarks.engines import build, maker, thread_limits
from benchmarks.runner import ROOT
from benchmarks.works import select

BASELINE = Path(__file__).with_name("instructions.json")
ALLOWED = 1.05
WORKS = (
    "chain-10x8", "chain-200x8", "chain-200x0dim", "mlp-4-16-16-1-b1", "mlp-64-64-64-10-b32-modules", "hook-tensor-once",
    "hook-module-full-backward", "module-call", "step-SGD-8970", "step-Adam-8970", "double-chain-40x8",
)  # fmt: skip
TURNS = 50


def run_work(name: str, turns: int) -> None:
    """In the process under callgrind: the work's step, so many times, in a warm engine with the collector off."""
    import gc

    task = maker("retrograd")(select([name])[0])
    task.check()
    for _ in range(5):
        task.step()
    gc.collect()
    gc.disable()
    for _ in range(turns):
        task.step()


def count(name: str, turns: int) -> int:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", sys.executable, "-m",
            "benchmarks.instructions", "--run", name, str(turns),
        ]  # fmt: skip
        env = os.environ | thread_limits(1) | {"PYTHONHASHSEED": "0"}
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode or found is None:
        raise RuntimeError(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    return int(found[1])


def per_turn(name: str) -> int:
    return round((count(name, 2 * TURNS) - count(name, TURNS)) / TURNS)


def conditions() -> dict[str, str]:
    maker("retrograd")
    return {
        "build": build(), "python": platform.python_version(), "numpy": version("numpy"),
        "architecture": platform.machine(), "compiler": str(sysconfig.get_config_var("CC") or "unknown"),
    }  # fmt: skip


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=(__doc__ or "").split("\n")[0])
    p.add_argument("--update", action="store_true", help="write the baseline")
    p.add_argument("--only", nargs="*", default=list(WORKS), help="some of the works")
    p.add_argument("--run", nargs=2, metavar=("WORK", "TURNS"), help=argparse.SUPPRESS)
    args = p.parse_args(argv)
    if args.run:
        run_work(args.run[0], int(args.run[1]))
        return 0
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: nothing counted", file=sys.stderr)
        return 0
    here = conditions()
    kept = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {"conditions": {}, "works": {}}
    comparable = kept["conditions"] == here
    if not comparable and not args.update:
        print(f"the baseline is of {kept['conditions']}, this is {here}: shown, not judged")
    works: dict[str, int] = dict(kept["works"]) if comparable else {}
    worse = []
    for name in args.only:
        found, before = per_turn(name), kept["works"].get(name)
        ratio = found / before if before else 1.0
        if comparable and ratio > ALLOWED:
            worse.append(name)
        print(f"{name:32} {found:>12,} {'' if before is None else f'{ratio - 1:+.1%}':>8}", flush=True)
        works[name] = found
    if args.update:
        BASELINE.write_text(json.dumps({"conditions": here, "works": works}, indent=1) + "\n", encoding="utf-8")
        return 0
    if worse:
        print(f"more than {ALLOWED - 1:.0%} above the baseline: {', '.join(worse)}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
