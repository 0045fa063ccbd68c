"""What a measurement is, and how its numbers are shown.

stmt, setup, global_setup   code: what is timed, what runs before it, and what C++ would need in front (accepted, unused)
label, sub_label, description, env   what tables call it: the table, its row, its column, and rows of other environments
num_threads     as torch.set_num_threads has it
raw_times       seconds of each block
task_spec       what was timed
metadata        whatever the caller wants to keep
threshold       a part of the median, such as 0.1
measurements    Measurements
t               seconds
u               's', 'ms', 'us' or 'ns'
elements        hashable ones
"""
from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from textwrap import indent
from typing import Any

import numpy as np

from ...._kernels.threads import get_num_threads, set_num_threads
from ...._missing import late_names

__all__ = ["TaskSpec", "Measurement", "select_unit", "unit_to_english", "trim_sigfig", "ordered_unique", "set_torch_threads"]
late_names(__name__)

FIGURES = 4                     # significant ones, at most
RESOLUTION = 25e-9              # seconds: no confidence interval is smaller
SPREAD, GREAT_SPREAD = 0.1, 0.25        # interquartile ranges over the median that are warned of
UNITS = {"ns": ("nanosecond", 1e-9), "us": ("microsecond", 1e-6), "ms": ("millisecond", 1e-3), "s": ("second", 1)}


def logarithm(x: float) -> float:
    """To the base of ten; of float32, as PyTorch computes it."""
    return float(np.log10(np.float32(x)))


@dataclass(repr=False, frozen=True)
class TaskSpec:
    """What a Timer runs, and what it is called."""

    stmt: str
    setup: str
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or else the statement, with the sub_label."""
        if self.label is not None or "\n" not in self.stmt:
            return (self.stmt if self.label is None else self.label) + (f": {self.sub_label}" if self.sub_label else "")
        return f"stmt:{f' ({self.sub_label})' if self.sub_label else ''}\n{indent(self.stmt, '  ')}"

    def setup_str(self) -> str:
        """'setup: ...', '' where there is none."""
        if self.setup == "pass" or not self.setup:
            return ""
        return f"setup:\n{indent(self.setup, '  ')}" if "\n" in self.setup else f"setup: {self.setup}"

    def summarize(self) -> str:
        """Title, description and setup."""
        return "\n".join(f"{part}\n" if "\n" in part else part for part in (
            self.title, self.description or "", self.setup_str()) if part)


SPEC = tuple(field.name for field in fields(TaskSpec))


@dataclass(repr=False)
class Measurement:
    """Seconds that blocks of `number_per_run` runs took; it has the TaskSpec's attributes, too."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    def __getattr__(self, name: str) -> Any:
        if name in SPEC:
            return getattr(self.task_spec, name)
        raise AttributeError(f"'Measurement' object has no attribute '{name}'")

    @property
    def times(self) -> list[float]:
        """Seconds per run, of each block."""
        return [t / self.number_per_run for t in self.raw_times]

    def quantile(self, q: float) -> float:
        return float(np.quantile(self.times, q)) if self.raw_times else -1.0

    @property
    def median(self) -> float:
        """Seconds per run."""
        return self.quantile(0.5)

    @property
    def mean(self) -> float:
        """Seconds per run."""
        return float(np.mean(self.times)) if self.raw_times else -1.0

    @property
    def iqr(self) -> float:
        """The interquartile range, seconds per run."""
        return self.quantile(0.75) - self.quantile(0.25)

    @property
    def significant_figures(self) -> int:
        """How many digits of the median a 90 % confidence interval of the middle half supports: 1 to 4."""
        n = len(self.raw_times)
        middle = np.array(sorted(self.times)[n // 4:math.ceil(3 * n / 4)])
        interval = max(1.645 * float(middle.std()) / math.sqrt(len(middle)), RESOLUTION)
        return min(max(math.floor(logarithm(self.median / interval)), 1), FIGURES)

    def meets_confidence(self, threshold: float = SPREAD) -> bool:
        """Is the interquartile range below that part of the median?"""
        return self.iqr / self.median < threshold

    @property
    def has_warnings(self) -> bool:
        """Does the interquartile range reach a tenth of the median?"""
        return bool(self.warning())

    def warning(self) -> str:
        if not self.raw_times or self.meets_confidence():
            return ""
        cause = ("This could indicate system fluctuation." if self.meets_confidence(GREAT_SPREAD)
                 else "This suggests significant environmental influence.")
        return (f"  WARNING: Interquartile range is {self.iqr / self.median * 100:.1f}% of the median measurement.\n"
                f"           {cause}")

    @property
    def title(self) -> str:
        """What was measured."""
        return self.task_spec.title

    @property
    def as_row_name(self) -> str:
        """In a table of Compare."""
        return self.sub_label or self.stmt or "[Unknown]"

    def __repr__(self) -> str:
        n = len(self.raw_times)
        unit, scale = select_unit(self.median)
        lines = [object.__repr__(self), self.task_spec.summarize(),
                 f"  {'Median: ' if n > 1 else ''}{self.median / scale:.2f} {unit}"]
        if n >= 4:
            low, high = self.quantile(0.25), self.quantile(0.75)
            lines.append(f"  IQR:    {self.iqr / scale:.2f} {unit} ({low / scale:.2f} to {high / scale:.2f})")
        lines.append(f"  {n} measurement{'s' if n > 1 else ''}, {self.number_per_run} runs "
                     f"{'per measurement,' if n > 1 else ','} {self.num_threads} thread{'s' if self.num_threads > 1 else ''}")
        return "\n".join([*lines, self.warning()]).strip()

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """One of all times of each TaskSpec, per run; without metadata."""
        groups: dict[TaskSpec, list[float]] = {}
        for m in measurements:
            groups.setdefault(m.task_spec, []).extend(m.times)
        return [Measurement(1, times, spec) for spec, times in groups.items()]


def select_unit(t: float) -> tuple[str, float]:
    """A unit for seconds, and its seconds: 2e-5 -> ('us', 1e-06)"""
    name = {-3: "ns", -2: "us", -1: "ms"}.get(int(logarithm(t) // 3), "s")
    return name, UNITS[name][1]


def unit_to_english(u: str) -> str:
    """'us' -> 'microsecond'"""
    return UNITS[u][0]


def trim_sigfig(x: float, n: int) -> float:
    """x to n significant figures: (3.14159, 2) -> 3.1"""
    if n != int(n):
        raise AssertionError("Number of significant figures must be an integer")
    scale = 10 ** (math.ceil(logarithm(abs(x))) - n)
    return float(np.round(np.float32(x / scale)) * np.float32(scale))


def ordered_unique(elements: Iterable[Any]) -> list[Any]:
    """Each once, in the order in which they came."""
    return list(dict.fromkeys(elements))


@contextmanager
def set_torch_threads(n: int) -> Iterator[None]:
    """set_num_threads(n) within it."""
    before = get_num_threads()
    set_num_threads(n)
    try:
        yield
    finally:
        set_num_threads(before)
