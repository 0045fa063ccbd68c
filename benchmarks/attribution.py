"""Attributions and their proof: every method on two tasks, beside retrainings; and what a metagradient costs.

    python -m benchmarks.attribution [RESULT.json] [--engine retrograd] [--subsets 100] [--workers 2]

digits      an MLP of 2,410 weights, 300 steps of SGD with momentum on 1,437 images; the losses of 20 others
characters  a two-layer transformer of 12,525 weights, 150 steps of AdamW on 142 windows of a poem; the losses of 10 others
Time of a metagradient (one number, all samples) over that of the training, medians of rounds in turns; its distance from
central differences, of trainings in float64 with one weight changed by 1e-4, relative to the largest.
"""

from __future__ import annotations

import argparse
import gzip
import importlib
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from retrograd import microscope

from .machine import machine

DATA = Path(__file__).resolve().parent.parent / "examples" / "data"
RESULTS = Path(__file__).resolve().parent / "results" / "attribution.json"
LEFT_OUT = (0.01, 0.05)


class Task:
    """train, evaluate and losses, as microscope.attributions takes them; `number` is the mean of what evaluate gives."""

    def __init__(self, torch: Any, dtype: str = "float32") -> None:
        self.torch, self.dtype = torch, getattr(torch, dtype)
        self.prepare()

    def prepare(self) -> None:
        raise NotImplementedError

    def losses(self, model: Any, i: Any) -> Any:
        raise NotImplementedError

    def train(self, steps: Any, weight: Any) -> Any:
        raise NotImplementedError

    def evaluate(self, model: Any) -> Any:
        raise NotImplementedError

    def number(self, model: Any) -> Any:
        return self.evaluate(model).mean()

    def loop(self, steps: Any, weight: Any, model: Any, optimizer: Any, batch: int, count: int) -> Any:
        torch, N = self.torch, len(weight)
        order = torch.cat([torch.randperm(N) for _ in range(batch * count // N + 1)]).split(batch)[:count]
        for i in steps(order, model, optimizer):
            optimizer.zero_grad()
            (self.losses(model, i) * weight[i]).mean().backward()
            optimizer.step()
        return model


class Digits(Task):
    def prepare(self) -> None:
        torch = self.torch
        with gzip.open(DATA / "digits.csv.gz") as file:
            rows = np.loadtxt(file, delimiter=",")
        x, y = torch.tensor(rows[:, :64] / 16).to(self.dtype), torch.tensor(rows[:, 64].astype(int))
        held = torch.arange(len(x)) % 5 == 0
        self.seen, self.wanted = x[held][:20], y[held][:20]
        self.x, self.y = x[~held], y[~held]
        self.count = len(self.x)

    def losses(self, model: Any, i: Any) -> Any:
        return self.torch.nn.functional.cross_entropy(model(self.x[i]), self.y[i], reduction="none")

    def train(self, steps: Any, weight: Any) -> Any:
        torch, nn = self.torch, self.torch.nn
        torch.manual_seed(0)
        model = nn.Sequential(nn.Linear(64, 32), nn.Tanh(), nn.Linear(32, 10)).to(self.dtype)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
        return self.loop(steps, weight, model, optimizer, 64, 300)

    def evaluate(self, model: Any) -> Any:
        return self.torch.nn.functional.cross_entropy(model(self.seen), self.wanted, reduction="none")


class Characters(Task):
    width, length = 24, 24

    def prepare(self) -> None:
        torch = self.torch
        poem = (DATA / "jabberwocky.txt").read_text(encoding="utf-8")
        letters = sorted(set(poem))
        codes = torch.tensor([letters.index(c) for c in poem])
        windows = torch.stack([codes[n:n + self.length + 1] for n in range(0, len(codes) - self.length, 6)])
        held = torch.arange(len(windows)) % 15 == 7
        self.text, self.seen = windows[~held], windows[held][:10]
        self.count, self.letters = len(self.text), len(letters)

    def of(self, model: Any, text: Any) -> Any:
        out = model(text[:, :-1])
        each = self.torch.nn.functional.cross_entropy(out.flatten(0, 1), text[:, 1:].flatten(), reduction="none")
        return each.reshape(len(text), -1).mean(1)

    def losses(self, model: Any, i: Any) -> Any:
        return self.of(model, self.text[i])

    def train(self, steps: Any, weight: Any) -> Any:
        torch, nn, width, length, letters = self.torch, self.torch.nn, self.width, self.length, self.letters

        class Model(nn.Module):  # type: ignore[misc, name-defined]
            def __init__(self) -> None:
                super().__init__()
                self.letter = nn.Embedding(letters, width)
                self.place = nn.Parameter(torch.randn(length, width) * 0.1)
                self.layers = nn.ModuleList([nn.TransformerEncoderLayer(
                    width, 4, 2 * width, dropout=0.0, batch_first=True, norm_first=True, activation="gelu") for _ in range(2)])
                self.out = nn.Linear(width, letters)
                self.unseen = torch.ones(length, length, dtype=torch.bool).triu(1)

            def forward(self, x: Any) -> Any:
                h = self.letter(x) + self.place
                for layer in self.layers:
                    h = layer(h, src_mask=self.unseen)
                return self.out(h)

        torch.manual_seed(0)
        model = Model().to(self.dtype)
        optimizer = torch.optim.AdamW(model.parameters(), lr=3e-3, eps=1e-3)
        return self.loop(steps, weight, model, optimizer, 32, 150)

    def evaluate(self, model: Any) -> Any:
        return self.of(model, self.seen)


TASKS: dict[str, type[Task]] = {"digits": Digits, "characters": Characters}


def seconds(call: Callable[[], Any]) -> float:
    begin = time.perf_counter()
    call()
    return time.perf_counter() - begin


def cost(torch: Any, kind: type[Task], rounds: int) -> dict[str, Any]:
    task = kind(torch)
    weight = torch.ones(task.count)

    def back() -> Any:
        return microscope.metagradient(task.train, task.number, {"weight": weight}, smoothness=0)

    pairs = [(seconds(lambda: task.train(microscope.Steps(), weight)), seconds(back)) for _ in range(rounds)]
    checked = microscope.metagradient(task.train, task.number, {"weight": weight})
    exact = kind(torch, "float64")
    ones = torch.ones(task.count).double()
    found = microscope.metagradient(exact.train, exact.number, {"weight": ones}, smoothness=0)["weight"]
    places = [*found.abs().argsort()[-10:].tolist(), *range(0, task.count, task.count // 10)]
    told = []
    for n in places:
        ends = []
        for way in (1e-4, -1e-4):
            moved = ones.clone()
            moved[n] += way
            ends.append(float(exact.number(exact.train(microscope.Steps(), moved)).detach()))
        told.append((ends[0] - ends[1]) / 2e-4)
    largest = max(map(abs, told))
    return {
        "training_seconds": statistics.median(a for a, _ in pairs),
        "metagradient_seconds": statistics.median(b for _, b in pairs),
        "times_the_training": statistics.median(b / a for a, b in pairs),
        "smoothness": checked.smoothness, "error": checked.error,
        "float64_from_differences": max(abs(found[n].item() - want) for n, want in zip(places, told)) / largest,
        "float32_from_differences": max(abs(checked["weight"][n].item() - want) for n, want in zip(places, told)) / largest}


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.attribution", description=__doc__.partition("\n")[0])
    parser.add_argument("result", nargs="?", type=Path, default=RESULTS)
    parser.add_argument("--engine", default="retrograd")
    parser.add_argument("--only", default=",".join(TASKS))
    parser.add_argument("--subsets", type=int, default=100)
    parser.add_argument("--workers", type=int, default=None)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    torch = importlib.import_module(given.engine)
    torch.set_num_threads(1)
    rows: dict[str, Any] = {"machine": machine(), "engine": given.engine, "subsets": given.subsets}
    for name in given.only.split(","):
        task = TASKS[name](torch)
        weight = torch.ones(task.count)
        row = rows[name] = cost(torch, TASKS[name], given.rounds)
        print(name, {k: f"{v:.3g}" for k, v in row.items()}, flush=True)
        scores = microscope.attributions(task.train, task.evaluate, task.losses, weight)
        row["seconds"] = {k: round(s, 3) for k, s in scores.seconds.items()}
        row["left_out"] = {}
        for share in LEFT_OUT:
            found = microscope.validate(scores, task.train, task.evaluate, weight, subsets=given.subsets, leave_out=share,
                                        workers=given.workers)
            row["left_out"][str(share)] = {"lds": {k: [round(x, 3) for x in c] for k, c in found.lds.items()},
                                           "retraining_seconds": round(found.seconds, 1)}
            row["brittleness"] = {k: [[n, round(x, 4)] for n, x in line] for k, line in found.brittleness.items()}
            print(f"{name}, {share:.0%} left out\n{found}", flush=True)
    given.result.write_text(json.dumps(rows, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
