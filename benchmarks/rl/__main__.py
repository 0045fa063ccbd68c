"""Train agents on PyTorch and on retrograd, in turns; writes benchmarks/results/rl.json.

    python -m benchmarks.rl                             five of Stable-Baselines3, one and two threads, three seeds
    python -m benchmarks.rl --only PPO,DQN --rounds 1 --threads 1
    python -m benchmarks.rl --cleanrl FOLDER            the single-file agents of a checkout of github.com/vwxyzjn/cleanrl

In an environment with stable_baselines3 (or tyro, tensorboard and the gymnasium that CleanRL wants, 0.29.1) and PyTorch;
--retrograd FOLDER takes retrograd from another site-packages, for example from the compiled wheel's.  Rows that are not
measured stay as they were.
"""
from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from ..machine import machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE.parent / "results" / "rl.json"
STEPS = {"PPO": 20_000, "A2C": 15_000, "DQN": 20_000, "SAC": 1_500, "TD3": 1_500}
# Of CleanRL: file, environment, steps of optimizers after which parameters are compared, arguments
SCRIPTS: dict[str, tuple[str, str, int, str]] = {
    "PPO": ("ppo", "CartPole-v1", 16, "--total-timesteps 20000"),
    "DQN": ("dqn", "CartPole-v1", 20, "--total-timesteps 11000 --learning-starts 1000"),
    "C51": ("c51", "CartPole-v1", 20, "--total-timesteps 11000 --learning-starts 1000"),
    "SAC": ("sac_continuous_action", "Pendulum-v1", 10, "--total-timesteps 1500 --learning-starts 100"),
    "TD3": ("td3_continuous_action", "Pendulum-v1", 10, "--total-timesteps 1500 --learning-starts 100"),
}


def program(name: str, threads: int, seed: int, cleanrl: str) -> list[str]:
    """The command's arguments: a program of this folder and what it runs."""
    if not cleanrl:
        return [str(HERE / "agent.py"), name, str(STEPS[name]), str(threads), str(seed)]
    file, environment, updates, more = SCRIPTS[name]
    path = Path(cleanrl).resolve() / "cleanrl" / f"{file}.py"
    return [str(HERE / "script.py"), str(path), environment, str(updates), str(threads), str(seed), *more.split()]


def train(engine: str, given: argparse.Namespace, name: str, threads: int, seed: int) -> dict[str, Any]:
    command = [sys.executable, "-W", "ignore", *(["-m", "retrograd", "run"] if engine == "retrograd" else [])]
    paths = {"PYTHONPATH": given.retrograd} if given.retrograd and engine == "retrograd" else {}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("OPENBLAS_")}     # as NumPy chooses
    done = subprocess.run(
        [*command, *program(name, threads, seed, given.cleanrl)], capture_output=True, text=True,
        env={**kept, **paths, "OMP_NUM_THREADS": str(threads)}, cwd="/")
    if done.returncode:
        raise SystemExit(f"{name} failed on {engine}:\n{done.stderr[-2000:]}")
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    if found["engine"] != ("torch" if engine == "torch" else "retrograd"):
        raise SystemExit(f"{name} was to run on {engine}, but ran on {found['engine']}")
    return found


def measure(given: argparse.Namespace, name: str, threads: int) -> dict[str, Any]:
    """A row: of one thread the processor's time, which other programs change least; of more, the clock's."""
    pairs = [[train(engine, given, name, threads, seed) for engine in ("torch", "retrograd")]
             for seed in range(1, given.rounds + 1)]
    clock = "processor" if threads == 1 else "seconds"
    times = [[run[clock] for run in pair] for pair in pairs]
    first = pairs[0][0]
    return {
        "algorithm": name, "library": first["library"], "environment": first["environment"], "steps": first["steps"],
        "threads": threads, "cpu": machine()["cpu"],
        "torch": statistics.median(a for a, _ in times), "retrograd": statistics.median(b for _, b in times),
        "ratio": statistics.median(a / b for a, b in times),
        "early": max(abs(a["early"] / b["early"] - 1) for a, b in pairs),
        "returns": [[run["return"] for run in pair] for pair in pairs]}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.rl", description=__doc__.partition("\n")[0])
    parser.add_argument("--only", default="", help="algorithms")
    parser.add_argument("--rounds", type=int, default=3, help="seeds")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--retrograd", default="", metavar="FOLDER")
    parser.add_argument("--cleanrl", default="", metavar="FOLDER")
    given = parser.parse_args()
    names = given.only.split(",") if given.only else list(SCRIPTS if given.cleanrl else STEPS)
    rows: list[dict[str, Any]] = json.loads(RESULTS.read_text("utf-8"))["rows"]
    for threads in map(int, given.threads.split(",")):
        for name in names:
            row = measure(given, name, threads)
            print(f"{name} {threads} thread(s): PyTorch {row['torch']:.1f} s, retrograd {row['retrograd']:.1f} s, "
                  f"{row['ratio']:.2f}x; parameters after the first updates differ by {row['early']:.1e}; "
                  f"returns {row['returns']}", flush=True)
            at = next((i for i, had in enumerate(rows) if place(had) == place(row)), len(rows))
            rows[at:at + 1] = [row]
            RESULTS.write_text(json.dumps({"rows": rows}, indent=1) + "\n", "utf-8")
    return 0


def place(row: dict[str, Any]) -> tuple[Any, ...]:
    """What makes a row the same one, measured again."""
    return row["library"].partition(" ")[0].rstrip(","), row["threads"], row["algorithm"], row["cpu"]


if __name__ == "__main__":
    sys.exit(main())
