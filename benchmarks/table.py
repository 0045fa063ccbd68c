"""Results as text: one line per work, `median ±spread ratio` per engine; ratio = theirs / ours."""

from __future__ import annotations

from benchmarks.runner import Row
from benchmarks.works import Work


def number(value: float) -> str:
    if abs(value) >= 100:
        return f"{value:,.0f}"
    return f"{value:.1f}" if abs(value) >= 10 else f"{value:.2f}" if abs(value) >= 0.1 else f"{value:.3f}"


def cell(row: Row, engine: str, ours: str) -> str:
    answer = row.get(engine, {})
    if "differs" in answer:
        return "DIFFERS"
    if "error" in answer:
        return "ERROR"
    if "median" not in answer:
        return "-"
    median = answer["median"]
    spread = (answer["q3"] - answer["q1"]) / 2 / median if median > 0 else 0
    text = f"{number(median)} ±{spread:.0%}"
    base = row.get(ours, {}).get("median", 0)
    if engine != ours and base > 0 and "differs" not in row[ours]:
        text += f" {number(median / base):>5}x"
    return text


def header(engines: list[str], width: int) -> str:
    return f"{'':{width}} {'unit':8}" + "".join(f"{name:>20}" for name in engines)


def line(work: Work, row: Row, engines: list[str], width: int) -> str:
    return f"{work.name:{width}} {work.unit:8}" + "".join(f"{cell(row, name, engines[0]):>20}" for name in engines)


def notes(rows: list[tuple[Work, Row]]) -> list[str]:
    """What went wrong, one line each. A work that an engine does not have is not wrong."""
    found = []
    for work, row in rows:
        for name, answer in row.items():
            for kind in ("error", "differs"):
                if kind in answer:
                    found.append(f"{work.name} on {name}: {kind}: {answer[kind]}")
    return found


def memory(rows: list[tuple[Work, Row]], engines: list[str], width: int) -> list[str]:
    """One line per work: the peak of each engine's process, and what the work added to the import."""
    found = [f"{'':{width}}" + "".join(f"{name:>20}" for name in engines)]
    for work, row in rows:
        cells = []
        for name in engines:
            peak, start = row.get(name, {}).get("peak_mib"), row.get(name, {}).get("imported_mib")
            cells.append("-" if peak is None or start is None else f"{peak:.0f} ({peak - start:+.0f})")
        found.append(f"{work.name:{width}}" + "".join(f"{text:>20}" for text in cells))
    return found
