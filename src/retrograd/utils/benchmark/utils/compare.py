"""Compare: measurements as tables, one for each label.

results   Measurements
rowwise   True: the best of each row; False: of each column
"""
from __future__ import annotations

import math
from collections.abc import Iterable
from enum import Enum
from operator import itemgetter
from typing import Any

from ...._missing import late_names
from .common import Measurement, logarithm, ordered_unique, select_unit, trim_sigfig, unit_to_english

__all__ = ["Colorize", "Compare"]
late_names(__name__)

BEST, GOOD, BAD, VERY_BAD, BOLD, END = "\033[92m", "\033[34m", "\033[2m\033[91m", "\033[31m", "\033[1m", "\033[0m"


class Colorize(Enum):
    """What the best of is shown: of each column, or of each row."""

    NONE = "none"
    COLUMNWISE = "columnwise"
    ROWWISE = "rowwise"


def colored(text: str, value: float, best: float) -> str:
    if value <= best * 1.01 or value <= best + 100e-9:
        return BEST + BOLD + text + END * 2
    if value <= best * 1.1:
        return GOOD + BOLD + text + END * 2
    if value >= best * 5:
        return VERY_BAD + BOLD + text + END * 2
    if value >= best * 2:
        return BAD + text + END * 2
    return text


class Compare:
    """Tables of measurements: a row for each sub_label or statement, a column for each description."""

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results: list[Measurement] = []
        self.extend_results(results)
        self._trim = self._highlight = False
        self._colorize = Colorize.NONE

    def __str__(self) -> str:
        groups: dict[Any, list[Measurement]] = {}
        for m in Measurement.merge(self._results):
            groups.setdefault(m.label, []).append(m)
        return "\n".join(_Table(group, self._colorize, self._trim, self._highlight).render() for group in groups.values())

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """More measurements."""
        results = list(results)
        for r in results:
            if not isinstance(r, Measurement):
                raise ValueError(f"Expected an instance of `Measurement`, got {type(r)} instead.")
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Show the digits that the measurements support."""
        self._trim = True

    def colorize(self, rowwise: bool = False) -> None:
        """Color the best of each column, or of each row, and what is far from it."""
        self._colorize = Colorize.ROWWISE if rowwise else Colorize.COLUMNWISE

    def highlight_warnings(self) -> None:
        """Mark measurements that vary a lot."""
        self._highlight = True

    def print(self) -> None:
        """Print the tables."""
        print(str(self))


class _Table:
    """Of measurements with one label.  cells[row][column] is a Measurement or None."""

    def __init__(self, results: list[Measurement], colors: Colorize, trim: bool, highlight: bool) -> None:
        self.results, self.colors, self.trim = results, colors, trim
        self.unit, self.scale = select_unit(min(m.median for m in results))
        self.rows = sorted(ordered_unique(map(row_of, results)), key=itemgetter(0, 1))
        self.columns = ordered_unique(m.description for m in results)
        found = {(row_of(m), m.description): m for m in results}
        self.cells = [[found.get((row, column)) for column in self.columns] for row in self.rows]
        self.formats = [self.format_of([m for m in column if m is not None], highlight) for column in zip(*self.cells)]
        self.warned = highlight and any(m.has_warnings for m in results)

    def format_of(self, column: list[Measurement], highlight: bool) -> tuple[int, int, int]:
        """Width, digits behind the point, width of a warning."""
        before = [math.ceil(logarithm(m.median / self.scale)) for m in column]
        behind = min(max(m.significant_figures - n, 0) for m, n in zip(column, before)) if self.trim else 1
        return max(before) + behind + bool(behind), behind, 7 if highlight and any(m.has_warnings for m in column) else 0

    def text(self, m: Measurement | None, form: tuple[int, int, int]) -> str:
        width, behind, mark = form
        if m is None:
            return " " * len(f"{1.0:{width}.{behind}f}{'':{mark}}")
        value = m.median / self.scale
        warning = f" (! {m.iqr / m.median * 100:.0f}%)" if mark and m.has_warnings else ""
        return f"{trim_sigfig(value, m.significant_figures) if self.trim else value:{width}.{behind}f}{warning:>{mark}}"

    def names(self) -> list[str]:
        """Of the rows: the environment, where it differs from the one above, and the statement."""
        environments = {m.env for m in self.results}
        several = len(environments) > 1
        width = 4 + (max(len(str(env)) for env in environments) if several else 0)
        names, above = [], None
        for threads, env, name in self.rows:
            shown = f"({env})" if several and (threads, env) != above else ""
            names.append("  " + shown.ljust(width) + name)
            above = threads, env
        return names

    def best(self, row: int, column: int) -> float:
        if self.colors == Colorize.ROWWISE:
            return min(m.median for m in self.cells[row] if m is not None)
        peers = [cells[column] for (threads, *_), cells in zip(self.rows, self.cells) if threads == self.rows[row][0]]
        return min(m.median for m in peers if m is not None)

    def render(self) -> str:
        texts = [["", *(column or "" for column in self.columns)]]
        texts += [[name, *(self.text(m, form) for m, form in zip(cells, self.formats))]
                  for name, cells in zip(self.names(), self.cells)]
        widths = [max(map(len, column)) for column in zip(*texts)]
        lines = ["  |  ".join(text.center(width) for text, width in zip(texts[0], widths))]
        whole, threads = len(lines[0]), None
        for i, (name, *cells) in enumerate(texts[1:]):
            if self.rows[i][0] != threads:
                threads = self.rows[i][0]
                lines.append(f"{threads} threads: ".ljust(whole, "-"))
            shown = [text.center(width) for text, width in zip(cells, widths[1:])]
            if self.colors != Colorize.NONE:
                shown = [text if m is None else colored(text, m.median, self.best(i, j))
                         for j, (text, m) in enumerate(zip(shown, self.cells[i]))]
            lines.append("  |  ".join([name.ljust(widths[0]), *shown]))
        head = "[" + f" {self.results[0].label or ''} ".center(whole - 2, "-") + "]"
        foot = f"\nTimes are in {unit_to_english(self.unit)}s ({self.unit}).\n"
        if self.warned:
            foot += "(! XX%) Measurement has high variance, where XX is the IQR / median * 100.\n"
        return "\n".join([head, *lines, foot])


def row_of(m: Measurement) -> tuple[int, str | None, str]:
    return m.num_threads, m.env, m.as_row_name
