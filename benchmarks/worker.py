"""One engine in one process: reads requests, one JSON object per line, and answers each with one.

    {"do": "ready", "work": "chain-200x8", "tiny": false, "seconds": 0.01}  ->  {"check": [...]} | {"missing": "why"}
    {"do": "time", "count": 5}                                              ->  {"times": [...], "bases": [...]}
    {"do": "memory", "count": 5}                                            ->  {"imported_mib": 40.1, "peak_mib": 52.3}

An exception is answered by {"error": "..."}. Started by `python -m benchmarks`.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

from benchmarks import engines
from benchmarks.timing import calls_in, sample
from benchmarks.works import WORKS, Missing, Task


def status_mib(field: str) -> float | None:
    """VmRSS or VmHWM of this process; None where the system does not say."""
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return None
    return next((round(int(line.split()[1]) / 1024, 1) for line in lines if line.startswith(field)), None)


class Worker:
    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.make = engines.maker(engine)
        self.task: Task | None = None
        self.number = 1
        self.imported = status_mib("VmRSS")

    def ready(self, request: dict[str, Any]) -> dict[str, Any]:
        self.task = None  # the last work's memory goes before the next one's comes
        work = next(w for w in WORKS if w.name == request["work"])
        try:
            self.task = self.make(work.tiny() if request["tiny"] else work)
        except Missing as e:
            return {"missing": str(e)}
        check = [float(v) for v in self.task.check()]
        self.number = 1 if work.slow else calls_in(self.task.step, request["seconds"])
        return {"check": check}

    def time(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.task is not None
        number, count = self.number, request["count"]
        if self.task.base is not None:  # a small difference of large times: many short pairs beat few long ones
            number, count = max(1, number // 5), count * 5
        times, bases = sample(self.task.step, number, count, self.task.base)
        return {"times": times, "bases": bases}

    def memory(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.task is not None
        for _ in range(request["count"]):
            self.task.step()
        peak = status_mib("VmHWM")
        return {} if peak is None else {"imported_mib": self.imported, "peak_mib": peak}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            do = {"ready": self.ready, "time": self.time, "memory": self.memory}
            return do[request["do"]](request)
        except Exception as e:
            self.task = None
            return {"error": f"{type(e).__name__}: {e}".split("\n")[0][:300]}


def main() -> None:
    # An engine that prints must not break the protocol: file 1 becomes stderr, the answers keep the pipe
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        worker = Worker(sys.argv[1])
    except Exception as e:
        print(json.dumps({"error": f"{type(e).__name__}: {e}"}), file=answers, flush=True)
        return
    print(json.dumps(engines.describe(sys.argv[1])), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(worker.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    main()
