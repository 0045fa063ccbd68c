"""The table of libraries in docs/programs.md, from benchmarks/results/ecosystem.json."""
from __future__ import annotations

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "programs.md"
BEGIN, END = "<!-- table of libraries: make generate -->\n", "<!-- end -->\n"


def files() -> dict[Path, str]:
    results = json.loads((ROOT / "benchmarks" / "results" / "ecosystem.json").read_text("utf-8"))
    lines = ["| library | result | processor time, PyTorch = 1 | memory, MB: PyTorch | retrograd |", "|---|---|---|---|---|"]
    for result in results.values():
        said = " ".join(result["differs"].split()).replace("|", "\\|")
        theirs, ours = result.get("memory") or ("", "")
        lines.append(f"| {result['version']} | {said or 'prints the same'} | {result['time'] or ''} | {theirs} | {ours} |")
    return {PAGE: between(PAGE, BEGIN, lines)}


def between(page: Path, begin: str, lines: list[str]) -> str:
    """The page with these lines between the line `begin` and the next END."""
    before, _, rest = page.read_text("utf-8").partition(begin)
    return before + begin + "\n".join(lines) + "\n" + END + rest.partition(END)[2]
