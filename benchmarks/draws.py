"""Random draws at 64 and at 64 K numbers, beside PyTorch, which draws the same ones: `python -m benchmarks.draws [RESULT.md]`.

float32, one thread, the engines in turn, medians of 41 calls.
"""

from __future__ import annotations

import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

SIZES = (64, 65536)
TURNS = 41
WHY = ("At 64 numbers PyTorch takes 1.4 to 3 us. Here normals are eight NumPy calls of 0.5 us (logarithm, root, sine, cosine, "
       "products); in-place draws check bounds in Python and copy what was drawn.")
DRAWS: dict[str, Callable[[Any, int], Any]] = {
    "rand": lambda torch, n: torch.rand(n), "randn": lambda torch, n: torch.randn(n),
    "randint": lambda torch, n: torch.randint(0, 10, (n,)), "randperm": lambda torch, n: torch.randperm(n),
    "uniform_": lambda torch, n: torch.empty(n).uniform_(-1, 1), "normal_": lambda torch, n: torch.empty(n).normal_(1, 2),
    "bernoulli_": lambda torch, n: torch.empty(n).bernoulli_(0.3), "exponential_": lambda torch, n: torch.empty(n).exponential_(),
    "F.dropout": lambda torch, n: torch.nn.functional.dropout(torch.ones(n), 0.3),
    "poisson": lambda torch, n: torch.poisson(torch.ones(n) * 5),
    "multinomial": lambda torch, n: torch.multinomial(torch.ones(n), 3),
}


def pair(real: Any, ours: Any, draw: Callable[[Any, int], Any], n: int) -> tuple[float, float]:
    """Microseconds of PyTorch and of retrograd."""
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for torch, found in zip((real, ours), times):
            begin = time.perf_counter()
            draw(torch, n)
            found.append(1e6 * (time.perf_counter() - begin))
    return statistics.median(times[0]), statistics.median(times[1])


def main() -> None:
    import torch

    import retrograd
    torch.set_num_threads(1)
    lines = ["# Random draws", "", "Microseconds, by `python -m benchmarks.draws`; ratios of retrograd's to PyTorch's.", "",
             "| draw | PyTorch, 64 | retrograd | ratio | PyTorch, 64 K | retrograd | ratio |", "|---|---|---|---|---|---|---|"]
    for name, draw in DRAWS.items():
        cells = []
        for n in SIZES:
            a, b = pair(torch, retrograd, draw, n)
            cells += [f"{a:.1f}", f"{b:.1f}", f"{b / a:.2f}"]
        lines.append(f"| `{name}` | " + " | ".join(cells) + " |")
    text = "\n".join([*lines, "", WHY, ""])
    print(text)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
