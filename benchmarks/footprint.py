"""What an engine costs before it does any work: time and memory of its import, and the files it installs."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from typing import Any

from benchmarks.engines import MODULES, thread_limits
from benchmarks.runner import ROOT, Plan

# Run by the engine's own interpreter. Prints seconds, MiB resident after the import, MiB installed: its own files, and
# with what it requires.
PROBE = r"""
import json, re, sys, time
start = time.perf_counter()
if sys.argv[1]:
    module = __import__(sys.argv[1])
took = time.perf_counter() - start
resident = None
try:
    for line in open("/proc/self/status"):
        if line.startswith("VmRSS"):
            resident = int(line.split()[1]) / 1024
except OSError:
    pass
found = {"seconds": took, "mib": resident}
if len(sys.argv) > 2:
    import importlib.metadata as metadata
    from pathlib import Path
    def files(name):
        try:
            dist = metadata.distribution(name)
        except metadata.PackageNotFoundError:
            return 0, []
        sizes = [p.stat().st_size for p in map(dist.locate_file, dist.files or []) if Path(p).is_file()]
        wants = [re.match(r"[\w.-]+", r)[0] for r in dist.requires or [] if "extra ==" not in r]
        return sum(sizes), wants
    def whole(name):
        seen, todo, total = set(), [name], 0
        while todo:
            one = todo.pop()
            if one.lower() in seen:
                continue
            seen.add(one.lower())
            size, wants = files(one)
            total += size
            todo += wants
        return total
    own, wants = files(sys.argv[1])
    folder = Path(module.__file__).parent
    if not any(folder in Path(p).parents for p in map(metadata.distribution(sys.argv[1]).locate_file,
               metadata.distribution(sys.argv[1]).files or [])):      # an editable install
        extra = sum(p.stat().st_size for p in folder.rglob("*") if p.is_file()) - own
    else:
        extra = 0
    found["own"] = (own + extra) / 2**20
    found["installed"] = (whole(sys.argv[1]) + extra) / 2**20
print(json.dumps(found))
"""


def probe(plan: Plan, engine: str, size: bool) -> dict[str, Any]:
    """One import in a fresh interpreter; engine "" is Python alone. {} when it fails."""
    python = plan.pythons.get(engine, sys.executable)
    # without cached bytecode an import would measure Python's compiler
    env = {k: v for k, v in (os.environ | thread_limits(plan.threads)).items() if k != "PYTHONDONTWRITEBYTECODE"}
    argv = [python, "-c", PROBE, MODULES.get(engine, ""), *["size"] * size]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, check=False)
    if done.returncode:
        return {}
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def measure(plan: Plan, rounds: int) -> dict[str, dict[str, Any]]:
    """engine -> ms of an import (median; a first one to warm the file cache is dropped), MiB resident and installed."""
    modules = {MODULES[name]: name for name in reversed(plan.engines)}
    chosen = [name for name in plan.engines if modules[MODULES[name]] == name]
    sizes = {name: probe(plan, name, True) for name in chosen}
    times: dict[str, list[float]] = {name: [] for name in chosen}
    resident: dict[str, float | None] = {}
    for _ in range(rounds):
        for name in chosen:
            answer = probe(plan, name, False)
            if answer:
                times[name].append(answer["seconds"] * 1e3)
                resident[name] = answer["mib"]
    bare = probe(plan, "", False).get("mib")
    return {
        name: {
            "import_ms": round(statistics.median(times[name]), 1), "resident_mib": resident[name], "python_mib": bare,
            "own_mib": sizes[name].get("own"), "installed_mib": sizes[name].get("installed"),
        }
        for name in chosen if times[name]
    }  # fmt: skip


def lines(found: dict[str, dict[str, Any]]) -> list[str]:
    def number(value: float | None) -> str:
        return "-" if value is None else f"{value:.0f}"

    head = f"{'':20}{'import ms':>12}{'resident MiB':>14}{'installed MiB':>15}{'its own':>11}"
    return [head] + [
        f"{name:20}{row['import_ms']:>12.0f}{number(row['resident_mib']):>14}{number(row['installed_mib']):>15}"
        f"{number(row['own_mib']):>11}"
        for name, row in found.items()
    ]
