"""torch.utils.benchmark: what is measured, and what it looks like."""
from __future__ import annotations

import importlib
import re
from typing import Any

import numpy as np
import pytest
from both_engines import both

import retrograd


def parts(torch: Any) -> Any:
    return importlib.import_module(f"{torch.__name__}.utils.benchmark")


def measurements(torch: Any, seed: int) -> list[Any]:
    """Of two labels; rows, columns, threads and environments differ; some vary a lot, and some are missing."""
    benchmark, rng = parts(torch), np.random.default_rng(seed)
    made = []
    for label in ("products", None):
        for i in range(10):
            spec = benchmark.TaskSpec(
                stmt=f"x @ x{i % 3}", setup="pass" if i % 2 else "x = 1\ny = 2", label=label,
                sub_label=f"row {i % 3}" if i % 4 else None, description=f"n={10 ** (i % 3)}", num_threads=1 + i % 2,
                env=("one", "other")[i // 5] if seed % 2 else None)
            times = rng.lognormal(rng.uniform(-14, -1 if seed % 3 else -12), (0.01, 0.1, 0.5)[i % 3], int(rng.integers(1, 9)))
            made.append(benchmark.Measurement(number_per_run=10 ** (i % 3), raw_times=times.tolist(), task_spec=spec))
    return made


@pytest.mark.oracle
@pytest.mark.parametrize("seed", range(12))
def test_measurements_and_tables_look_as_on_pytorch(seed: int) -> None:
    torch = pytest.importorskip("torch")

    def shown(engine: Any) -> list[Any]:
        found: list[Any] = []
        made = measurements(engine, seed)
        for m in made:
            found += [re.sub(r"^<.*>\n", "", repr(m)), m.significant_figures, m.has_warnings, m.meets_confidence(0.2), m.title]
        for change in ("print", "trim_significant_figures", "highlight_warnings", "colorize"):
            table = parts(engine).Compare(made)
            getattr(table, change)()
            found.append(str(table))
        table.colorize(rowwise=True)
        table.trim_significant_figures()
        table.highlight_warnings()
        return [*found, str(table)]

    def numbers(engine: Any) -> list[float]:
        return [x for m in measurements(engine, seed) for x in (m.median, m.mean, m.iqr)]

    assert shown(retrograd) == shown(torch)
    np.testing.assert_allclose(numbers(retrograd), numbers(torch), rtol=1e-12)


@both
def test_a_timer_runs_a_statement_as_often_as_it_says(torch: Any) -> None:
    benchmark = parts(torch)
    now, runs = [0.0], []

    def work() -> None:
        runs.append(torch.get_num_threads())
        now[0] += 1e-3

    timer = benchmark.Timer("work()", "ready = work", globals={"work": work}, timer=lambda: now[0], label="work", num_threads=1)
    m = timer.timeit(200)
    assert (m.number_per_run, len(m.raw_times), len(runs)) == (200, 1, 202) and m.median == pytest.approx(1e-3)
    assert m.label == "work" and m.stmt == "work()" and set(runs) == {1}
    told: list[Any] = []
    m = timer.blocked_autorange(lambda number, seconds: told.append((number, seconds)), min_run_time=0.05)
    assert m.number_per_run == 1 and len(m.raw_times) in (50, 51) and told == [(1, t) for t in m.raw_times]
    m = timer.adaptive_autorange(min_run_time=0.002)
    assert m.number_per_run == 1 and len(m.raw_times) == 4 and m.meets_confidence()
    assert benchmark.Timer("y = torch.ones(2) + x\n", "x = 1").timeit(3).number_per_run == 3


@both
def test_what_is_not_measured_is_refused(torch: Any) -> None:
    benchmark = parts(torch)
    with pytest.raises(ValueError, match="Currently only a `str` stmt is supported"):
        benchmark.Timer(print)
    with pytest.raises(ValueError, match="Invalid language `lisp`"):
        benchmark.Timer("1", language="lisp")
    with pytest.raises(ValueError, match="global_setup is C"):
        benchmark.Timer("1", global_setup="int x;")
    with pytest.raises(NotImplementedError, match="blocked_autorange"):
        benchmark.Timer("1").repeat()
    with pytest.raises(ValueError, match="Expected an instance of `Measurement`"):
        benchmark.Compare([1])


def test_callgrind_and_cpp_are_refused_by_name() -> None:
    benchmark = parts(retrograd)
    with pytest.raises(NotImplementedError, match=r"collect_callgrind\(\): retrograd does not run Valgrind"):
        benchmark.Timer("1").collect_callgrind()
    with pytest.raises(NotImplementedError, match="time a Python statement"):
        benchmark.Timer("1", language="c++")
    with pytest.raises(AttributeError, match=r"torch.utils.benchmark.FuzzedSparseTensor.*benchmarks measure time only"):
        _ = benchmark.FuzzedSparseTensor
