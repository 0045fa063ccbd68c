"""Every operation of the table in tests/opdb at 64 and at 64 K floats, beside PyTorch: `python -m benchmarks.ops`.

    python -m benchmarks.ops                      all; writes benchmarks/results/ops.md
    python -m benchmarks.ops add linalg           those whose names hold one of the words; writes nothing
    python -m benchmarks.ops --seconds 0.002      per op, size and engine (default 0.02)

float32, forward only, one thread, the engines in turn.  A row's first sample is brought to the size by repeating it along
its first dimension (or in a batch in front); rows that do not grow that way are listed as not measured.  For each operation
slower than 3x a line says why (WHY); without one the program ends with status 1.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import statistics
import sys
import warnings
from pathlib import Path
from typing import Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")

import numpy as np  # noqa: E402  after the environment

from benchmarks.timing import calls_in, seconds  # noqa: E402

ROOT = Path(__file__).resolve().parent.parent
RESULT = ROOT / "benchmarks" / "results" / "ops.md"
SIZES = (64, 65536)
LIMIT = 3.0
WHY = (
    (r"linalg\..*|cholesky.*|qr|svd|det|slogdet|logdet|inverse|pinverse|matrix_\w+|triangular_solve",
     "NumPy's LAPACK calls check and copy each batch, and each small matrix pays a call"),
    (r"erf.*|lgamma|digamma|polygamma|i0.*|igamma.*|special\..*|mvlgamma|F\.gelu|logit|sinc",
     "NumPy has no such function: series in float64 take ten to a hundred passes"),
    (r"sort|argsort|msort|topk|kthvalue|median.*|nanmedian.*|mode|quantile|nanquantile|unique.*|cummax|cummin|histc|bincount",
     "NumPy sorts, and finds places by sorting, where PyTorch selects or counts"),
    (r"gather|scatter.*|index_.*|take.*|put|masked_.*|F\.embedding.*|nonzero|argwhere|searchsorted|bucketize|repeat_interleave",
     "NumPy's indexing makes an index per element, and ufunc.at adds one by one"),
    (r"F\.conv.*|F\.(max|avg|lp|adaptive).*|F\.(un)?fold|F\.interpolate.*|F\.pad.*|F\.max_unpool.*|F\.pixel.*|F\.grid.*",
     "windows are copied out of the array before they are summed; PyTorch walks over them in place"),
    (r"F\.\w*loss.*|F\.\w*norm.*|\w*_norm|F\.cross_entropy.*|F\.softplus|F\.logsigmoid|F\.\w+|softmax|log_softmax|logsumexp",
     "several NumPy passes, each over the whole array, where PyTorch has one loop"),
    (r"var.*|std.*|norm.*|renorm|dist|cdist|cumprod|cumsum|logcumsumexp|prod.*|nansum|nanmean|all|any|amin.*|amax.*|argm\w+|"
     r"max.*|min.*|count_nonzero|cov|corrcoef|sum.*|mean.*|trapezoid|cumulative_trapezoid|diff|gradient",
     "NumPy's reductions have a fixed cost of 2 us and no vector loop along the last dim of small arrays"),
    (r"einsum|tensordot|kron|cross|outer|bilinear|addr|baddbmm|addbmm|F\.bilinear|chain_matmul|trace|block_diag|cartesian_prod|"
     r"combinations|meshgrid", "made of several operations, each with the cost of one"),
    (r"tri[lu]|diag.*|roll|flip.*|rot90|repeat|tile|cat|stack|[hvd]stack|column_stack|where|lerp.*|addc\w+|clamp.*|fmod.*|remainder.*|"
     r"floor.*|div_rounded.*|frac|round.*|nan_to_num|copysign.*|hypot|atan2|logaddexp.*|xlogy.*|pow.*|isclose|isin|operator\..*",
     "several NumPy calls of 0.3 to 1 us each at 64 floats; several passes at 64 K where PyTorch has one"),
)


def why(name: str) -> str | None:
    """Why an operation is slower than LIMIT."""
    return next((text for pattern, text in WHY if re.fullmatch(pattern, name)), None)


def grown(sample: Any, floats: int, batch: bool) -> Any:
    """The sample with its arrays repeated so that the first one has about `floats` elements."""
    from opdb import S, mapped

    arrays = [a for a in flat([*sample.args, *sample.kwargs.values()]) if isinstance(a, np.ndarray)]
    if not arrays or not arrays[0].size or not arrays[0].ndim:
        raise ValueError("the sample has no array to repeat")
    times, lead = max(1, floats // arrays[0].size), arrays[0].shape[0]

    def change(a: Any) -> Any:
        if batch:
            return np.ascontiguousarray(np.broadcast_to(a, (times, *a.shape))) if a.ndim > 1 else a
        return np.concatenate([a] * times) if a.ndim and a.shape[0] == lead else a

    return S(*mapped(sample.args, change), **mapped(sample.kwargs, change))


def flat(value: Any) -> list[Any]:
    return [x for v in value for x in flat(v)] if isinstance(value, (list, tuple)) else [value]


class Side:
    """One engine with an operation's arguments."""

    def __init__(self, lib: Any, op: Any, sample: Any) -> None:
        from opdb import mapped

        self.function = op.function(lib)
        self.args = mapped(sample.args, lambda a: lib.from_numpy(np.array(a)))
        self.kwargs = mapped(sample.kwargs, lambda a: lib.from_numpy(np.array(a)))

    def __call__(self) -> Any:
        return self.function(*self.args, **self.kwargs)

    def shapes(self) -> list[tuple[int, ...]]:
        out = self()
        return [tuple(t.shape) for t in flat(list(out) if isinstance(out, (list, tuple)) else [out]) if hasattr(t, "shape")]


def sides(op: Any, floats: int, ours: Any, torch: Any) -> tuple[Side, Side] | None:
    """Both engines with the first sample that grows; one whose result grows with the square of it does not."""
    for batch in (False, True):
        for sample in op.make(np.dtype("float32"))[:3]:
            try:
                if numbers(Side(torch, op, grown(sample, 2048, batch))) > 16 * 2048:
                    continue
                made = grown(sample, floats, batch)
                pair = Side(ours, op, made), Side(torch, op, made)
                if pair[0].shapes() == pair[1].shapes():
                    return pair
            except Exception:  # noqa: BLE001  the row does not grow this way
                continue
    return None


def numbers(side: Side) -> int:
    """How many numbers come out."""
    return sum(math.prod(shape) for shape in side.shapes())


def measured(pair: tuple[Side, Side], budget: float) -> tuple[float, float]:
    """Seconds per call of ours and of PyTorch's: medians of five turns each."""
    counts = [calls_in(side, budget / 5) for side in pair]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(5):
        for side, count, found in zip(pair, counts, times):
            found.append(seconds(side, count))
    return statistics.median(times[0]), statistics.median(times[1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", help="parts of operations' names")
    parser.add_argument("--seconds", type=float, default=0.02)
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    import torch
    from opdb import OPS

    import retrograd

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows, slow, unknown, skipped = [], [], [], []
    for op in OPS:
        if asked.words and not any(word in op.name for word in asked.words):
            continue
        cells = []
        for floats in SIZES:
            pair = None if np.dtype("float32") not in op.dtypes or not op.oracle else sides(op, floats, retrograd, torch)
            if pair is None:
                break
            with torch.no_grad(), retrograd.no_grad():
                a, b = measured(pair, asked.seconds)
            cells.append((a, b))
        if len(cells) < len(SIZES):
            skipped.append(op.name)
            continue
        line = f"| `{op.name}` | " + " | ".join(f"{a * 1e6:.1f} | {b * 1e6:.1f} | {a / b:.2f}" for a, b in cells) + " |"
        print(line, flush=True)
        rows.append(line)
        if any(a / b > LIMIT for a, b in cells):
            slow.append(f"| `{op.name}` | {', '.join(f'{a / b:.1f}' for a, b in cells)} | {why(op.name) or '?'} |")
            unknown += [op.name] if why(op.name) is None else []
    if not asked.words:
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(page(rows, slow, skipped), encoding="utf-8")
        print(RESULT)
    print(f"{len(rows)} measured, {len(slow)} slower than {LIMIT:g}x, {len(skipped)} not measured")
    if unknown:
        print("no reason for", *unknown)
    return 1 if unknown else 0


def page(rows: list[str], slow: list[str], skipped: list[str]) -> str:
    heads = "".join(f" {n} floats, us | PyTorch | ratio |" for n in SIZES)
    return "\n".join([
        "# Operations beside PyTorch", "", "`python -m benchmarks.ops`: float32, forward, one thread; medians of five turns.", "",
        f"## Slower than {LIMIT:g}x, and why", "", "| operation | ratios | why |", "|---|---|---|", *slow, "",
        "## All", "", f"| operation |{heads}", "|---|" + "---|" * (3 * len(SIZES)), *rows, "",
        "## Not measured", "", ", ".join(f"`{n}`" for n in skipped) + ".", ""])


if __name__ == "__main__":
    sys.exit(main())
