"""Instructions that fixed small works execute, by valgrind's callgrind: `python -m benchmarks.instructions [--update]`.

Two processes run the works, warm, 20 times between two calls of a kernel at which callgrind writes down its counts.  They
are compared with benchmarks/instructions.json: more than 5 % above fails.  `--update` writes that file.

Counts do not depend on how busy or how fast the machine is.  They do depend on Python, NumPy, the C library and compiler,
and on the loops that NumPy, BLAS and our kernels choose for the processor.  That is the one valgrind emulates: every
machine with AVX2 looks like the same Haswell to the program, one without like an older one.  BLAS is told its loops.  The
file says what it was taken with, what the emulated processor can do included; where that differs, the command says so,
prints and does not fail.
"""

from __future__ import annotations

import argparse
import gc
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
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from pathlib import Path

from benchmarks.engines import build, maker, thread_limits
from benchmarks.runner import ROOT
from benchmarks.works import select

BASELINE = Path(__file__).with_name("instructions.json")
ALLOWED = 1.05
WORKS = (
    "chain-10x8", "chain-200x8", "chain-200x8-no-grad", "chain-200x0dim", "mlp-4-16-16-1-b1", "mlp-4-16-16-1-b1-modules",
    "mlp-64-64-64-10-b32", "mlp-64-64-64-10-b32-modules", "hook-tensor-once", "hook-custom-function",
    "hook-module-full-backward", "module-call", "step-SGD-8970", "step-Adam-8970", "double-chain-40x8",
)  # fmt: skip
TURNS = 20


def run_works(names: Sequence[str]) -> None:
    """In the process under callgrind.  `blocks_stats` is the mark, before and after each work."""
    from retrograd._kernels import nn

    make = maker("retrograd")
    Path(os.environ["RETROGRAD_PROCESSOR"]).write_text(processor(), encoding="utf-8")
    for name in names:
        task = make(select([name])[0])
        task.check()
        for _ in range(5):
            task.step()
        gc.collect()
        gc.disable()
        nn.blocks_stats()
        for _ in range(TURNS):
            task.step()
        nn.blocks_stats()
        gc.enable()


def processor() -> str:
    """What NumPy finds the processor able to do, of what changes the choice of loops."""
    from numpy._core._multiarray_umath import __cpu_features__ as features  # type: ignore[attr-defined]

    return " ".join(name for name in ("SSE42", "AVX", "F16C", "FMA3", "AVX2", "AVX512F") if features.get(name))


def count(names: Sequence[str]) -> tuple[dict[str, int], str]:
    """Instructions per step of each work, and the processor that they were counted on."""
    with ThreadPoolExecutor() as pool:
        (one, seen), *others = pool.map(count_in_turn, [part for part in (names[::2], names[1::2]) if part])
    found = one | {name: n for other, _ in others for name, n in other.items()}
    return {name: found[name] for name in names}, seen


def count_in_turn(names: Sequence[str]) -> tuple[dict[str, int], str]:
    with tempfile.TemporaryDirectory() as folder:
        command = [
            "valgrind", "--tool=callgrind", f"--callgrind-out-file={folder}/out", "--dump-before=kernel_blocks_stats",
            sys.executable, "-m", "benchmarks.instructions", "--run", "--only", *names,
        ]  # fmt: skip
        found = Path(folder, "processor")
        env = os.environ | thread_limits(1) | {
            "PYTHONHASHSEED": "0", "OPENBLAS_CORETYPE": "Haswell", "RETROGRAD_PROCESSOR": str(found)}  # fmt: skip
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        dumps = sorted(Path(folder).glob("out.*"), key=lambda path: int(path.suffix[1:]))
        if done.returncode or len(dumps) < 2 * len(names):
            raise RuntimeError(f"{len(dumps)} dumps; {done.stderr.strip().splitlines()[-1]}")
        texts = [path.read_text(encoding="utf-8") for path in dumps[1 : 2 * len(names) : 2]]
        seen = found.read_text(encoding="utf-8")
    totals = [int(line[1]) for text in texts if (line := re.search(r"^totals: (\d+)", text, re.MULTILINE))]
    return {name: round(total / TURNS) for name, total in zip(names, totals, strict=True)}, seen


def conditions() -> dict[str, str]:
    maker("retrograd")
    return {
        "build": build(), "python": platform.python_version(), "numpy": version("numpy"),
        "architecture": platform.machine(), "compiler": compiler(), "c library": " ".join(platform.libc_ver()),
        "valgrind": said("valgrind", "--version"),
    }  # fmt: skip


def compiler() -> str:
    """The C compiler that builds extensions here, and its version."""
    name = (str(sysconfig.get_config_var("CC") or "cc")).split()[0]
    return f"{name} {said(name, '-dumpfullversion')}"


def said(*command: str) -> str:
    """What a command prints; "unknown" where there is none."""
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=(__doc__ or "").split("\n")[0])
    p.add_argument("--update", action="store_true", help="write the baseline")
    p.add_argument("--only", nargs="*", default=list(WORKS), help="some of the works")
    p.add_argument("--run", action="store_true", help=argparse.SUPPRESS)
    args = p.parse_args(argv)
    if args.run:
        run_works(args.only)
        return 0
    if shutil.which("valgrind") is None:
        print("valgrind is not installed: nothing counted", file=sys.stderr)
        return 0
    if said("valgrind", "--tool=none", sys.executable, "-S", "-c", "print('runs')") != "runs":
        print("valgrind does not run programs here: nothing counted", file=sys.stderr)
        return 0
    from retrograd import _kernels

    here = conditions()
    if _kernels.nn is None:
        print("this build has no kernels to mark the works with: nothing counted", file=sys.stderr)
        return 0
    found, here["processor"] = count(args.only)
    kept = json.loads(BASELINE.read_text(encoding="utf-8")) if BASELINE.exists() else {"conditions": {}, "works": {}}
    comparable = kept["conditions"] == here
    if not comparable and not args.update:
        print(f"the baseline is of {kept['conditions']}, this is {here}: shown, not judged")
    works: dict[str, int] = dict(kept["works"]) if comparable else {}
    worse = []
    for name, now in found.items():
        before = kept["works"].get(name)
        ratio = now / before if before else 1.0
        if comparable and ratio > ALLOWED:
            worse.append(name)
        print(f"{name:32} {now:>12,} {'' if before is None else f'{ratio - 1:+.1%}':>8}", flush=True)
        works[name] = now
    if args.update:
        BASELINE.write_text(json.dumps({"conditions": here, "works": works}, indent=1) + "\n", encoding="utf-8")
        return 0
    if worse:
        print(f"more than {ALLOWED - 1:.0%} above the baseline: {', '.join(worse)}", file=sys.stderr)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
