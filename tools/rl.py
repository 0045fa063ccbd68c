"""The table of agents in docs/rl.md, from benchmarks/results/rl.json."""
from __future__ import annotations

import json
from pathlib import Path

from .ecosystem import between

ROOT = Path(__file__).resolve().parents[1]


def files() -> dict[Path, str]:
    found = json.loads((ROOT / "benchmarks" / "results" / "rl.json").read_text("utf-8"))
    lines = [
        "| agent | environment, steps | threads | PyTorch, s | retrograd, s | faster | first updates | return, PyTorch | "
        "retrograd |",
        "|---|---|---|---|---|---|---|---|---|"]
    for row in found["rows"]:
        theirs, ours = (sum(pair[i] for pair in row["returns"]) / len(row["returns"]) for i in (0, 1))
        lines.append(
            f"| {row['algorithm']} | {row['environment']}, {row['steps']:,} | {row['threads']} | {row['torch']:.1f} | "
            f"{row['retrograd']:.1f} | {row['ratio']:.2f}x | {row['early']:.0e} | {theirs:.0f} | {ours:.0f} |")
    lines += ["", f"Stable-Baselines3 {found['stable_baselines3']}, gymnasium {found['gymnasium']}, "
              f"{found['machine']['cpu']}."]
    page = ROOT / "docs" / "rl.md"
    return {page: between(page, "<!-- table of agents: make generate -->\n", lines)}
