"""docs/performance.md and its plots from saved results: `python -m benchmarks.report ONE.json [TWO.json]`.

ONE was taken with one thread, TWO with two.  Plots need matplotlib (the extra `bench`).
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.runner import ROOT
from benchmarks.table import number

GROUPS = {
    "chain": "A chain of small operations, per operation", "mlp": "Perceptrons, one training step",
    "nets": "Networks, one training step", "transformer": "A transformer block, forward and backward",
    "steps": "Optimizers, one step", "hooks": "Hooks, each", "modules": "Module calls, each",
    "double": "Backward through backward", "per sample": "torch.func over samples", "science": "Gradients in a computation",
}  # fmt: skip
COLOURS = {"retrograd": "#b2182b", "torch": "#2166ac", "numpy": "#666666", "jax": "#1b7837", "autograd": "#e08214",
           "tinygrad": "#01665e", "mygrad": "#8073ac"}  # fmt: skip

Results = dict[str, Any]


def median(results: Results, work: str, engine: str) -> float | None:
    row = results["works"][work]["engines"].get(engine, {})
    found = row.get("median")
    return found if found is not None and found > 0 and "differs" not in row and "error" not in row else None


def ratio(results: Results, work: str, other: str = "torch") -> float | None:
    """The other engine's time over ours."""
    ours, theirs = median(results, work, results["order"][0]), median(results, work, other)
    return None if ours is None or theirs is None else theirs / ours


def times(results: Results) -> list[str]:
    """A table for each group of works."""
    engines = results["order"]
    lines = []
    for group, title in GROUPS.items():
        names = [name for name, work in results["works"].items() if work["group"] == group]
        if not names:
            continue
        ratios = len(engines) > 1 and "torch" in engines
        lines += ["", f"### {title}", "", "| work | unit | " + " | ".join(engines) + (" | PyTorch / ours |" if ratios else " |")]
        lines.append("|---|---|" + "---:|" * (len(engines) + ratios))
        for name in names:
            work = results["works"][name]
            cells = [cell(work["engines"].get(engine, {})) for engine in engines]
            if ratios:
                r = ratio(results, name)
                cells.append("-" if r is None else f"**{r:.2f}**")
            lines.append(f"| {name} | {work['unit'].replace('us', 'µs')} | " + " | ".join(cells) + " |")
    return lines


def cell(row: dict[str, Any]) -> str:
    for word in ("differs", "error"):
        if word in row:
            return word
    if "median" not in row:
        return "-"
    spread = (row["q3"] - row["q1"]) / 2 / row["median"] if row["median"] > 0 else 0
    return f"{number(row['median'])} ±{spread:.0%}"


def memory(results: Results) -> list[str]:
    engines = [e for e in results["order"] if any("peak_mib" in w["engines"].get(e, {}) for w in results["works"].values())]
    if not engines:
        return []
    lines = [
        "", "## Peak memory", "",
        "Peak MiB of a process that runs the work a few times; in brackets, the part above the import.", "",
        "| work | " + " | ".join(engines) + " |", "|---|" + "---:|" * len(engines),
    ]  # fmt: skip
    for name, work in results["works"].items():
        rows = [work["engines"].get(e, {}) for e in engines]
        if any("peak_mib" in r for r in rows):
            cells = [peak(r) for r in rows]
            lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def peak(row: dict[str, Any]) -> str:
    return f"{row['peak_mib']:.0f} ({row['peak_mib'] - row['imported_mib']:+.0f})" if "peak_mib" in row else "-"


def footprint(results: Results) -> list[str]:
    found = results.get("footprint")
    if not found:
        return []
    lines = [
        "", "## Import and size", "",
        "Milliseconds of an import in a fresh interpreter, MiB resident after it, MiB installed with all requirements.", "",
        "| engine | import, ms | resident, MiB | installed, MiB | its own part |", "|---|---:|---:|---:|---:|",
    ]  # fmt: skip
    for name, row in found.items():
        keys = ("import_ms", "resident_mib", "installed_mib", "own_mib")
        cells = ["-" if row[key] is None else f"{row[key]:.0f}" for key in keys]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def conditions(results: Results) -> list[str]:
    machine, method = results["machine"], results["method"]
    versions = "; ".join(
        f"{name} {said.get('version', '?')}" + (f" ({said['build']})" if "build" in said else "")
        for name, said in results["engines"].items() if "error" not in said
    )  # fmt: skip
    pinned = "pinned" if method["pinned"] else "not pinned"
    return [
        f"Taken on {results['date']}: {machine['cpu']}, {machine['cores']} cores, {machine['system']}; "
        f"{method['threads']} thread{'s' * (method['threads'] > 1)}, {pinned}; {method['rounds']} rounds of "
        f"{method['samples_per_round']} samples. {versions}.",
    ]


def document(one: Results, two: Results | None, plots: Sequence[str]) -> str:
    lines = [
        "# Performance", "",
        "The same work on several engines, checked to give the same numbers. The engines take turns in one run, each in its own",
        "process. `4.37 ±2%`: median and half the interquartile range. A ratio above 1 means that retrograd is faster.",
        "Method and instructions: [benchmarks/README.md](../benchmarks/README.md). This page is written by",
        "`python -m benchmarks.report`.", "", *conditions(one),
    ]  # fmt: skip
    for name in plots:
        lines += ["", f"![{name.replace('-', ' ').removesuffix('.svg')}](performance/{name})"]
    lines += ["", "## One thread", *times(one)]
    if two is not None:
        lines += ["", "## Two threads", "", *conditions(two), *times(two)]
    lines += memory(one) + footprint(one)
    return "\n".join(lines) + "\n"


def draw(one: Results, folder: Path) -> list[str]:
    """Plots as SVG; -> their names."""
    import matplotlib

    matplotlib.use("svg")
    style = {"svg.hashsalt": "retrograd", "font.size": 9, "axes.spines.top": False, "axes.spines.right": False}
    matplotlib.rcParams.update(style)
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    drawn = []

    def save(figure: Any, name: str) -> None:
        figure.tight_layout()
        figure.savefig(folder / name, metadata={"Date": None})
        plt.close(figure)
        drawn.append(name)

    bars = [(name, r) for name in one["works"] if (r := ratio(one, name)) is not None]
    if bars:
        figure, axes = plt.subplots(figsize=(7, 0.19 * len(bars) + 0.8))
        bars.reverse()
        colours = [COLOURS["retrograd"] if r >= 1 else "#888888" for _, r in bars]
        axes.barh([n for n, _ in bars], [r for _, r in bars], color=colours)
        axes.axvline(1, color="black", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_ylim(-0.6, len(bars) - 0.4)
        ticks = [t for t in (0.25, 0.5, 1, 2, 4, 8, 16, 32) if t <= 2 * max(r for _, r in bars)]
        axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
        axes.minorticks_off()
        axes.set_xlabel("PyTorch's time / ours, one thread")
        save(figure, "over-pytorch.svg")
    points: dict[str, list[tuple[int, float]]] = {}
    for name, work in one["works"].items():
        size = name.removeprefix("chain-").split("x")[-1]
        if work["group"] == "chain" and name.count("-") == 1 and size.isdigit():
            for engine in one["order"]:
                value = median(one, name, engine)
                if value is not None and name.startswith(("chain-200x", "chain-20x", "chain-10x1")):
                    points.setdefault(engine, []).append((int(size), value))
    if points:
        figure, axes = plt.subplots(figsize=(6, 3.4))
        for engine, line in points.items():
            line.sort()
            axes.loglog([x for x, _ in line], [y for _, y in line], "o-", label=engine, color=COLOURS.get(engine))
        axes.set_xlabel("elements")
        axes.set_ylabel("µs per operation, forward + backward")
        axes.legend(frameon=False)
        save(figure, "chain.svg")
    rows = [(n, w["engines"]) for n, w in one["works"].items() if "peak_mib" in w["engines"].get("torch", {})]
    if rows:
        ours = one["order"][0]
        figure, axes = plt.subplots(figsize=(4.4, 4))
        for _, engines in rows:
            if "peak_mib" in engines.get(ours, {}):
                axes.plot(engines["torch"]["peak_mib"], engines[ours]["peak_mib"], "o", color=COLOURS["retrograd"], markersize=4)
        top = max(max(e["torch"]["peak_mib"], e.get(ours, {}).get("peak_mib", 0)) for _, e in rows)
        axes.plot([10, top], [10, top], color="black", linewidth=0.8)
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.set_xlabel("PyTorch, peak MiB")
        axes.set_ylabel("retrograd, peak MiB")
        save(figure, "memory.svg")
    return drawn


def summary(results: Results) -> float:
    """The geometric mean of PyTorch's time over ours."""
    found = [r for name in results["works"] if (r := ratio(results, name)) is not None]
    return math.exp(sum(map(math.log, found)) / len(found)) if found else math.nan


def main(argv: Sequence[str] | None = None) -> int:
    p = argparse.ArgumentParser(prog="python -m benchmarks.report", description=(__doc__ or "").split("\n")[0])
    p.add_argument("one", type=Path, help="results with one thread")
    p.add_argument("two", type=Path, nargs="?", help="results with two")
    p.add_argument("--to", type=Path, default=ROOT / "docs", help="folder of performance.md (docs)")
    args = p.parse_args(argv)
    one = json.loads(args.one.read_text(encoding="utf-8"))
    two = None if args.two is None else json.loads(args.two.read_text(encoding="utf-8"))
    plots = draw(one, args.to / "performance")
    path = args.to / "performance.md"
    path.write_text(document(one, two, plots), encoding="utf-8")
    print(f"wrote {path}; geometric mean over PyTorch {summary(one):.2f}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
