"""One engine in one process: reads requests, one JSON object per line, and answers each with one.

    {"do": "ready", "work": "chain-200x8", "tiny": false, "seconds": 0.01}  ->  {"check": [...]} | {"missing": "why"}
    {"do": "time", "count": 5}                                              ->  {"times": [...], "bases": [...]}

An exception is answered by {"error": "..."}. Started by `python -m benchmarks`.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from benchmarks import engines
from benchmarks.timing import calls_in, sample
from benchmarks.works import WORKS, Missing, Task


class Worker:
    def __init__(self, engine: str) -> None:
        self.engine = engine
        self.make = engines.maker(engine)
        self.task: Task | None = None
        self.number = 1

    def ready(self, request: dict[str, Any]) -> dict[str, Any]:
        self.task = None  # the last work's memory goes before the next one's comes
        work = next(w for w in WORKS if w.name == request["work"])
        try:
            self.task = self.make(work.tiny() if request["tiny"] else work)
        except Missing as e:
            return {"missing": str(e)}
        check = [float(v) for v in self.task.check()]
        self.number = calls_in(self.task.step, request["seconds"])
        return {"check": check}

    def time(self, request: dict[str, Any]) -> dict[str, Any]:
        assert self.task is not None
        number, count = self.number, request["count"]
        if self.task.base is not None:  # a small difference of large times: many short pairs beat few long ones
            number, count = max(1, number // 5), count * 5
        times, bases = sample(self.task.step, number, count, self.task.base)
        return {"times": times, "bases": bases}

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        try:
            return self.ready(request) if request["do"] == "ready" else self.time(request)
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
