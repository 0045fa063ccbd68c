"""The table of agents in docs/rl.md, from benchmarks/results/rl.json."""
from __future__ import annotations

import json
from pathlib import Path

from .ecosystem import between

ROOT = Path(__file__).resolve().parents[1]


def files() -> dict[Path, str]:
    found = json.loads((ROOT / "benchmarks" / "results" / "rl.json").read_text("utf-8"))
    lines = [
        "| agent | environment, steps | threads | PyTorch, s | retrograd, s | steps/s | faster | first updates | "
        "return, PyTorch | retrograd |",
        "|---|---|---|---|---|---|---|---|---|---|"]
    said: dict[str, list[str]] = {}
    for row in found["rows"]:
        theirs, ours = (sum(pair[i] for pair in row["returns"]) / len(row["returns"]) for i in (0, 1))
        library, _, version = row["library"].partition(", gymnasium")
        short = "" if library.startswith("Stable") else f"{library} "
        lines.append(
            f"| {short}{row['algorithm']} | {row['environment']}, {row['steps']:,} | {row['threads']} | {row['torch']:.1f} | "
            f"{row['retrograd']:.1f} | {row['steps'] / row['retrograd']:,.0f} | {row['ratio']:.2f}x | {row['early']:.0e} | "
            f"{theirs:.0f} | {ours:.0f} |")
        where = f"{row['threads']} thread{'s' if row['threads'] > 1 else ''}: {row['cpu']}"
        if where not in said.setdefault(f"{library} with gymnasium{version}", []):
            said[f"{library} with gymnasium{version}"].append(where)
    lines += ["", *(f"{library} ({'; '.join(where)})." for library, where in said.items())]
    page = ROOT / "docs" / "rl.md"
    return {page: between(page, "<!-- table of agents: make generate -->\n", lines)}
