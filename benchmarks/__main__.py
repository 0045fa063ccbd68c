"""Compare engines: `python -m benchmarks --help`."""

from __future__ import annotations

import argparse
import datetime
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from benchmarks import engines, footprint, table, works
from benchmarks.machine import last_cpu, machine
from benchmarks.runner import ROOT, Plan, Row, Runner

RESULTS = Path(__file__).with_name("results")


def words(text: str) -> list[str]:
    return [word for word in text.split(",") if word]


def parse(argv: Sequence[str] | None) -> argparse.Namespace:
    p = argparse.ArgumentParser(prog="python -m benchmarks", description="The same work on several engines.")
    p.add_argument("--only", type=words, default=[], help="groups or works, separated by commas")
    p.add_argument("--engines", type=words, help=f"of {', '.join(engines.MODULES)}; ratios are to the first")
    p.add_argument("--python", action="append", default=[], metavar="ENGINE=PATH", help="interpreter for one engine")
    p.add_argument("--rounds", type=int, default=7, help="turns of each engine at each work (7)")
    p.add_argument("--quick", action="store_true", help="two short rounds: a look, not a measurement")
    p.add_argument("--tiny", action="store_true", help="tiny sizes: whether it runs, not how fast")
    p.add_argument("--cpu", default="last", help='CPU that workers are pinned to: a number, "last" or "none" (last)')
    p.add_argument("--threads", type=int, default=1, help="threads of every engine, on as many CPUs (1)")
    p.add_argument("--memory", action="store_true", help="peak memory too, each work in a process of its own")
    p.add_argument("--footprint", action="store_true", help="time and memory of an import, and installed size, too")
    p.add_argument("--kept-memory", action="store_true", help="glibc keeps freed memory; see README.md")
    p.add_argument("--save", metavar="NAME", help="write benchmarks/results/NAME.json")
    p.add_argument("--list", action="store_true", help="print the works and stop")
    return p.parse_args(argv)


def usable(engine: str, python: str) -> bool:
    """Whether that interpreter has the engine. Asked in a process, as it may be another environment."""
    code = f"import importlib.util as u, sys; sys.exit(u.find_spec({engines.MODULES[engine]!r}) is None)"
    return subprocess.run([python, "-c", code], cwd=ROOT, check=False).returncode == 0


def plan_from(args: argparse.Namespace) -> Plan:
    """ValueError for names that do not exist."""
    pythons = dict(pair.split("=", 1) for pair in args.python)
    for name in [*(args.engines or []), *pythons]:
        if name not in engines.MODULES:
            raise ValueError(f"no engine {name!r}; there are: {', '.join(engines.MODULES)}")
    wanted = args.engines or engines.DEFAULT
    found = [name for name in wanted if usable(name, pythons.get(name, sys.executable))]
    if args.engines and (lost := [name for name in wanted if name not in found]):
        raise ValueError(f"not installed: {', '.join(lost)}")
    plan = Plan(
        found, pythons, rounds=args.rounds, tiny=args.tiny, cpus=cpus_from(args.cpu, args.threads),
        threads=args.threads, kept_memory=args.kept_memory, memory=args.memory,
    )  # fmt: skip
    return replace(plan, rounds=2, count=3, seconds=0.004) if args.quick else plan


def cpus_from(cpu: str, threads: int) -> set[int] | None:
    """One CPU for one thread; for more the last of those there are. ValueError where they are too few."""
    if cpu == "none" or not hasattr(os, "sched_getaffinity"):
        return None
    if threads == 1:
        last = last_cpu()
        return {int(cpu)} if cpu != "last" else None if last is None else {last}
    usable_ones = sorted(os.sched_getaffinity(0))
    if len(usable_ones) < threads:
        raise ValueError(f"--threads {threads}: this process may use {len(usable_ones)} CPUs")
    return set(usable_ones[-threads:])


def save(name: str, plan: Plan, versions: object, rows: list[tuple[works.Work, Row]], foot: object) -> Path:
    found = {
        "date": datetime.datetime.now(datetime.UTC).date().isoformat(),
        "machine": machine(),
        "method": {
            "threads": plan.threads, "pinned": plan.cpus is not None, "rounds": plan.rounds, "samples_per_round": plan.count,
            "seconds_per_sample": plan.seconds, "tiny": plan.tiny, "kept_memory": plan.kept_memory,
        },
        "engines": versions,
        "order": plan.engines,
        "footprint": foot,
        "works": {work.name: {"group": work.group, "unit": work.unit, "engines": row} for work, row in rows},
    }  # fmt: skip
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    path.write_text(json.dumps(found, indent=1) + "\n")
    return path


def main(argv: Sequence[str] | None = None) -> int:
    args = parse(argv)
    try:
        chosen = works.select(args.only)
        if args.list:
            print("\n".join(f"{work.group:12} {work.name}" for work in chosen))
            return 0
        plan = plan_from(args)
    except ValueError as e:
        print(e, file=sys.stderr)
        return 2
    if not plan.engines:
        print(f"none of these is installed: {', '.join(engines.DEFAULT)}", file=sys.stderr)
        return 2

    rows: list[tuple[works.Work, Row]] = []
    width = max(len(work.name) for work in chosen)
    stopped = False
    with Runner(plan) as runner:
        versions = runner.versions()
        for name, said in versions.items():
            print(f"{name}: {', '.join(f'{k} {v}' for k, v in said.items())}")
        print(f"\n{plan.threads} thread(s) each; median ±half the interquartile range; x = theirs / {plan.engines[0]}\n")
        print(table.header(plan.engines, width))
        try:
            for work, row in runner.run(chosen):
                rows.append((work, row))
                print(table.line(work, row, plan.engines, width), flush=True)
        except KeyboardInterrupt:
            stopped = True
            print("interrupted", file=sys.stderr)
    wrong = table.notes(rows)
    print("", *wrong, sep="\n")
    if args.memory:
        print("Peak memory in MiB, of which after the import\n", *table.memory(rows, plan.engines, width), "", sep="\n")
    foot = None
    if args.footprint and not stopped:
        foot = footprint.measure(plan, 3 if args.quick else 11)
        print(*footprint.lines(foot), "", sep="\n")
    if args.save and rows:
        print(f"saved {save(args.save, plan, versions, rows, foot).relative_to(ROOT)}")
    return 130 if stopped else 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
