"""What retrograd promises of its speed, size and start, beside what is measured: `python -m benchmarks.budgets`.

ops       ns that an op takes beyond NumPy, for small float32 arrays
chain     us per op of a chain of 200 ops on 8 floats, forward + backward; and PyTorch's time over ours
hooks     us that a hook on tensors, nodes or saved tensors costs beside its own body
modules   us that a hook with an empty body costs, and a call without hooks beyond forward()
steps     PyTorch's time over ours of training steps made of modules
unused    time of that chain after a feature was used once and switched off, over the time where it never was
million   us per op of a chain of a million ops over that of a thousand
memory    bytes per recorded op besides the array that it keeps
import    ms that `import retrograd` takes beyond `import numpy`
"""

from __future__ import annotations

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from benchmarks.__main__ import RESULTS, usable, words
from benchmarks.engines import thread_limits
from benchmarks.machine import last_cpu, machine
from benchmarks.runner import ROOT, Plan, Row, Runner
from benchmarks.works import select

OVER_NUMPY = 300.0  # ns
CHAIN = 1.4  # us per op
CHAIN_OVER_TORCH = 3.3
HOOKS = {  # us
    "tensor-each-step": 1.5, "tensor-once": 0.4, "post-accumulate-once": None, "retain-grad": None,
    "node-each-step": None, "node-prehook-each-step": None, "saved-tensors": None, "custom-function": None,
}  # fmt: skip
MODULES = {  # us
    "module-call": 0.5, "module-forward": 0.7, "module-forward-pre": None, "module-full-backward": 5.0,
    "module-full-backward-pre": None,
}  # fmt: skip
STEPS = {  # times as fast as PyTorch
    "mlp-4-16-16-1-b1-modules": 2.0, "mlp-64-64-64-10-b32-modules": 2.0, "mlp-784-512-512-10-b128-modules": None,
    "transformer": None,
}  # fmt: skip
UNUSED = 1.05
MILLION = 1.5
MEMORY = 600.0  # bytes
IMPORT = 60.0  # ms
NO_GRAD_OPS = ("a * b", "a + b", "a.exp()", "a @ b", "w * b under no_grad")


@dataclass
class Figure:
    """A measured value; `budget` is the most it may be, or the least if `at_least`; None when nothing is promised."""

    name: str
    value: float
    unit: str
    budget: float | None = None
    at_least: bool = False
    detail: str = ""

    @property
    def verdict(self) -> str:
        if self.budget is None:
            return ""
        reached = self.value >= self.budget if self.at_least else self.value <= self.budget
        return "reached" if reached else "NOT reached"

    def line(self) -> str:
        digits = 0 if self.unit in ("ns", "bytes") else 1 if self.unit == "ms" else 2
        sign = ">=" if self.at_least else "<="
        budget = "" if self.budget is None else f"{sign} {self.budget:g}"
        return f"  {self.name:44} {self.value:>9.{digits}f} {self.unit:7} {budget:>8}  {self.verdict:11}  {self.detail}"


class Bench:
    def __init__(self, python: str, torch_python: str, cpu: int | None, quick: bool) -> None:
        self.python, self.torch_python, self.cpu, self.quick = python, torch_python, cpu, quick
        self.has_torch = usable("torch", torch_python)

    def start(self, command: list[str]) -> subprocess.CompletedProcess[str]:
        """Runs a command on the chosen CPU with one thread. RuntimeError with its last line when it fails."""
        # without cached bytecode an import would measure Python's compiler
        env = {k: v for k, v in (os.environ | thread_limits(1)).items() if k != "PYTHONDONTWRITEBYTECODE"}
        if self.cpu is not None:
            pin = f"import os,sys; os.sched_setaffinity(0, {{{self.cpu}}}); os.execv(sys.argv[1], sys.argv[1:])"
            command = [sys.executable, "-S", "-c", pin, *command]
        done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or f"status {done.returncode}").splitlines()[-1])
        return done

    def probe(self, name: str) -> Any:
        python = self.torch_python if name.startswith("torch:") else self.python
        return json.loads(self.start([python, "-m", "benchmarks.probes", name, *["quick"] * self.quick]).stdout)

    def ops(self) -> Iterator[Figure]:
        for row in self.probe("ops"):
            name = f"{row['op']}  {'x'.join(map(str, row['shape']))}"
            if "error" in row:
                yield Figure(name, float("nan"), "ns", detail=row["error"])
                continue
            budget = OVER_NUMPY if row["op"] in NO_GRAD_OPS else None
            detail = f"±{row['spread_ns']:.0f}; NumPy {row['numpy_ns']:.0f}, ours {row['ours_ns']:.0f}"
            yield Figure(name, row["over_ns"], "ns", budget, detail=detail)

    def chain(self) -> Iterator[Figure]:
        with Runner(self.plan("numpy")) as runner:
            row = measured(runner, "chain-200x8")
        medians = {name: found["median"] for name, found in row.items()}
        ours = row["retrograd"]
        detail = f"quartiles {ours['q1']:.2f}-{ours['q3']:.2f}, min {ours['min']:.2f}"
        yield Figure("chain of 200, forward + backward, per op", ours["median"], "us", CHAIN, detail=detail)
        yield Figure("... NumPy by hand / ours", medians["numpy"] / ours["median"], "x")
        if self.has_torch:
            detail = f"PyTorch {medians['torch']:.2f} us"
            ratio = medians["torch"] / ours["median"]
            yield Figure("... PyTorch / ours", ratio, "x", CHAIN_OVER_TORCH, at_least=True, detail=detail)

    def hooks(self) -> Iterator[Figure]:
        """The empty body is called within the time of a hook; its own time is measured apart and taken off."""
        with Runner(self.plan()) as runner:
            body = {name: found["median"] for name, found in measured(runner, "hook-body").items()}
            yield Figure("empty body, called", body["retrograd"], "us")
            for kind, budget in HOOKS.items():
                row = measured(runner, f"hook-{kind}")
                calls = kind not in ("retain-grad", "saved-tensors", "custom-function")
                costs = {name: found["median"] - body[name] * calls for name, found in row.items()}
                detail = f"quartiles with the body {row['retrograd']['q1']:.2f}-{row['retrograd']['q3']:.2f}"
                if self.has_torch:
                    detail += f"; PyTorch {costs['torch']:.2f}"
                yield Figure(f"hook, {kind}, beside its body", costs["retrograd"], "us", budget, detail=detail)

    def modules(self) -> Iterator[Figure]:
        with Runner(self.plan()) as runner:
            for kind, budget in MODULES.items():
                row = measured(runner, f"hook-{kind}")
                ours = row["retrograd"]
                detail = f"quartiles {ours['q1']:.2f}-{ours['q3']:.2f}"
                if self.has_torch:
                    detail += f"; PyTorch {row['torch']['median']:.2f}"
                yield Figure(f"{kind}, each", ours["median"], "us", budget, detail=detail)

    def steps(self) -> Iterator[Figure]:
        with Runner(self.plan()) as runner:
            for name, budget in STEPS.items():
                row = measured(runner, name)
                ours, theirs = row["retrograd"], row.get("torch")
                if theirs is None:
                    yield Figure(name, ours["median"], "us", detail="no PyTorch to compare with; see --torch-python")
                    continue
                detail = f"ours {ours['median']:.1f} us, PyTorch {theirs['median']:.1f}"
                detail += f"; minimums {theirs['min'] / ours['min']:.2f}x"
                yield Figure(f"{name}, PyTorch / ours", theirs["median"] / ours["median"], "x", budget, True, detail)

    def plan(self, *more: str) -> Plan:
        """retrograd, the engines `more`, and PyTorch where it is."""
        engines = ["retrograd", *more, *["torch"] * self.has_torch]
        pythons = {"retrograd": self.python, "numpy": self.python, "torch": self.torch_python}
        cpus = None if self.cpu is None else {self.cpu}
        return Plan(engines, pythons, rounds=3 if self.quick else 9, cpus=cpus)

    def unused(self) -> Iterator[Figure]:
        uses = ("hooks", "anomaly", "saved-tensors-hooks")
        times: dict[str, list[float]] = {use: [] for use in ("nothing", *uses)}
        for _ in range(3 if self.quick else 7):
            for use, values in times.items():
                values.append(self.probe(f"after-{use}")["us"])
        base = statistics.median(times["nothing"])
        for use in uses:
            ratio = statistics.median(times[use]) / base
            spread = (max(times["nothing"]) - min(times["nothing"])) / base
            detail = f"base {base:.2f} us, its processes differ by {spread:.0%}"
            yield Figure(f"after {use}, on and off again", ratio, "x", UNUSED, detail=detail)

    def million(self) -> Iterator[Figure]:
        found = self.probe("million")
        detail = f"{found['thousand_us']:.2f} us per op in chains of 1,000, then {found['long_us']:.2f}"
        yield Figure(f"chain of {found['ops']:,}, per op / of 1,000", found["ratio"], "x", MILLION, detail=detail)

    def memory(self) -> Iterator[Figure]:
        found = self.probe("memory")
        detail = f"tracemalloc; its array: {found['array_bytes']:.0f}"
        yield Figure("memory per recorded op besides its array", found["bytes"], "bytes", MEMORY, detail=detail)
        yield Figure("... resident, array included", found["resident_bytes"], "bytes")
        if self.has_torch:
            yield Figure("... resident, array included, PyTorch", self.probe("torch:memory")["resident_bytes"], "bytes")

    def imports(self) -> Iterator[Figure]:
        commands = {name: [self.python, "-c", f"import {name}"] for name in ("numpy", "retrograd")}
        if self.has_torch:
            commands["torch"] = [self.torch_python, "-c", "import torch"]
        times: dict[str, list[float]] = {name: [] for name in commands}
        for turn in range(4 if self.quick else 16):
            for name, command in commands.items():
                start = time.perf_counter()
                self.start(command)
                if turn:  # the first fills the caches
                    times[name].append((time.perf_counter() - start) * 1e3)
        medians = {name: statistics.median(values) for name, values in times.items()}
        over = medians["retrograd"] - medians["numpy"]
        detail = ", ".join(f"{name} {ms:.0f} ms" for name, ms in medians.items()) + ", Python's start included"
        yield Figure("import beyond NumPy's", over, "ms", IMPORT, detail=detail)


def measured(runner: Runner, name: str) -> Row:
    """The figures of a work on every engine; RuntimeError with what one of them said instead."""
    row = runner.measure(select([name])[0])
    for engine, found in row.items():
        if "median" not in found:
            raise RuntimeError(f"{name} on {engine}: {found}")
    return row


def sections(bench: Bench) -> dict[str, Callable[[], Iterator[Figure]]]:
    return {
        "ops": bench.ops, "chain": bench.chain, "hooks": bench.hooks, "modules": bench.modules, "steps": bench.steps,
        "unused": bench.unused, "million": bench.million, "memory": bench.memory, "import": bench.imports,
    }  # fmt: skip


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    p = argparse.ArgumentParser(
        prog="python -m benchmarks.budgets", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    p.add_argument("--only", type=words, default=[], help="sections, separated by commas")
    p.add_argument("--quick", action="store_true", help="few samples: a look, not a measurement")
    p.add_argument("--python", default=sys.executable, help="interpreter that has retrograd")
    p.add_argument("--torch-python", default=sys.executable, help="interpreter that has PyTorch")
    p.add_argument("--cpu", default="last", help='CPU to pin to: a number, "last" or "none" (last)')
    p.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    return p.parse_args(argv)


def main(argv: Sequence[str] | None = None) -> int:
    args = parse(argv)
    cpu = {"last": last_cpu(), "none": None}[args.cpu] if args.cpu in ("last", "none") else int(args.cpu)
    bench = Bench(args.python, args.torch_python, cpu, args.quick)
    todo = sections(bench)
    if unknown := [name for name in args.only if name not in todo]:
        print(f"--only {','.join(unknown)}: sections are {', '.join(todo)}", file=sys.stderr)
        return 2
    if not usable("retrograd", args.python):
        print("retrograd is not installed for this interpreter; see --python", file=sys.stderr)
        return 2
    versions = bench.probe("versions")
    print(", ".join(f"{name} {value}" for name, value in versions.items()))
    found: dict[str, list[dict[str, Any]]] = {}
    failed = False
    for name, section in todo.items():
        if args.only and name not in args.only:
            continue
        print(name, flush=True)
        found[name] = []
        try:
            for figure in section():
                found[name].append(asdict(figure) | {"verdict": figure.verdict})
                print(figure.line(), flush=True)
        except RuntimeError as e:
            failed = True
            print(f"  failed: {e}", flush=True)
        except KeyboardInterrupt:
            print("interrupted", file=sys.stderr)
            return 130
    if args.save:
        date = datetime.datetime.now(datetime.UTC).date().isoformat()
        RESULTS.mkdir(exist_ok=True)
        head = {"date": date, "machine": machine(), "retrograd": versions, "quick": args.quick}
        (RESULTS / f"{args.save}.json").write_text(json.dumps(head | {"sections": found}, indent=1) + "\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
