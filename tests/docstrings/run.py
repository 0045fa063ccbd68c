"""What statements print: `python run.py torch|retrograd FILE`, where FILE holds {name: statements}; the answer is printed."""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import math
import os
import random
import re
import signal
import sys
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np

SECONDS = 60


def context(torch: Any) -> dict[str, Any]:
    """What the examples take for granted."""
    nn = torch.nn
    torch.manual_seed(3)
    model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    data = [(torch.randn(5, 4), torch.tensor([0, 1, 2, 1, 0])) for _ in range(3)]
    known = {name: getattr(torch.func, name) for name in "grad vmap jvp vjp jacrev jacfwd hessian functional_call".split()}
    known |= {name: getattr(torch.optim.lr_scheduler, name) for name in torch.optim.lr_scheduler.__all__}
    known |= {name: getattr(torch.distributions, name) for name in torch.distributions.__all__}
    known |= dict.fromkeys(("model", "net", "module"), model)
    known |= dict.fromkeys(("dataset", "loader", "dataloader", "data_loader", "train_loader"), data)
    return known | {
        "__name__": "__main__", "torch": torch, "nn": nn, "F": nn.functional, "optim": torch.optim, "np": np, "math": math,
        "random": random, "input": data[0][0], "target": data[0][1], "loss_fn": nn.CrossEntropyLoss(),
        "criterion": nn.CrossEntropyLoss(), "optimizer": torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9),
        "train": lambda *a: None, "validate": lambda *a: torch.tensor(0.5), "prune": torch.nn.utils.prune,
        "f": lambda x: x.sin().sum(), "fn": lambda x: x.sin().sum(), "x": torch.randn(3), "y": torch.randn(3)}


def said(torch: Any, sources: list[str]) -> list[tuple[str, str]]:
    """(what it printed, warnings and its value included, the exception) of each statement."""
    known = context(torch)
    torch.manual_seed(0)
    np.random.seed(0)
    random.seed(0)
    found = []
    for source in sources:
        out, error = io.StringIO(), ""

        def show(value: Any, out: Any = out) -> None:
            if value is not None:
                print(repr(value), file=out)

        sys.displayhook = show
        with contextlib.redirect_stdout(out), warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            try:
                exec(compile(source, "<example>", "single", dont_inherit=True), known)
            except TimeoutError:
                raise
            except BaseException as e:
                error = f"{type(e).__name__}: {e}"
        heard = [f"{w.category.__name__}: {w.message}" for w in caught if issubclass(w.category, (UserWarning, FutureWarning))]
        found.append((plain("\n".join([out.getvalue(), *heard])), error))
    return found


def plain(text: str) -> str:
    return re.sub(r" \(Triggered internally.*|0x[0-9a-f]+", "", text.replace("retrograd", "torch"))


def late(*_: Any) -> None:
    raise TimeoutError


def main(engine: str, file: str) -> None:
    torch = importlib.import_module(engine)
    sys.modules.setdefault("torch", torch)
    for name in ("nn.utils.prune", "distributions", "optim.lr_scheduler"):
        importlib.import_module(f"{engine}.{name}")
    torch.set_num_threads(1)
    signal.signal(signal.SIGALRM, late)
    found = {}
    for name, sources in json.loads(Path(file).read_text("utf-8")).items():
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            signal.alarm(SECONDS)
            try:
                found[name] = said(torch, sources)
            except TimeoutError:
                found[name] = []
            finally:
                signal.alarm(0)
        torch.set_default_dtype(torch.float32)
        torch.set_grad_enabled(True)
        torch.set_printoptions(profile="default")
    print(json.dumps(found), file=sys.__stdout__)


if __name__ == "__main__":
    os.environ.pop("PYTHONWARNINGS", None)
    main(*sys.argv[1:])
