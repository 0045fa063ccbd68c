"""The table of agents in docs/rl.md, from benchmarks/results/rl.json."""
from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .ecosystem import between

ROOT = Path(__file__).resolve().parents[1]


def files() -> dict[Path, str]:
    found = json.loads((ROOT / "benchmarks" / "results" / "rl.json").read_text("utf-8"))
    lines = [
        "| agent | environment, steps | processor, threads | PyTorch, s | retrograd, s | steps/s | faster | first updates "
        "| return, PyTorch | retrograd |",
        "|---|---|---|---|---|---|---|---|---|---|"]
    libraries: list[str] = []
    for row in found["rows"]:
        theirs, ours = (sum(pair[i] for pair in row["returns"]) / len(row["returns"]) for i in (0, 1))
        library, _, version = row["library"].partition(", gymnasium")
        if (whole := f"{library} with gymnasium{version}.") not in libraries:
            libraries.append(whole)
        short = "" if library.startswith("Stable") else f"{library} "
        lines.append(
            f"| {short}{row['algorithm']} | {row['environment']}, {row['steps']:,} | {processor(row)}, {row['threads']} | "
            f"{row['torch']:.1f} | {row['retrograd']:.1f} | {row['steps'] / row['retrograd']:,.0f} | {row['ratio']:.2f}x | "
            f"{row['early']:.0e} | {theirs:.0f} | {ours:.0f} |")
    lines += ["", *libraries]
    page = ROOT / "docs" / "rl.md"
    return {page: between(page, "<!-- table of agents: make generate -->\n", lines)}


def processor(row: dict[str, Any]) -> str:
    """'Intel(R) Xeon(R) Processor' -> 'Xeon', 'AMD EPYC 9355' -> 'EPYC'"""
    name: str = row["cpu"].replace("(R)", "").split()[1]
    return name
