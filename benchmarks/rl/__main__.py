"""Train agents of Stable-Baselines3 on PyTorch and on retrograd, in turns; writes benchmarks/results/rl.json.

    python -m benchmarks.rl                             five algorithms, one and two threads, three seeds
    python -m benchmarks.rl --only PPO,DQN --rounds 1 --threads 1

In an environment with stable_baselines3 and PyTorch; --retrograd FOLDER takes retrograd from another site-packages, for
example from the compiled wheel's.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path

from ..machine import machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "rl.json"
STEPS = {"PPO": 20_000, "A2C": 15_000, "DQN": 20_000, "SAC": 1_500, "TD3": 1_500}


def train(engine: str, name: str, threads: int, seed: int, site: str) -> dict[str, object]:
    command = [sys.executable, "-W", "ignore", *(["-m", "retrograd", "run"] if engine == "retrograd" else [])]
    paths = {"PYTHONPATH": site} if site and engine == "retrograd" else {}
    done = subprocess.run(
        [*command, str(HERE / "agent.py"), name, str(STEPS[name]), str(threads), str(seed)], capture_output=True, text=True,
        env={**os.environ, **paths, "OMP_NUM_THREADS": str(threads)}, cwd="/")
    if done.returncode:
        raise SystemExit(f"{name} failed on {engine}:\n{done.stderr[-2000:]}")
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    if found["engine"] != ("torch" if engine == "torch" else "retrograd"):
        raise SystemExit(f"{name} was to run on {engine}, but ran on {found['engine']}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rl", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default=",".join(STEPS), help="algorithms")
    parser.add_argument("--rounds", type=int, default=3, help="seeds")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--retrograd", default="", metavar="FOLDER")
    given = parser.parse_args()
    rows = []
    for threads in map(int, given.threads.split(",")):
        for name in given.only.split(","):
            runs = [[train(engine, name, threads, seed, given.retrograd) for engine in ("torch", "retrograd")]
                    for seed in range(given.rounds)]
            row = {
                "algorithm": name, "environment": runs[0][0]["environment"], "steps": STEPS[name], "threads": threads,
                "torch": statistics.median(a["seconds"] for a, _ in runs),  # type: ignore[type-var]
                "retrograd": statistics.median(b["seconds"] for _, b in runs),  # type: ignore[type-var]
                "ratio": statistics.median(a["seconds"] / b["seconds"] for a, b in runs),  # type: ignore[operator]
                "early": max(abs(a["early"] / b["early"] - 1) for a, b in runs),  # type: ignore[operator]
                "returns": [(a["return"], b["return"]) for a, b in runs]}
            rows.append(row)
            print(f"{name} {threads} thread(s): PyTorch {row['torch']:.1f} s, retrograd {row['retrograd']:.1f} s, "
                  f"{row['ratio']:.2f}x; parameters after the first updates differ by {row['early']:.1e}; "
                  f"returns {row['returns']}", flush=True)
    RESULTS.write_text(json.dumps({
        "machine": machine(), "stable_baselines3": runs[0][0]["sb3"], "gymnasium": runs[0][0]["gymnasium"],
        "rows": rows}, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
