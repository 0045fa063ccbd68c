"""What recording costs: a step with the recorder over the same step without.

    python -m benchmarks.recorder [--engines torch,retrograd] [--works mlp,transformer] [--rounds 40] [--steps 1] [--save FILE]

full: everything, with norms.  hooks: hook events and steps alone, over the same step with the same hooks; hooks-norms: with
statistics of what each hook saw.  watch: every tenth step looked at.  flight: the flight recorder, with --steps 50 (its block
begins and ends once in a training).

The models are those of the comparison with other tools: an MLP 784-512-512-10 of 128 rows, and a transformer of 2 layers, 4
heads, d = 128, 8 x 64 tokens.  One thread.  Bare and recorded steps alternate in one process; the ratio is that of the
medians of process time, and its spread that of three such measurements.  Memory is what the recording holds, per event.
"""
from __future__ import annotations

import argparse
import gc
import json
import math
import os
import statistics
import sys
import time
import tracemalloc
from collections.abc import Callable
from typing import Any

Step = Callable[[], Any]


def mlp(torch: Any) -> tuple[Any, Any, Any]:
    nn = torch.nn
    model = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return model, torch.randn(128, 784), torch.randint(0, 10, (128,))


def transformer(torch: Any) -> tuple[Any, Any, Any]:
    nn = torch.nn
    V, T, D, H = 256, 64, 128, 4

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
            self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
            self.up, self.down, self.act = nn.Linear(D, 4 * D), nn.Linear(4 * D, D), nn.GELU()

        def forward(self, x: Any) -> Any:
            B, T, D = x.shape
            y = self.ln1(x)
            q, k, v = (m(y).view(B, T, H, D // H).transpose(1, 2) for m in (self.q, self.k, self.v))
            att = (q @ k.transpose(-2, -1) / math.sqrt(D // H)).softmax(-1)
            x = x + self.o((att @ v).transpose(1, 2).reshape(B, T, D))
            return x + self.down(self.act(self.up(self.ln2(x))))

    class Transformer(nn.Module):  # type: ignore[misc]
        def __init__(self) -> None:
            super().__init__()
            self.tok, self.pos = nn.Embedding(V, D), nn.Embedding(T, D)
            self.blocks = nn.Sequential(Block(), Block())
            self.lnf, self.head = nn.LayerNorm(D), nn.Linear(D, V, bias=False)

        def forward(self, idx: Any) -> Any:
            p = torch.arange(idx.shape[1]).expand(idx.shape)
            return self.head(self.lnf(self.blocks(self.tok(idx) + self.pos(p))))

    return Transformer(), torch.randint(0, V, (8, T)), torch.randint(0, V, (8, T))


WORKS = {"mlp": mlp, "transformer": transformer}


def with_hooks(torch: Any, model: Any) -> None:
    """Four hooks on every Linear, as users have them."""
    for layer in model.modules():
        if isinstance(layer, torch.nn.Linear):
            layer.register_forward_hook(lambda *a: None)
            layer.register_full_backward_hook(lambda m, gi, go: None)
            layer.weight.register_hook(lambda g: g * 1.0)
            layer.weight.register_post_accumulate_grad_hook(lambda p: None)


def make(torch: Any, work: str, what: str, steps: int = 1) -> tuple[Step, Step, list[Any]]:
    """Bare steps, the same steps watched, and a list that gets what the watched ones made."""
    from retrograd import microscope

    torch.manual_seed(0)
    model, x, y = WORKS[work](torch)
    if what.startswith("hooks"):
        with_hooks(torch, model)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3) if what in ("watch", "flight") else None
    made: list[Any] = []

    def bare() -> None:
        for _ in range(steps):
            step()

    def step() -> None:
        model.zero_grad(set_to_none=True)
        out = model(x)
        torch.nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1)).backward()
        if optimizer is not None:
            optimizer.step()

    watches: list[Any] = []

    def watched() -> None:
        made.clear()
        if what == "watch":
            watches.append(microscope.watch(model)) if not watches else None
            watches[0].resume()
            bare()
            watches[0].pause()
            return
        if what == "flight":
            with microscope.flight(model, path=os.devnull):
                bare()
            return
        more = {} if what == "full" else {"ops": False, "nodes": False, "norms": what == "hooks-norms"}
        with microscope.record(model, **more) as rec:
            bare()
        made.append(rec)

    return bare, watched, made


def ratio(a: Step, b: Step, rounds: int) -> tuple[float, float]:
    """Median seconds of process time of a, and the ratio of b's to it."""
    clock = time.process_time
    for _ in range(5):
        a(), b()
    ta, tb = [], []
    gc.collect()
    for _ in range(rounds):
        t = clock()
        a()
        u = clock()
        b()
        ta.append(u - t)
        tb.append(clock() - u)
    return statistics.median(ta), statistics.median(tb) / statistics.median(ta)


def bytes_per_event(watched: Step, made: list[Any]) -> float:
    """Bytes that a recording holds, by event."""
    tracemalloc.start()
    watched()                                   # its gradients stay, and are traced, too
    made.clear()
    gc.collect()
    before = tracemalloc.get_traced_memory()[0]
    watched()
    rec = made.pop()
    rec.live = None
    gc.collect()
    held = tracemalloc.get_traced_memory()[0] - before
    tracemalloc.stop()
    return held / max(len(rec), 1)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--engines", default="torch,retrograd")
    parser.add_argument("--works", default="mlp,transformer")
    parser.add_argument("--whats", default="full,hooks,hooks-norms,watch,flight")
    parser.add_argument("--rounds", type=int, default=40)
    parser.add_argument("--steps", type=int, default=1, help="steps in one recording")
    parser.add_argument("--save")
    found = parser.parse_args(arguments)
    rows = []
    for name in found.engines.split(","):
        torch = __import__(name)
        torch.set_num_threads(1)
        for work in found.works.split(","):
            for what in found.whats.split(","):
                bare, watched, made = make(torch, work, what, found.steps)
                measured = sorted(ratio(bare, watched, found.rounds) for _ in range(3))
                ratios = sorted(r for _, r in measured)
                row = {"engine": name, "work": work, "what": what, "steps": found.steps,
                       "bare_ms": round(1e3 * measured[1][0] / found.steps, 3),
                       "ratio": round(ratios[1], 3), "least": round(ratios[0], 3), "greatest": round(ratios[2], 3)}
                if what not in ("watch", "flight"):
                    watched()
                    row["events"] = len(made[0])
                    row["bytes_per_event"] = round(bytes_per_event(watched, made))
                rows.append(row)
                print(json.dumps(row), flush=True)
    if found.save:
        import platform
        with open(found.save, "w", encoding="utf-8") as file:
            json.dump({"machine": platform.processor() or platform.machine(), "python": sys.version.split()[0],
                       "rows": rows}, file, indent=1)
    return 0


if __name__ == "__main__":
    sys.exit(main())
