"""What recording a plan costs, in eager steps: `python -m benchmarks.recording`, written to results/recording.json.

first   the first plan of a process: modules are imported, code is read
later   another plan, of a new model
made    its first replay, which makes the program
stale   a call that no plan fits, as its batch has another size: when it comes again, it is recorded
once    a call that differs once, in a number that it reads
cold    an eager call at that place: behind others, not behind its like
replay  a replayed call
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

RESULT = Path(__file__).parent / "results" / "recording.json"
WORKS = ("mlp 4-16-16-1, Adam", "mlp 64-64-64-10, Adam", "transformer block, SGD", "mlp 784-512-512-10, Adam")
ROUNDS = 8


def make(name: str) -> Callable[[int, float], Any]:
    """-> step(batch, factor) of a new model."""
    import retrograd as torch
    from retrograd import nn

    torch.manual_seed(0)
    if "block" in name:
        model: Any = nn.TransformerEncoderLayer(32, 4, 64, dropout=0.0, batch_first=True)
        sizes, shape = [32, 32], (8, 32)
    else:
        sizes = [int(n) for n in name.split()[1].strip(",").split("-")]
        shape = (sizes[0],)
        layers = [x for a, b in zip(sizes, sizes[1:]) for x in (nn.Linear(a, b), nn.Tanh())]
        model = nn.Sequential(*layers[:-1])
    descent = (torch.optim.SGD if "SGD" in name else torch.optim.Adam)(model.parameters(), 1e-3)
    batches = {n: torch.randn(n, *shape) for n in (1, 2, 16, 17, 32, 33, 128, 129)}

    def step(batch: int, factor: float) -> Any:
        descent.zero_grad()
        loss = (model(batches[batch]) * factor).square().mean()
        loss.backward()
        descent.step()
        return loss
    return step


def measure(name: str) -> dict[str, float]:
    """In eager steps, but for `eager`, in microseconds."""
    import gc

    import retrograd as torch

    batch = {"4": 1, "6": 32, "b": 16, "7": 128}[name.removeprefix("mlp ").removeprefix("transformer ")[0]]
    found: dict[str, list[float]] = {key: [] for key in ("eager", "later", "made", "stale", "once", "cold", "replay")}

    def timed(key: str, f: Callable[..., Any], *args: Any) -> None:
        start = time.perf_counter()
        f(*args)
        found.setdefault(key, []).append(time.perf_counter() - start)

    for turn in range(ROUNDS + 1):
        step = make(name)
        for _ in range(3):
            step(batch, 1.0)
            step(batch + 1, 1.0)
        gc.collect()                            # not right before the call: that would empty the interpreter's free lists
        for _ in range(20):
            timed("eager", step, batch, 1.0)
        fast = torch.compile(step, options={"python": "skip", "check": 0})
        timed("later" if turn else "first", fast, batch, 1.0)
        timed("made", fast, batch, 1.0)
        for key, f, more, factor in (("cold", step, 0, 3.0), ("once", fast, 0, 2.0), ("stale", fast, 1, 1.0)):
            for _ in range(10):
                timed("replay", fast, batch, 1.0)
            timed(key, f, batch + more, factor)
    eager = min(found.pop("eager"))
    return {"eager": round(eager * 1e6, 1), **{key: round(min(times) / eager, 2) for key, times in found.items()}}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", default=sys.executable, help="of an environment with a compiled retrograd")
    python = parser.parse_args().python
    rows = {}
    for name in WORKS:
        code = f"import json; from benchmarks.recording import measure; print(json.dumps(measure({name!r})))"
        done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True, cwd=RESULT.parents[2])
        rows[name] = json.loads(done.stdout)
        print(name, rows[name], flush=True)
    RESULT.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
