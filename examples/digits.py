"""Train a small classifier on 1,797 handwritten digits and watch its gradients with tensor hooks.

    python examples/digits.py [--epochs 30] [--seed 0]

Every fifth digit is held out. Weights and batches come from NumPy, so `import torch` in place of the retrograd
import below gives the same run. Data: data/README.md.
"""

from __future__ import annotations

import argparse
import gzip
import itertools
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.table import Table

import retrograd as torch

# Shapes: N batch, I = 64 pixels, H hidden, O = 10 classes
DATA = Path(__file__).with_name("data") / "digits.csv.gz"
SIZES = (64, 128, 64, 10)
LAYERS = ("hidden", "weight1", "weight2", "weight3")  # of "hidden", the gradient of the first layer's activation
BATCH = 32
LR = 0.05
MOMENTUM = 0.9

Tensor = Any
F = torch.nn.functional


class Norms:
    """Gradient norms by layer: one number per backward pass, closed into one mean per epoch."""

    def __init__(self) -> None:
        self.steps: dict[str, list[float]] = {name: [] for name in LAYERS}
        self.epochs: dict[str, list[float]] = {name: [] for name in LAYERS}

    def hook(self, name: str) -> Callable[[Tensor], None]:
        """A tensor hook. It returns None, so the gradient passes unchanged."""
        steps = self.steps[name]

        def log(grad: Tensor) -> None:
            steps.append(float((grad * grad).sum()) ** 0.5)

        return log

    def close_epoch(self) -> None:
        for name, steps in self.steps.items():
            self.epochs[name].append(statistics.fmean(steps))
            steps.clear()


class Classifier:
    """64-128-64-10 perceptron of plain tensors."""

    def __init__(self, rng: np.random.Generator, norms: Norms) -> None:
        self.norms = norms
        self.weights: list[Tensor] = []
        self.biases: list[Tensor] = []
        for i, o in itertools.pairwise(SIZES):
            w = rng.standard_normal((o, i)) * (2 / i) ** 0.5
            self.weights.append(torch.tensor(w.astype(np.float32), requires_grad=True))
            self.biases.append(torch.zeros(o, requires_grad=True))
        for number, weight in enumerate(self.weights, 1):
            weight.register_hook(norms.hook(f"weight{number}"))
        self.params = self.weights + self.biases
        self.speeds = [torch.zeros_like(p) for p in self.params]

    def forward(self, x: Tensor) -> Tensor:
        """x (N, I) -> scores (N, O)"""
        x = F.relu(F.linear(x, self.weights[0], self.biases[0]))
        if x.requires_grad:
            x.register_hook(self.norms.hook("hidden"))
        x = F.relu(F.linear(x, self.weights[1], self.biases[1]))
        return F.linear(x, self.weights[2], self.biases[2])

    def step(self, x: Tensor, y: Tensor) -> float:
        """One step of gradient descent with momentum -> the loss before it."""
        loss = F.cross_entropy(self.forward(x), y)
        loss.backward()
        with torch.no_grad():
            for p, speed in zip(self.params, self.speeds, strict=True):
                speed.mul_(MOMENTUM).add_(p.grad)
                p.sub_(LR * speed)
                p.grad = None
        return loss.item()

    def accuracy(self, x: Tensor, y: Tensor) -> float:
        with torch.no_grad():
            return float((self.forward(x).argmax(1) == y).sum()) / len(y)


def load() -> tuple[np.ndarray[Any, Any], ...]:
    """-> train x, train y, held-out x, held-out y; pixels scaled to 0..1. Every fifth digit is held out."""
    with gzip.open(DATA, "rt") as lines:
        table = np.loadtxt(lines, delimiter=",", dtype=np.float32)
    x, y = table[:, :-1] / np.float32(16), table[:, -1].astype(np.int64)
    held = np.arange(len(y)) % 5 == 0
    return x[~held], y[~held], x[held], y[held]


def train(epochs: int, seed: int, norms: Norms) -> Iterator[tuple[float, float]]:
    """Yields (mean loss, held-out accuracy) after each epoch."""
    x, y, x_held, y_held = load()
    x_test, y_test = torch.tensor(x_held), torch.tensor(y_held)
    rng = np.random.default_rng(seed)
    model = Classifier(rng, norms)
    for _ in range(epochs):
        order = rng.permutation(len(y))
        losses = []
        for start in range(0, len(y), BATCH):
            rows = order[start : start + BATCH]
            losses.append(model.step(torch.tensor(x[rows]), torch.tensor(y[rows])))
        norms.close_epoch()
        yield statistics.fmean(losses), model.accuracy(x_test, y_test)


def table_of(norms: Norms) -> Table:
    table = Table(title="gradient norms (mean over the steps of an epoch)")
    table.add_column("layer")
    for head in ("first epoch", "median epoch", "last epoch"):
        table.add_column(head, justify="right")
    for name, values in norms.epochs.items():
        table.add_row(name, *(f"{v:.4f}" for v in (values[0], statistics.median(values), values[-1])))
    return table


def main(argv: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--epochs", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)
    if args.epochs < 1:
        parser.error("--epochs must be 1 or more")

    console = Console()
    norms = Norms()
    done, accuracy = 0, 0.0
    start = time.perf_counter()
    # off a terminal the bar stays silent: a line now and then instead
    bar = Progress(
        TextColumn("epoch"), MofNCompleteColumn(), BarColumn(), TextColumn("{task.fields[state]}"), TimeElapsedColumn(),
        console=console, disable=not console.is_terminal,
    )  # fmt: skip
    try:
        with bar:
            task = bar.add_task("", total=args.epochs, state="")
            for loss, accuracy in train(args.epochs, args.seed, norms):
                done += 1
                state = f"loss {loss:.4f}  held-out accuracy {accuracy:.1%}"
                bar.update(task, advance=1, state=state)
                if bar.disable and (done == 1 or done % 10 == 0 or done == args.epochs):
                    print(f"epoch {done}/{args.epochs}  {state}")
    except KeyboardInterrupt:
        print(f"interrupted after {done} of {args.epochs} epochs", file=sys.stderr)
        return 130

    print(f"held-out accuracy {accuracy:.2%} ({args.epochs} epochs in {time.perf_counter() - start:.1f} s)")
    console.print(table_of(norms))
    return 0


if __name__ == "__main__":
    sys.exit(main())
