"""The microscope on PyTorch models beside TorchLens and Captum, in turns, where these are installed.

    python -m benchmarks.beside [RESULT.json] [--rounds 15]

The models and batches of benchmarks.microscope, one thread.  `recording`: a forward pass with the output of every operation.
`influence`: inner products of the gradients of all samples of one batch with those of another, TracIn's score for one
checkpoint.  Figures are medians of processor time, as multiples of the same work without the tool (of influence: two backward
passes).  benchmarks.peers compares with more libraries, in seconds and memory.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import statistics
import time
import warnings
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

from .machine import machine
from .microscope import loss_of, models

RESULTS = Path(__file__).with_name("results") / "beside.json"
Steps = dict[str, Callable[[], Any]]


def plain(torch: Any, model: Any, x: Any, y: Any) -> Steps:
    def step() -> None:
        model.zero_grad(set_to_none=True)
        loss_of(torch, model(x), y).backward()

    def both() -> None:
        step()
        step()

    return {"recording": lambda: model(x), "influence": both}


def ours(torch: Any, model: Any, x: Any, y: Any) -> Steps:
    from retrograd import microscope

    cap = microscope.capture(model)

    def grads() -> Any:
        model.zero_grad(set_to_none=True)
        with cap:
            loss_of(torch, model(x), y).backward()
        return cap.grads(scale="sample")

    def recording() -> int:
        with microscope.record(model, values="all") as rec:
            model(x)
        return len(rec.events)

    return {"recording": recording, "influence": lambda: grads().dots(grads())}


def torchlenses(torch: Any, model: Any, x: Any, y: Any) -> Steps:
    from torchlens import trace
    from torchlens.backends.torch.wrappers import unwrap_torch, wrap_torch

    # it replaces PyTorch's functions, for the other tools as well: here only while its turn lasts
    return {"recording": lambda: len(trace(model, x).layer_list), "before": wrap_torch, "after": unwrap_torch}


def captums(torch: Any, model: Any, x: Any, y: Any) -> Steps:
    """Its gradients by samples know linear layers and convolutions."""
    from captum.influence import TracInCP

    if any(not isinstance(m, torch.nn.Linear) for m in model.modules() if m._parameters):
        return {}
    batch = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(x, y), batch_size=len(x))
    scores = TracInCP(model, batch, ["one"], checkpoints_load_func=lambda model, path: 1.0,
                      loss_fn=torch.nn.CrossEntropyLoss(reduction="mean"), batch_size=len(x), sample_wise_grads_per_batch=True)

    def influence() -> Any:
        with contextlib.redirect_stderr(io.StringIO()):
            return scores.influence((x, y))

    return {"influence": influence}


LIBRARIES = {"plain": plain, "microscope": ours, "torchlens": torchlenses, "captum": captums}


def agree(torch: Any, work: str, found: dict[str, Any]) -> None:
    """AssertionError where two tools give other numbers, but for a common factor (what the mean divides by)."""
    if work == "recording":
        return
    first = found["microscope"].detach().flatten()
    for name, value in found.items():
        if name not in ("plain", "microscope"):
            ratio = value.detach().flatten() / first
            assert torch.allclose(ratio, ratio.median().expand_as(ratio), rtol=2e-2), (work, name, ratio.min(), ratio.max())


def measure(torch: Any, works: dict[str, Steps], work: str, rounds: int) -> dict[str, float]:
    """name -> median of processor time over that of the plain work"""
    took: dict[str, list[float]] = {name: [] for name, steps in works.items() if work in steps}

    def turn(name: str) -> Any:
        steps = works[name]
        steps.get("before", bool)()
        begin = time.process_time()
        result = steps[work]()
        took[name].append(time.process_time() - begin)
        steps.get("after", bool)()
        return result

    agree(torch, work, {name: turn(name) for name in took})
    for _ in range(rounds):
        for name in took:
            turn(name)
    medians = {name: statistics.median(times) for name, times in took.items()}
    return {name: round(t / medians["plain"], 2) for name, t in medians.items()} | {"plain_ms": round(medians["plain"] * 1e3, 3)}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.beside", description=__doc__.partition("\n")[0])
    parser.add_argument("result", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--rounds", type=int, default=15)
    given = parser.parse_args()
    import torch

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows: dict[str, Any] = {"machine": machine(), "torch": torch.__version__, "rounds": given.rounds, "versions": {}}
    for kind, task in models(torch).items():
        works: dict[str, Steps] = {}
        for name, library in LIBRARIES.items():
            try:
                works[name] = library(torch, *task)
            except ImportError as e:
                print(f"{name}: not installed ({e})")
            with contextlib.suppress(PackageNotFoundError):
                rows["versions"][name] = version(name)
        for work in works["plain"]:
            rows.setdefault(work, {})[kind] = found = measure(torch, works, work, given.rounds)
            print(work, kind, json.dumps(found), flush=True)
    given.result.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
