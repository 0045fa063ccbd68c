"""Round robin: for each work, every engine in turn, round after round, each in a process of its own.

Own processes because engines change what they share: thread pools, NumPy's allocator, floating-point flags.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks.engines import KEPT_MEMORY, thread_limits
from benchmarks.timing import summary
from benchmarks.works import Work

ROOT = Path(__file__).resolve().parent.parent


class Engine:
    """A worker process. `describe` is what it said of itself; None once it could not be started."""

    def __init__(self, name: str, python: str, cpus: set[int] | None, threads: int, kept_memory: bool) -> None:
        self.name = name
        self.process = subprocess.Popen(
            [python, "-m", "benchmarks.worker", name],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env=os.environ | thread_limits(threads) | (KEPT_MEMORY if kept_memory else {}),
        )
        if cpus is not None:
            os.sched_setaffinity(self.process.pid, cpus)
        self.describe = self.read()

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin is not None
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            pass  # `read` says how the process ended
        return self.read()

    def read(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            return {"error": f"the process ended with status {self.process.wait()}"}
        answer: dict[str, Any] = json.loads(line)
        return answer

    def close(self) -> None:
        """End of input ends a worker; one that is stuck in a step is killed."""
        try:
            self.process.communicate(timeout=5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.communicate()


@dataclass
class Plan:
    engines: list[str]
    pythons: dict[str, str] = field(default_factory=dict)
    rounds: int = 7
    count: int = 5
    seconds: float = 0.01
    tiny: bool = False
    cpus: set[int] | None = None
    threads: int = 1
    kept_memory: bool = False
    memory: bool = False


Row = dict[str, dict[str, Any]]  # engine -> summary, or {"missing": why}, or {"error": what}


class Runner:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.workers: dict[str, Engine] = {}

    def __enter__(self) -> Runner:
        for name in self.plan.engines:
            self.start(name)
        return self

    def __exit__(self, *_: object) -> None:
        for worker in self.workers.values():
            worker.close()

    def start(self, name: str) -> None:
        self.workers[name] = self.process(name)

    def process(self, name: str) -> Engine:
        plan = self.plan
        return Engine(name, plan.pythons.get(name, sys.executable), plan.cpus, plan.threads, plan.kept_memory)

    def versions(self) -> dict[str, Any]:
        return {name: worker.describe for name, worker in self.workers.items()}

    def run(self, works: list[Work]) -> Iterator[tuple[Work, Row]]:
        for work in works:
            yield work, self.measure(work)

    def measure(self, work: Work) -> Row:
        plan = self.plan
        row: Row = {}
        for name, worker in self.workers.items():
            if worker.process.poll() is not None and "version" in worker.describe:
                worker.close()
                self.start(name)  # a crash in the last work must not cost this one
            if "error" in self.workers[name].describe:
                row[name] = {"missing": self.workers[name].describe["error"]}
            else:
                row[name] = self.workers[name].ask(do="ready", work=work.name, tiny=plan.tiny, seconds=plan.seconds)
        running = [name for name, answer in row.items() if "check" in answer]
        samples: dict[str, list[float]] = {name: [] for name in running}
        bases: dict[str, list[float]] = {name: [] for name in running}
        for turn in range(min(plan.rounds // 2, 3) if work.slow else plan.rounds):
            first = turn % max(1, len(running))
            for name in running[first:] + running[:first]:
                if "error" in row[name]:
                    continue
                answer = self.workers[name].ask(do="time", count=1 if work.slow else plan.count)
                if "error" in answer:
                    row[name] |= answer
                    continue
                samples[name] += answer["times"]
                bases[name] += answer["bases"]
        for name in running:
            if "error" not in row[name]:
                row[name] |= figures(work.tiny() if plan.tiny else work, samples[name], bases[name])
        mark_differences(work, row)
        if plan.memory:
            for name in running:
                if "error" not in row[name]:
                    row[name] |= self.memory(work, name)
        return row

    def memory(self, work: Work, name: str) -> dict[str, Any]:
        """MiB that a process of its own holds at most during a few steps, and holds after the engine's import."""
        worker = self.process(name)
        try:
            if "check" not in worker.ask(do="ready", work=work.name, tiny=self.plan.tiny, seconds=0):
                return {}
            return worker.ask(do="memory", count=1 if work.slow else 5)
        finally:
            worker.close()


def figures(work: Work, times: list[float], bases: list[float]) -> dict[str, Any]:
    """In the work's unit. With a base: of the differences, and the ratio of the medians beside them."""
    scale = 1e6 / work.per
    if not bases:
        return summary([t * scale for t in times])
    found: dict[str, Any] = summary([(t - b) * scale for t, b in zip(times, bases, strict=True)])
    step, base = summary(times)["median"], summary(bases)["median"]
    return found | {"with_over_without": float(f"{step / base:.4g}")}


def mark_differences(work: Work, row: Row) -> None:
    """Adds "differs" to the engines whose numbers are not those of the reference: PyTorch, else NumPy, else the first.

    The loser may be the reference: the numbers of all are in the JSON.
    """
    checked = [name for name, answer in row.items() if "check" in answer]
    if not checked:
        return
    reference = next((name for name in ("torch", "numpy") if name in checked), checked[0])
    want = row[reference]["check"]
    for name in checked:
        got = row[name]["check"]
        close = [math.isclose(g, w, rel_tol=work.rtol, abs_tol=1e-7) for g, w in zip(got, want, strict=False)]
        if len(got) != len(want) or not all(close):
            row[name]["differs"] = f"{got} but {reference} {want}"
