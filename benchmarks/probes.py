"""Measurements of retrograd that need a process of their own: `python -m benchmarks.probes NAME [quick]` prints JSON.

Started by `python -m benchmarks.budgets`. The first name may be `torch:NAME` to put the same question to PyTorch.
"""

from __future__ import annotations

import importlib
import json
import os
import statistics
import sys
import timeit
import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks import engines
from benchmarks.timing import calls_in, sample, seconds

Engine = Any


@dataclass
class Op:
    """One expression in both vocabularies. Tensors a, b, w (recorded) and 0-dim s; arrays x, y and 0-dim z."""

    name: str
    ours: str
    numpy: str
    silent: bool = False  # run under no_grad
    shapes: tuple[tuple[int, ...], ...] = ((4, 4), (8,))


OPS = (
    Op("a * b", "a * b", "x * y"),
    Op("a + b", "a + b", "x + y"),
    Op("a.exp()", "a.exp()", "exp(x)"),
    Op("a @ b", "a @ b", "x @ y", shapes=((4, 4),)),
    Op("w * b under no_grad", "w * b", "x * y", silent=True),
    Op("w * b recorded", "w * b", "x * y"),
    Op("w.exp() recorded", "w.exp()", "exp(x)"),
    Op("a * 2.0", "a * 2.0", "x * 2.0"),
    Op("a > b", "a > b", "x > y"),
    Op("a.sum()", "a.sum()", "x.sum()"),
    Op("0-dim s * s", "s * s", "z * z", shapes=((),)),
    Op("view a.reshape(-1)", "a.reshape(-1)", "x.reshape(-1)"),
    Op("index a[1]", "a[1]", "x[1]"),
    Op("index a[1:3]", "a[1:3]", "x[1:3]"),
    Op("in place a.add_(b)", "a.add_(b)", "add(x, y, x)"),
)


def ops(torch: Engine, quick: bool) -> list[dict[str, Any]]:
    """-> per op and shape: ns of NumPy, ns of ours, median and half the interquartile range of the difference"""
    rows: list[dict[str, Any]] = []
    for op in OPS:
        for shape in op.shapes:
            scope = names(torch, shape)
            try:
                with torch.no_grad() if op.silent else nullcontext():
                    pair = [timeit.Timer(text, globals=scope) for text in (op.numpy, op.ours)]
                    times = interleave(pair, quick)
            except Exception as e:  # one op that is missing must not hide the others
                rows.append({"op": op.name, "shape": shape, "error": f"{type(e).__name__}: {e}".split("\n")[0]})
                continue
            rows.append({"op": op.name, "shape": shape} | over(*times))
    rows.append({"op": "backward, per node of x * b", "shape": (8,)} | backward_per_node(torch, quick))
    return rows


def names(torch: Engine, shape: tuple[int, ...]) -> dict[str, Any]:
    x = np.ones(shape, np.float32)
    y, z = np.zeros(shape, np.float32), np.ones((), np.float32)
    return {
        "a": torch.tensor(x), "b": torch.tensor(y), "w": torch.tensor(x, requires_grad=True), "s": torch.tensor(z),
        "x": x, "y": y, "z": z, "exp": np.exp, "add": np.add,
    }  # fmt: skip


def interleave(timers: list[timeit.Timer], quick: bool) -> list[list[float]]:
    """-> for each timer, seconds per loop of samples taken in turn"""
    number, count = (1000, 7) if quick else (10_000, 31)
    for timer in timers:
        timer.timeit(number)
    times: list[list[float]] = [[] for _ in timers]
    for _ in range(count):
        for timer, into in zip(timers, times, strict=True):
            into.append(timer.timeit(number) / number)
    return times


def over(numpy: list[float], ours: list[float]) -> dict[str, float]:
    low, middle, high = statistics.quantiles(
        [(o - n) * 1e9 for o, n in zip(ours, numpy, strict=True)], n=4, method="inclusive"
    )
    return {
        "numpy_ns": round(statistics.median(numpy) * 1e9, 1),
        "ours_ns": round(statistics.median(ours) * 1e9, 1),
        "over_ns": round(middle, 1),
        "spread_ns": round((high - low) / 2, 1),
    }


def backward_per_node(torch: Engine, quick: bool, nodes: int = 200) -> dict[str, float]:
    """The backward of a chain alone: both less forward, divided by its nodes. NumPy: one `g * b` each."""
    w, b = (torch.tensor(np.ones(8, np.float32), requires_grad=r) for r in (True, False))
    g, y = np.ones(8, np.float32), np.ones(8, np.float32)

    def forward() -> Any:
        x = w
        for _ in range(nodes):
            x = x * b
        return x

    start = torch.tensor(g)

    def both() -> None:
        w.grad = None
        forward().backward(start)

    def arrays() -> None:
        v = g
        for _ in range(nodes):
            v = v * y

    number = calls_in(both, 0.003 if quick else 0.01)
    numpy: list[float] = []
    ours: list[float] = []
    for _ in range(7 if quick else 31):
        numpy.append(seconds(arrays, number) / nodes)
        ours.append((seconds(both, number) - seconds(forward, number)) / nodes)
    return over(numpy, ours)


def leaves(torch: Engine) -> tuple[Any, Any]:
    r = np.random.RandomState(0)
    a, b = (torch.tensor((r.randn(8) * 0.1).astype(np.float32), requires_grad=True) for _ in "ab")
    return a, b


def run_chain(a: Any, b: Any, count: int) -> None:
    a.grad = b.grad = None
    x = a
    for _ in range(count // 2):
        x = x * b + a
    x.sum().backward()


def million(torch: Engine, quick: bool) -> dict[str, float]:
    """us per op, forward + backward + freeing, of a chain of a thousand ops and of a million (quick: 100,000)."""
    a, b = leaves(torch)
    long = 100_000 if quick else 1_000_000
    shorts, longs = [], []
    for _ in range(1 if quick else 3):
        shorts.append(seconds(lambda: run_chain(a, b, 1000), 100) / 1000)
        longs.append(seconds(lambda: run_chain(a, b, long), 1) / long)
    short, long_one = statistics.median(shorts) * 1e6, statistics.median(longs) * 1e6
    return {"ops": long, "thousand_us": short, "long_us": long_one, "ratio": long_one / short}


def resident() -> int:
    """Bytes of resident memory, 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")


def memory(torch: Engine, quick: bool) -> dict[str, float]:
    """Bytes that a recorded `x * b` adds, by tracemalloc, less the array that it must keep; and resident bytes."""
    a, b = leaves(torch)

    def record(count: int) -> Any:
        x = a
        for _ in range(count):
            x = x * b
        return x

    record(100)
    before = resident()
    graph = record(100_000)
    rss = (resident() - before) / 100_000
    del graph

    count = 20_000
    array = np.zeros(8, np.float32)
    kept: list[Any] = [None] * count
    tracemalloc.start()
    try:
        start = tracemalloc.get_traced_memory()[0]
        graph = record(count)
        middle = tracemalloc.get_traced_memory()[0]
        for i in range(count):
            kept[i] = array * array
        end = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    del graph
    per_array = (end - middle) / count
    return {"bytes": (middle - start) / count - per_array, "array_bytes": per_array, "resident_bytes": rss}


def versions(torch: Engine, quick: bool) -> dict[str, str]:
    return engines.describe("retrograd")


def nothing(*_: Any) -> None:
    """An empty hook."""


def use_hooks(torch: Engine, a: Any, b: Any) -> None:
    for leaf in (a, b):
        leaf.register_hook(nothing).remove()
        leaf.register_post_accumulate_grad_hook(nothing).remove()


def use_anomaly(torch: Engine, a: Any, b: Any) -> None:
    with torch.autograd.set_detect_anomaly(True):
        run_chain(a, b, 20)


def use_saved_tensors_hooks(torch: Engine, a: Any, b: Any) -> None:
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: t):
        run_chain(a, b, 20)


def use_nothing(torch: Engine, a: Any, b: Any) -> None:
    """The base of the ratios."""


USES: dict[str, Callable[[Engine, Any, Any], None]] = {
    "nothing": use_nothing,
    "hooks": use_hooks,
    "anomaly": use_anomaly,
    "saved-tensors-hooks": use_saved_tensors_hooks,
}


def chain_after(use: str) -> Callable[[Engine, bool], dict[str, float]]:
    def probe(torch: Engine, quick: bool) -> dict[str, float]:
        """us per op of a chain of 200 ops after the feature was used once and switched off"""
        a, b = leaves(torch)
        run_chain(a, b, 200)
        USES[use](torch, a, b)
        number = calls_in(lambda: run_chain(a, b, 200), 0.005)
        times, _ = sample(lambda: run_chain(a, b, 200), number, 5 if quick else 15)
        return {"us": statistics.median(times) * 1e6 / 200}

    return probe


PROBES: dict[str, Callable[[Engine, bool], Any]] = {
    "versions": versions,
    "ops": ops,
    "million": million,
    "memory": memory,
} | {f"after-{use}": chain_after(use) for use in USES}


def main() -> None:
    engine, _, name = sys.argv[1].rpartition(":")
    torch = importlib.import_module(engine or "retrograd")
    if hasattr(torch, "set_num_threads"):
        torch.set_num_threads(1)
    print(json.dumps(PROBES[name](torch, "quick" in sys.argv[2:])))


if __name__ == "__main__":
    main()
