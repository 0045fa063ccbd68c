"""Proof of attributions: trainings without some samples, against what the scores foretell."""
from __future__ import annotations

import multiprocessing
import os
import time
import warnings
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any, NamedTuple

import numpy as np

from ..arguments import checked
from ..bar import progress as bars
from ..listen import engine_of
from .loop import Steps, samples_of


class Correlation(NamedTuple):
    """A rank correlation with the ends of its 95 % confidence interval."""

    value: float
    low: float
    high: float


class Validation:
    """What validate() found; print it for a table.

    lds             {method: Correlation}: linear datamodeling scores, averaged over the K numbers
    brittleness     {method: [(k, change of the numbers' mean without its k strongest samples), ...]}; "random", too
    full            (K,) the numbers with all samples
    left_out        (M, k) the samples of the M subsets
    retrained       (M, K) the numbers without each subset
    seconds         time of all retrainings
    method_seconds  {method: time of its scores}, if known
    """

    def __init__(self, full: Any, left_out: Any, retrained: Any) -> None:
        self.full, self.left_out, self.retrained = full, left_out, retrained
        self.lds: dict[str, Correlation] = {}
        self.brittleness: dict[str, list[tuple[int, float]]] = {}
        self.seconds = 0.0
        self.method_seconds: dict[str, float] = {}

    def __str__(self) -> str:
        ks = [k for k, _ in next(iter(self.brittleness.values()), [])]
        rows = [["method", "LDS", "95 %", *(f"without {k}" for k in ks), "seconds"]]
        for name in dict.fromkeys([*self.lds, *self.brittleness]):
            found = self.lds.get(name)
            said = [f"{found.value:.3f}", f"{found.low:.3f} to {found.high:.3f}"] if found else ["", ""]
            rows.append([name, *said, *(f"{change:+.4f}" for _, change in self.brittleness.get(name, [])),
                         f"{self.method_seconds[name]:.2f}" if name in self.method_seconds else ""])
        widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
        lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
        return "\n".join(lines)


@checked
def validate(
    scores: dict[str, Any], train: Callable[..., Any], evaluate: Callable[[Any], Any], weight: Any, *,
    subsets: int = 100, leave_out: float = 0.05, brittle: Iterable[float] = (0.02, 0.05, 0.1), workers: int | None = None,
    seed: int = 0, progress: bool | None = None,
) -> Validation:
    """Retrain without random subsets of samples, and compare with what `scores` {method: (N,) or (N, K)} predict.

    scores           {method: (N,) or (N, K)}, as attributions() returns them
    train, evaluate  as in metagradient(): train(steps, weight), where left-out samples have weight 0
    weight           (N,) ones
    subsets          how many subsets, each of the share `leave_out` of the samples
    leave_out        share of the samples in a subset, above 0 and below 1
    brittle          shares of the samples to leave out for brittleness: those that lower the numbers' mean the most
    workers          processes, by default one per core; 1: only this one
    seed             of the random subsets
    progress         bars on stderr; by default if it is a terminal, after two seconds

    A score is the derivative of the number in a sample's weight: of what is left out, the sum of the scores foretells the
    change.  The linear datamodeling score is the rank correlation of foretold and true numbers over the subsets (Ilyas et al.
    2022, Park et al. 2023); its interval is that of a bootstrap over subsets.  Processes are forked; where that is impossible
    everything runs in this one.  ValueError for scores of another length or with NaN, for shares out of range, for numbers that
    are not finite, and if they never change.
    """
    N = samples_of("validate", weight)
    torch = engine_of(weight).torch
    tables = {name: table_of(name, x, N) for name, x in scores.items()}
    size = max(1, round(leave_out * N))
    brittle = tuple(brittle)
    if not tables or not 0 < leave_out < 1 or subsets < 3:
        raise ValueError("validate: expected scores of at least one method, leave_out between 0 and 1, and 3 subsets or more; "
                         f"got {len(tables)} methods, {leave_out=}, {subsets=}")
    if not all(0 < share <= 1 for share in brittle):
        raise ValueError(f"validate: brittle must be shares of the samples, above 0 and up to 1, not {brittle}")
    if workers is not None and workers < 1:
        raise ValueError(f"validate: workers must be a positive number of processes, not {workers}")
    draw = np.random.default_rng(seed)
    left_out = np.stack([draw.choice(N, size, replace=False) for _ in range(subsets)])
    orders = {name: np.argsort(table.mean(1), kind="stable") for name, table in tables.items()}
    orders["random"] = draw.permutation(N)
    ks = list(dict.fromkeys(max(1, round(share * N)) for share in brittle))
    begin = time.perf_counter()
    all_in = np.zeros(0, int)
    jobs = [all_in, all_in, *left_out, *(order[:k] for order in orders.values() for k in ks)]
    with bars(progress) as bar:
        again, *rest = retrain(torch, train, evaluate, weight, jobs, workers, bar("retrainings", len(jobs)))
    values = np.stack(rest)
    doubts(again, values, subsets)
    found = Validation(values[0], left_out, values[1:subsets + 1])
    found.seconds = time.perf_counter() - begin
    for name, table in tables.items():
        if table.shape[1] != len(found.full):
            raise ValueError(f"validate: {name} scores {table.shape[1]} numbers, evaluate() gives {len(found.full)}")
        foretold = -np.stack([table[out].sum(0) for out in left_out])
        found.lds[name] = correlation(foretold, found.retrained, draw)
    changes = (values[subsets + 1:].mean(1) - found.full.mean()).reshape(len(orders), len(ks))
    found.brittleness = {name: [(k, float(x)) for k, x in zip(ks, row)] for name, row in zip(orders, changes)}
    found.method_seconds = dict(getattr(scores, "seconds", {}))
    return found


def doubts(again: Any, values: Any, subsets: int) -> None:
    """ValueError where trainings say nothing, a warning where they are not reproducible."""
    odd = ~np.isfinite(values).all(1)
    if odd.any():
        raise ValueError(f"validate: evaluate() gave NaN or inf after {odd.sum()} of {len(values)} trainings")
    full, others = values[0], values[1:subsets + 1]
    noise = float(np.abs(again - full).max())
    if noise:
        spread = float(np.abs(others - full).max())
        warnings.warn(f"validate: two trainings with the same weights differ by {noise:.3g}, those without samples by up to "
                      f"{spread:.3g}: seed all that train() draws", stacklevel=4)
    elif (others == full).all():
        raise ValueError("validate: every training gives the same numbers, whoever is left out: train(steps, weight) must use "
                         "weight")


Job = tuple[Any, Callable[..., Any], Callable[[Any], Any], Any]
_job: list[Job] = []                                    # what forked processes inherit


def retrain(torch: Any, train: Any, evaluate: Any, weight: Any, jobs: list[Any], workers: int | None,
            advance: Callable[[], None]) -> Any:
    """(len(jobs), K): the numbers without the samples of each job."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    workers = min(cores if workers is None else workers, len(jobs))
    forks = "fork" in multiprocessing.get_all_start_methods() and weight.device.type == "cpu"
    _job.append((torch, train, evaluate, weight))
    rows = []
    try:
        if workers < 2 or not forks:
            for out in jobs:
                rows.append(without(out))
                advance()
        else:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", DeprecationWarning)     # of forks in processes with threads, which wait here
                with ProcessPoolExecutor(workers, multiprocessing.get_context("fork"), torch.set_num_threads, (1,)) as pool:
                    for row in pool.map(without, jobs):
                        rows.append(row)
                        advance()
    except BrokenProcessPool:
        raise RuntimeError("validate: a process that trained was killed, for lack of memory perhaps; workers=1 trains in this "
                           "one") from None
    finally:
        _job.pop()
    return np.stack(rows)


def without(out: Any) -> Any:
    """The numbers of a training in which the samples `out` have weight 0."""
    torch, train, evaluate, weight = _job[-1]
    given = weight.detach().clone()
    if len(out):
        given[torch.tensor(out)] = 0
    made = train(Steps(), given)
    with torch.no_grad():
        found = evaluate(made)
    try:
        return as_array(found).reshape(-1)
    except (TypeError, ValueError):
        raise TypeError(f"validate: evaluate() must give numbers, got {type(found).__name__}") from None


def table_of(name: str, scores: Any, N: int) -> Any:
    """(N, K)"""
    try:
        table = as_array(scores)
    except (TypeError, ValueError):
        raise TypeError(f"validate: scores of {name} must be numbers, got {type(scores).__name__}") from None
    if table.ndim not in (1, 2) or len(table) != N:
        raise ValueError(f"validate: scores of {name} must be (N,) or (N, K) with N = {N}, as weight has, not {table.shape}")
    odd = ~np.isfinite(table.reshape(N, -1)).all(1)
    if odd.any():
        raise ValueError(f"validate: scores of {name} are NaN or inf for {odd.sum()} of {N} samples")
    return table.reshape(N, -1)


def as_array(x: Any) -> Any:
    if x is None:
        raise TypeError
    return np.asarray(x.detach().cpu().numpy() if hasattr(x, "detach") else x, float)


def correlation(a: Any, b: Any, draw: Any, rounds: int = 500) -> Correlation:
    """Spearman's of the columns of a and b (M, K), their mean, with a bootstrap over rows."""
    M = len(a)
    value = spearman(a, b)
    again = [spearman(a[rows], b[rows]) for rows in draw.integers(0, M, (rounds, M))]
    low, high = np.percentile(again, [2.5, 97.5])
    return Correlation(value, float(low), float(high))


def spearman(a: Any, b: Any) -> float:
    found = []
    for x, y in zip(a.T, b.T):
        x, y = ranks(x), ranks(y)
        x, y = x - x.mean(), y - y.mean()
        size = np.sqrt((x @ x) * (y @ y))
        found.append(x @ y / size if size else 0.0)
    return float(np.mean(found))


def ranks(x: Any) -> Any:
    """Ranks from 0, equal numbers sharing their mean."""
    _, place, count = np.unique(x, return_inverse=True, return_counts=True)
    ends = np.cumsum(count)
    return ((ends - count + ends - 1) / 2)[place]
