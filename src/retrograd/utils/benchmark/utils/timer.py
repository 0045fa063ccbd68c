"""Timer: seconds that a statement takes.

global_setup    for C++ alone: accepted where it is empty
number          how often the statement runs in a block
repeat          how many blocks
callback        callback(number, seconds), after each block
min_run_time    seconds to spend at least
repeats, collect_baseline, retain_out_file   of callgrind, which is not there
"""
from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from textwrap import dedent
from typing import Any

from ...._missing import late_names
from .common import Measurement, TaskSpec, set_torch_threads

__all__ = ["Timer", "timer", "Language"]
late_names(__name__)
timer = timeit.default_timer
MOST = 2**31 - 1                # runs in a block


class Language(Enum):
    """Of the statements."""

    PYTHON = 0
    CPP = 1


def plain(code: str) -> str:
    """Without indentation and empty lines around it."""
    return dedent(code).removeprefix("\n").rstrip()


class Timer:
    """Measures a statement, given as text.

    stmt, setup, timer, globals     as for timeit.Timer; stmt finds `torch`
    label, sub_label, description, env      names of what is measured: rows, columns and tables of Compare
    num_threads                     set while it runs (default 1)
    language                        Python; C++ raises NotImplementedError
    """

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "", timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None, label: str | None = None, sub_label: str | None = None,
        description: str | None = None, env: str | None = None, num_threads: int = 1, language: Any = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ValueError("Currently only a `str` stmt is supported.")
        if language in (Language.CPP, "cpp", "c++"):
            raise NotImplementedError("torch.utils.benchmark.Timer: retrograd has no C++ to compile; time a Python statement")
        if language not in (Language.PYTHON, "py", "python"):
            raise ValueError(f"Invalid language `{language}`.")
        if global_setup:
            raise ValueError(
                f"global_setup is C++ only, got `{global_setup}`. Most likely this code can simply be moved to `setup`.")
        stmt, setup = plain(stmt), plain(setup)
        names = {"torch": import_module("retrograd"), **(globals or {})}
        self._timer = timeit.Timer(stmt, setup, timer, names)
        self._task_spec = TaskSpec(stmt, setup, global_setup, label, sub_label, description, env, num_threads)

    def _timeit(self, number: int) -> float:
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """One block of `number` runs, after a hundredth of them to warm up."""
        with set_torch_threads(self._task_spec.num_threads):
            self._timeit(max(number // 100, 2))
            return self._measured(number, [self._timeit(number)])

    def _measured(self, number: int, times: list[float]) -> Measurement:
        return Measurement(number, times, self._task_spec)

    def repeat(self, repeat: int = -1, number: int = -1) -> None:
        """NotImplementedError: blocked_autorange repeats."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def autorange(self, callback: Any = None) -> None:
        """NotImplementedError: blocked_autorange finds the number of runs."""
        raise NotImplementedError("See `Timer.blocked_autorange.`")

    def _block(self, min_run_time: float) -> int:
        """Runs enough that reading the clock is a ten-thousandth of their time, and a block a thousandth of min_run_time."""
        clock = statistics.median(self._timeit(0) for _ in range(5))
        number = 1
        while number * 10 <= MOST:
            taken = self._timeit(number)
            if taken > min_run_time or (clock / taken <= 1e-4 and taken >= min_run_time / 1000):
                break
            number *= 10
        return number

    def _repeated(
        self, number: int, enough: Callable[[list[float]], bool], least: float, most: float, callback: Any,
    ) -> Measurement:
        """Blocks until they took `least` seconds and are enough, or took more than `most`."""
        times: list[float] = []
        with set_torch_threads(self._task_spec.num_threads):
            while (sum(times) < least or not enough(times)) and sum(times) <= most:
                times.append(self._timeit(number))
                if callback is not None:
                    callback(number, times[-1])
        return self._measured(number, times)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Blocks of a number of runs that it finds, for min_run_time seconds; callback(number, seconds) after each."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block(min_run_time)
        return self._repeated(number, bool, min_run_time, float("inf"), callback)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None,
    ) -> Measurement:
        """Blocks until the interquartile range is below threshold * median, or max_run_time seconds are over."""
        with set_torch_threads(self._task_spec.num_threads):
            number = self._block(0.05)

        def steady(times: list[float]) -> bool:
            return len(times) > 3 and self._measured(number, times).meets_confidence(threshold)
        return self._repeated(number, steady, min_run_time, max_run_time, callback)

    def collect_callgrind(self, number: int = 100, *, repeats: int | None = None, collect_baseline: bool = True,
                          retain_out_file: bool = False) -> Any:
        """NotImplementedError: instructions are not counted."""
        raise NotImplementedError(
            "Timer.collect_callgrind(): retrograd does not run Valgrind; blocked_autorange() measures time")
