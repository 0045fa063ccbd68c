"""Times of a step, and what is said of them."""

from __future__ import annotations

import gc
import statistics
import time
from collections.abc import Callable
from typing import Any

Step = Callable[[], Any]


def seconds(step: Step, number: int) -> float:
    """Seconds per call over `number` calls in a row."""
    turns = range(number)
    start = time.perf_counter()
    for _ in turns:
        step()
    return (time.perf_counter() - start) / number


def calls_in(step: Step, budget: float) -> int:
    """How many calls take about `budget` seconds. Also the warm-up."""
    number = 1
    while True:
        took = seconds(step, number)
        if took * number > budget / 4:
            return max(1, round(budget / took))
        number *= 4


def sample(step: Step, number: int, count: int, base: Step | None = None) -> tuple[list[float], list[float]]:
    """-> `count` times of `step` and as many of `base`, taken in turn so that drift meets both alike.

    The garbage collector stays on, as in the programs of users, but starts from a clean state.
    """
    gc.collect()
    times, bases = [], []
    for _ in range(count):
        if base is not None:
            bases.append(seconds(base, number))
        times.append(seconds(step, number))
    return times, bases


def summary(values: list[float], digits: int = 4) -> dict[str, float]:
    """min, quartiles, max and count of `values`, to `digits` significant digits."""
    low, middle, high = statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3
    found = {"median": middle, "min": min(values), "q1": low, "q3": high, "max": max(values)}
    return {name: float(f"{v:.{digits}g}") for name, v in found.items()} | {"samples": len(values)}
