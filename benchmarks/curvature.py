"""Curvature of one PyTorch model by the microscope and by PyHessian and curvlinops, in turns, where these are installed.

    python -m benchmarks.curvature [RESULT.json] [--rounds 3]

An MLP of 2,410 weights on 1,437 images of digits, one thread: the five largest eigenvalues of the Hessian, its trace with 100
probes, 100 products with one vector, and 100 products with the Gauss-Newton matrix.  Seconds are medians of processor time.
"""

from __future__ import annotations

import argparse
import gzip
import json
import statistics
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from retrograd import microscope

from .machine import machine

HERE = Path(__file__).resolve().parent
RESULTS = HERE / "results" / "curvature.json"


def problem(torch: Any) -> tuple[Any, Any, Any]:
    with gzip.open(HERE.parent / "examples" / "data" / "digits.csv.gz") as file:
        rows = np.loadtxt(file, delimiter=",")
    x, y = torch.tensor(rows[:, :64] / 16).float(), torch.tensor(rows[:, 64].astype(int))
    torch.manual_seed(0)
    nn = torch.nn
    model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    for _ in range(100):
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(x), y).backward()
        optimizer.step()
    return model, x[:1437], y[:1437]


Works = dict[str, Callable[[], Any]]


def ours(torch: Any, model: Any, x: Any, y: Any) -> Works:
    v = np.ones(sum(p.numel() for p in model.parameters()))

    def made() -> Any:
        return microscope.curvature(model, torch.nn.functional.cross_entropy, [(x, y)])

    def products(kind: str) -> float:
        curve = made()
        return float(np.linalg.norm([getattr(curve, kind)(v) for _ in range(100)][-1]))

    return {"eigenvalues": lambda: made().eigenvalues(5), "trace": lambda: made().trace(probes=100).value,
            "hessian products": lambda: products("hessian_vector"),
            "gauss-newton products": lambda: products("gauss_newton_vector")}


def pyhessians(torch: Any, model: Any, x: Any, y: Any) -> Works:
    from pyhessian import hessian

    def made() -> Any:
        return hessian(model, torch.nn.CrossEntropyLoss(), data=(x, y), cuda=False)

    return {"eigenvalues": lambda: made().eigenvalues(maxIter=100, tol=1e-5, top_n=5)[0],
            "trace": lambda: float(np.mean(made().trace(maxIter=100, tol=0)))}


def curvlinopses(torch: Any, model: Any, x: Any, y: Any) -> Works:
    from curvlinops import GGNLinearOperator, HessianLinearOperator
    from scipy.sparse.linalg import eigsh

    params = [p for p in model.parameters() if p.requires_grad]
    v = torch.ones(sum(p.numel() for p in params))

    def made(kind: Any) -> Any:
        return kind(model, torch.nn.CrossEntropyLoss(), params, [(x, y)], check_deterministic=False)

    def products(kind: Any) -> float:
        operator = made(kind)
        return float([operator @ v for _ in range(100)][-1].norm())

    def eigenvalues() -> Any:
        operator = made(HessianLinearOperator)
        operator = operator.to_scipy() if hasattr(operator, "to_scipy") else operator
        return sorted(eigsh(operator, k=5, which="LM", tol=1e-5, return_eigenvectors=False).tolist(), key=abs, reverse=True)

    return {"eigenvalues": eigenvalues, "hessian products": lambda: products(HessianLinearOperator),
            "gauss-newton products": lambda: products(GGNLinearOperator)}


LIBRARIES = {"microscope": ours, "PyHessian": pyhessians, "curvlinops": curvlinopses}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.curvature", description=__doc__.partition("\n")[0])
    parser.add_argument("result", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    task = problem(torch)
    rows: dict[str, Any] = {"machine": machine()}
    works: dict[str, Works] = {}
    for name, library in LIBRARIES.items():
        try:
            works[name] = library(torch, *task)
        except ImportError as e:
            rows[name] = f"not installed: {e.name}"
    for work in works["microscope"]:
        took: dict[str, list[float]] = {}
        results: dict[str, Any] = {}
        for _ in range(given.rounds):
            for name, table in works.items():
                if work not in table:
                    continue
                begin = time.process_time()
                try:
                    results[name] = table[work]()
                except Exception as e:          # what it cannot do is a result
                    results[name] = f"{type(e).__name__}: {str(e)[:200]}"
                took.setdefault(name, []).append(time.process_time() - begin)
        rows[work] = {name: {"seconds": round(statistics.median(s), 4), "result": results[name]} for name, s in took.items()}
        print(work, json.dumps(rows[work]), flush=True)
    given.result.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
