"""The microscope on PyTorch models: time and memory of a step with it, over the bare step.

    python -m benchmarks.microscope [RESULT.json] [--steps 60] [--only norms,clip]

One thread.  Bare and watched steps alternate in one process; ratios are of medians of process CPU time (the machine may be
shared) and of wall time.  Peak memory: live tensor bytes inside a step, from the profiler's allocation events.  The
same models, batches and measure as the figures of the other libraries in BESIDE, which were taken with theirs.  For tasks in
LEAN there is a second figure, of a step in which backward does not compute the weights' own gradients.
"""

from __future__ import annotations

import argparse
import gc
import json
import math
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

# task -> (target MLP, target transformer, what the best other library needs)
BESIDE = {
    "capture": (1.15, 1.05, "nnsight 1.11 / 1.12, dattri 1.15 / 1.11, two hooks per layer 1.39 / 1.19"),
    "norms": (1.35, 1.35, "Opacus ghost 1.73 / 1.90; BackPACK 1.40 / 1.87 for 27 of 37 parameters"),
    "clip": (1.75, 1.50, "Opacus ghost clipping 2.24 / 2.57, fastDP 2.71 / 2.46"),
    "dots": (1.50, 1.60, "none"),
    "kfac": (1.70, 1.55, "kronfluence 1.67 / 1.55 without weight gradients"),
    "per_sample": (27.0, 1.40, "vmap(grad) 27.3 / 1.40 with 328 / 36 MB, BackPACK 28.7 / 1.58 with 330 / 19.5 MB"),
}


# What is no less without the sum that backward would put into .grad: capture(weight_grads=False)
LEAN = ("capture", "norms", "clip", "dots", "per_sample")


def models(torch: Any) -> dict[str, Any]:
    """kind -> (model, input, target)"""
    nn = torch.nn

    class Block(nn.Module):  # type: ignore[misc]
        def __init__(self, D: int, heads: int) -> None:
            super().__init__()
            self.heads = heads
            self.ln1, self.ln2 = nn.LayerNorm(D), nn.LayerNorm(D)
            self.q, self.k, self.v, self.o = (nn.Linear(D, D) for _ in range(4))
            self.up, self.down, self.act = nn.Linear(D, 4 * D), nn.Linear(4 * D, D), nn.GELU()

        def forward(self, x: Any) -> Any:
            B, T, D = x.shape
            y = self.ln1(x)
            q, k, v = (m(y).view(B, T, self.heads, -1).transpose(1, 2) for m in (self.q, self.k, self.v))
            weights = (q @ k.transpose(-2, -1) / math.sqrt(D // self.heads)).softmax(-1)
            x = x + self.o((weights @ v).transpose(1, 2).reshape(B, T, D))
            return x + self.down(self.act(self.up(self.ln2(x))))

    class Transformer(nn.Module):  # type: ignore[misc]
        def __init__(self, V: int = 256, T: int = 64, D: int = 128) -> None:
            super().__init__()
            self.tok, self.pos = nn.Embedding(V, D), nn.Embedding(T, D)
            self.blocks = nn.Sequential(Block(D, 4), Block(D, 4))
            self.lnf, self.head = nn.LayerNorm(D), nn.Linear(D, V, bias=False)

        def forward(self, ids: Any) -> Any:
            places = torch.arange(ids.shape[1]).expand(ids.shape).contiguous()
            return self.head(self.lnf(self.blocks(self.tok(ids) + self.pos(places))))

    torch.manual_seed(0)
    mlp = nn.Sequential(nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 10))
    return {
        "MLP": (mlp, torch.randn(128, 784), torch.randint(0, 10, (128,))),
        "transformer": (Transformer(), torch.randint(0, 256, (8, 64)), torch.randint(0, 256, (8, 64))),
    }


def loss_of(torch: Any, out: Any, y: Any) -> Any:
    return torch.nn.functional.cross_entropy(out.reshape(-1, out.shape[-1]), y.reshape(-1))


def bare(torch: Any, model: Any, x: Any, y: Any) -> Any:
    def step() -> None:
        model.zero_grad(set_to_none=True)
        loss_of(torch, model(x), y).backward()
    return step


def watched(torch: Any, model: Any, x: Any, y: Any, task: str, weight_grads: bool = True) -> Any:
    from retrograd.microscope import KFAC, capture
    cap = capture(model, weight_grads=weight_grads)
    curvature: Any = None

    def step() -> Any:
        nonlocal curvature
        model.zero_grad(set_to_none=True)
        with cap:
            loss_of(torch, model(x), y).backward()
        if task == "capture":
            return None
        grads = cap.grads()
        if task == "kfac":
            curvature = curvature or KFAC()
            return curvature.update(grads.select(layers=linear))
        return grads.clip(1.0) if task == "clip" else getattr(grads, task)()
    linear = [name for name, m in model.named_modules() if isinstance(m, torch.nn.Linear)]
    step()                                      # the checked one
    assert cap.coverage().complete and max(cap.check().values()) < 1e-4
    return step


def ratios(first: Any, second: Any, steps: int) -> tuple[float, float, float]:
    """(CPU, wall) ratios of medians, and the first's median CPU time in ms."""
    for _ in range(4):
        first()
        second()
    gc.collect()
    cpu: tuple[list[float], list[float]] = ([], [])
    wall: tuple[list[float], list[float]] = ([], [])
    for _ in range(steps):
        for i, step in enumerate((first, second)):
            w, c = time.perf_counter(), time.process_time()
            step()
            cpu[i].append(time.process_time() - c)
            wall[i].append(time.perf_counter() - w)
    a, b = (statistics.median(t) for t in cpu)
    return b / a, statistics.median(wall[1]) / statistics.median(wall[0]), a * 1e3


def peak(torch: Any, step: Any) -> float:
    """Most live tensor megabytes inside a step."""
    from torch.profiler import ProfilerActivity, profile
    gc.collect()
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as seen:
        step()
    events: list[tuple[int, int]] = []

    def walk(nodes: Any) -> None:
        for e in nodes:
            if e.tag == torch._C._profiler._EventType.Allocation:
                events.append((e.start_time_ns, e.extra_fields.alloc_size))
            walk(e.children)
    walk(seen.profiler.kineto_results.experimental_event_tree())
    live = most = 0
    for _, size in sorted(events):
        live += size
        most = max(most, live)
    return most / 2**20


def lazy(torch: Any, model: Any, x: Any, y: Any) -> dict[str, float]:
    """Megabytes of the factors of all weights, and of their per-sample gradients."""
    from retrograd.microscope import capture
    with capture(model) as cap:
        loss_of(torch, model(x), y).backward()
    grads = cap.grads()
    factors = dense = 0
    held: dict[int, int] = {}
    for name in grads.names:
        shape = next(p.shape for p in cap.params if p.name == name)
        dense += len(grads) * math.prod(shape)
        if cap.coverage()[name].status == "factors" and name.endswith("weight"):
            for use in cap.uses(name.rpartition(".")[0]):
                for t in (*use.a, use.delta):
                    held[t.data_ptr()] = t.numel() * t.element_size()
    factors = sum(held.values())
    return {"factors_mb": factors / 2**20, "per_sample_mb": dense * 4 / 2**20, "times_less": dense * 4 / factors}


def store(torch: Any, model: Any, x: Any, y: Any, steps: int = 40) -> dict[str, float]:
    """Writing speed of a FactorStore, and the time to read one sample of one layer."""
    from retrograd.microscope import FactorStore, capture
    with capture(model) as cap:
        loss_of(torch, model(x), y).backward()
    grads = cap.grads()
    linear = [name for name, m in model.named_modules() if isinstance(m, torch.nn.Linear)]
    grads = grads.select(layers=[name + ".weight" for name in linear])
    with tempfile.TemporaryDirectory() as folder:
        begin = time.perf_counter()
        with FactorStore(folder) as out:
            written = sum(out.append(grads, step) for step in range(steps))
        seconds = time.perf_counter() - begin
        found = FactorStore(folder, "r")
        name = linear[-1] + ".weight"
        found.read(name, 0, 0)
        times = []
        for step in range(steps):
            begin = time.perf_counter()
            found.read(name, 3, step)
            times.append(time.perf_counter() - begin)
        found.close()
    return {"write_mb_per_s": written / 2**20 / seconds, "mb": written / 2**20, "read_sample_ms": statistics.median(times) * 1e3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("result", nargs="?", help="file for the figures, as JSON")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--only", default=",".join(BESIDE), help="tasks, with commas between")
    options = parser.parse_args()
    import torch
    torch.set_num_threads(1)
    from .machine import machine
    figures: dict[str, Any] = {"machine": machine(), "torch": torch.__version__, "steps": options.steps, "tasks": {}}
    for task in options.only.split(","):
        row: dict[str, Any] = {}
        for kind, (model, x, y) in models(torch).items():
            plain, ours = bare(torch, model, x, y), watched(torch, model, x, y, task)
            few = max(3, options.steps // 15) if task == "per_sample" and kind == "MLP" else options.steps
            cpu, wall, ms = ratios(plain, ours, few)
            lean = watched(torch, model, x, y, task, weight_grads=False)
            row[kind] = {"cpu_without_weight_grads": round(ratios(plain, lean, few)[0], 3)} if task in LEAN else {}
            row[kind] |= {"cpu": round(cpu, 3), "wall": round(wall, 3), "bare_ms": round(ms, 2),
                         "peak_mb": round(peak(torch, ours), 1), "bare_peak_mb": round(peak(torch, plain), 1)}
        goal = BESIDE[task]
        row |= {"goal": {"MLP": goal[0], "transformer": goal[1]}, "others": goal[2]}
        figures["tasks"][task] = row
        less = "  without .grad x" + " / ".join(
            f"{row[kind]['cpu_without_weight_grads']:.2f}" for kind in ("MLP", "transformer")) if task in LEAN else ""
        print(f"{task:10}  MLP x{row['MLP']['cpu']:.2f} (goal {goal[0]})  transformer x{row['transformer']['cpu']:.2f} "
              f"(goal {goal[1]}){less}  peak {row['MLP']['peak_mb']} / {row['transformer']['peak_mb']} MB   others: {goal[2]}",
              flush=True)
    everything = models(torch)
    figures["lazy"] = {kind: lazy(torch, *parts) for kind, parts in everything.items()}
    figures["store"] = store(torch, *everything["transformer"])
    print("lazy", figures["lazy"], "\nstore", figures["store"])
    if options.result:
        Path(options.result).write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
