"""Train a classifier of handwritten digits, hold both factors of every weight's gradient with hooks, save and resume.

    python examples/digits.py [--epochs 30] [--seed 0] [--checkpoint FILE]

A Linear's weight.grad is the outer product of delta, the gradient of its output, with a, its input. A forward hook
captures a, a full backward hook delta; after every step their product is compared with weight.grad. Halfway, the run is
saved, loaded into a new model and a new optimizer, and continued. With FILE, a checkpoint is written after every epoch;
if FILE exists, training resumes from it.

Every fifth digit is held out. Weights and batches come from NumPy, so replacing the retrograd import below with
`import torch` gives the same run. Data: data/README.md.
"""

from __future__ import annotations

import argparse
import gzip
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import retrograd as torch

# Shapes: N batch, I in, O out; 64 pixels, 10 classes
DATA = Path(__file__).with_name("data") / "digits.csv.gz"
BATCH = 32
LR = 0.05
MOMENTUM = 0.9
CLOSE = 1e-6

Tensor = Any
nn: Any = torch.nn


class Factors:
    """a (N, I) and delta (N, O) of every Linear of a model, captured by hooks and compared with the gradients."""

    def __init__(self, model: Any) -> None:
        self.layers = {name: m for name, m in model.named_modules() if isinstance(m, nn.Linear)}
        self.a: dict[Any, Tensor] = {}
        self.delta: dict[Any, Tensor] = {}
        self.norms: list[dict[str, float]] = []  # of delta, one entry a step
        self.errors: list[dict[str, float]] = []
        for layer in self.layers.values():
            layer.register_forward_hook(self.keep_a)
            layer.register_full_backward_hook(self.keep_delta)

    def keep_a(self, layer: Any, inputs: tuple[Tensor, ...], output: Tensor) -> None:
        self.a[layer] = inputs[0].detach()

    def keep_delta(self, layer: Any, grad_input: tuple[Tensor, ...], grad_output: tuple[Tensor, ...]) -> None:
        self.delta[layer] = grad_output[0]

    def compare(self) -> None:
        """After backward: the factors with weight.grad, which must be this step's."""
        norms, errors = {}, {}
        for name, layer in self.layers.items():
            delta = self.delta[layer]
            outer = delta.T @ self.a[layer]  # the sum over the batch of delta_n a_n'
            norms[name] = float(delta.norm())
            errors[name] = float((outer - layer.weight.grad).abs().max())
        self.norms.append(norms)
        self.errors.append(errors)


class Run:
    """A model, its optimizer, and how far they are."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        self.model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
        with torch.no_grad():
            for p in self.model.parameters():
                scale = (2 / p.shape[1]) ** 0.5 if p.dim() == 2 else 0.0
                p.copy_(torch.tensor(rng.standard_normal(tuple(p.shape)) * scale))
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=LR, momentum=MOMENTUM)
        self.factors = Factors(self.model)
        self.seed, self.epoch = seed, 0

    def save(self, path: Path) -> None:
        state = {"model": self.model.state_dict(), "optimizer": self.optimizer.state_dict()}
        torch.save(state | {"seed": self.seed, "epoch": self.epoch}, path)

    @classmethod
    def load(cls, path: Path) -> Run:
        state = torch.load(path)
        run = cls(state["seed"] + 1)  # other weights, so that only the file can make them right
        run.model.load_state_dict(state["model"])
        run.optimizer.load_state_dict(state["optimizer"])
        run.seed, run.epoch = state["seed"], state["epoch"]
        return run

    def train(self, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
        """One epoch -> the mean loss. The order of the digits follows from seed and epoch."""
        order = np.random.default_rng([self.seed, self.epoch]).permutation(len(y))
        losses = []
        for start in range(0, len(y), BATCH):
            rows = order[start : start + BATCH]
            batch = torch.tensor(x[rows], requires_grad=True)  # else the first layer's backward hook sees no input
            self.optimizer.zero_grad()
            loss = nn.functional.cross_entropy(self.model(batch), torch.tensor(y[rows]))
            loss.backward()
            self.factors.compare()
            self.optimizer.step()
            losses.append(loss.item())
        self.epoch += 1
        return statistics.fmean(losses)

    def scores(self, x: np.ndarray[Any, Any]) -> Tensor:
        with torch.no_grad():
            return self.model(torch.tensor(x))

    def accuracy(self, x: np.ndarray[Any, Any], y: np.ndarray[Any, Any]) -> float:
        return float((self.scores(x).argmax(1) == torch.tensor(y)).sum()) / len(y)


def digits() -> tuple[np.ndarray[Any, Any], ...]:
    """-> train x, train y, held-out x, held-out y; pixels scaled to 0..1"""
    with gzip.open(DATA, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float32)
    x, y = table[:, :-1] / np.float32(16), table[:, -1].astype(np.int64)
    held = np.arange(len(y)) % 5 == 0
    return x[~held], y[~held], x[held], y[held]


def train(run: Run, epochs: int, checkpoint: Path | None) -> Iterator[tuple[Run, str]]:
    """(the run, how it stands) after each epoch."""
    x, y, x_held, y_held = digits()
    half = run.epoch + (epochs - run.epoch) // 2
    while run.epoch < epochs:
        loss = run.train(x, y)
        if checkpoint is not None:
            run.save(checkpoint)
        yield run, f"loss {loss:.4f}  held-out accuracy {run.accuracy(x_held, y_held):.1%}"
        if run.epoch == half:
            with tempfile.TemporaryDirectory() as folder:
                path = checkpoint or Path(folder) / "digits.pt"
                run.save(path)
                resumed = Run.load(path)
            if not torch.equal(resumed.scores(x_held), run.scores(x_held)):
                raise RuntimeError("the model from the file gives other scores than the one that was saved")
            resumed.factors.norms, resumed.factors.errors = run.factors.norms, run.factors.errors
            run = resumed


def table_of(factors: Factors) -> Table:
    table = Table(title="delta and a, captured by hooks")
    for head in ("layer", "|delta|, first step", "last step", "delta'a - weight.grad"):
        table.add_column(head, justify="left" if head == "layer" else "right")
    for name, layer in factors.layers.items():
        norms = [step[name] for step in factors.norms]
        worst = max(step[name] for step in factors.errors)
        table.add_row(f"{name} {tuple(layer.weight.shape)}", f"{norms[0]:.4f}", f"{norms[-1]:.4f}", f"{worst:.1e}")
    return table


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--checkpoint", type=Path, metavar="FILE", help="write it after every epoch; resume from it")
    args = parser.parse_args(argv)
    if args.epochs < 1:
        parser.error("--epochs must be 1 or more")
    run = Run(args.seed)
    if args.checkpoint is not None and args.checkpoint.exists():
        run = Run.load(args.checkpoint)
        if run.epoch >= args.epochs:
            parser.error(f"{args.checkpoint} already has {run.epoch} epochs: ask for more with --epochs")
        print(f"resumed from {args.checkpoint} after epoch {run.epoch}")

    console = Console()
    state = ""
    first, start = run.epoch, time.perf_counter()
    # off a terminal the bar stays silent: a line now and then instead
    bar = Progress(
        TextColumn("epoch"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn(),
        console=console, disable=not console.is_terminal,
    )  # fmt: skip
    try:
        with bar:
            task = bar.add_task("", total=args.epochs, completed=first, state="")
            for latest, state in train(run, args.epochs, args.checkpoint):
                run, done = latest, latest.epoch
                bar.update(task, completed=done, state=state)
                if bar.disable and (done == first + 1 or done % 10 == 0 or done == args.epochs):
                    print(f"epoch {done}/{args.epochs}  {state}")
    except KeyboardInterrupt:
        print(f"interrupted after {run.epoch} of {args.epochs} epochs", file=sys.stderr)
        return 130

    took = time.perf_counter() - start
    print(f"held-out accuracy {state.rpartition(' ')[2]} ({run.epoch - first} epochs in {took:.1f} s)")
    if run.epoch - first > 1:
        print("saved halfway, loaded into a new model and optimizer (equal scores), resumed")
    console.print(table_of(run.factors))
    worst = max(max(step.values()) for step in run.factors.errors)
    if not worst <= CLOSE:
        print(f"delta'a differs from weight.grad by {worst:.1e}", file=sys.stderr)
        return 1
    print(f"weight.grad is delta'a in each of {len(run.factors.errors)} steps, to {CLOSE:g}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
