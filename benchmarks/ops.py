"""Every operation of the table in tests/opdb on numbers of every kind, beside PyTorch: `python -m benchmarks.ops`.

    python -m benchmarks.ops                      all; writes benchmarks/results/ops.md
    python -m benchmarks.ops add linalg           those whose names hold one of the words; writes nothing
    python -m benchmarks.ops --column complex     that column alone; writes nothing
    python -m benchmarks.ops --seconds 0.002      per op, size and engine (default 0.02)

float32, forward only, one thread, the engines in turn.  A row's first sample is brought to 64 and to 64 K floats by repeating
it along its first dimension (or in a batch in front); rows that do not grow that way are listed as not measured.  The 64 K are
measured as they are, negative, as whole numbers, as denormal and as complex ones; a row that takes tensors of any shape is also
measured on 0-d ones, on one element and on 480 x 256.  For each operation that takes more than twice PyTorch's time a line says
why (WHY); without one the program ends with status 1.
"""

from __future__ import annotations

import argparse
import math
import os
import re
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
VALUES = {
    "negative": lambda a: -np.abs(a), "whole": lambda a: np.rint(a) + np.float32(0), "denormal": lambda a: a * np.float32(1e-40),
    "complex": lambda a: a * np.complex64(0.6 + 0.8j),
}
SHAPES = {"0-d": (), "one": (1,), "480 x 256": (480, 256)}
COLUMNS = ("64", "64 K", *VALUES, *SHAPES)
LIMIT = 2.0
TURNS = 7
LONGEST = 0.3             # seconds of PyTorch's: a matrix of that size, for instance, is another operation
# What takes the time, by counting and timing the NumPy calls of a call (those of operators aside) in the pure build.
WHY = (
    (r"F\.(avg|adaptive_avg|max|adaptive_max)_pool.*",
     "at 64 floats: sizes, pairs and the form of the call are checked in Python, 5 to 15 us; at 64 K it is kernels, of "
     "adaptive ones a gather for each place in the window"),
    (r"F\.fractional_max_pool.*", "windows drawn for each sample and channel: 10 NumPy calls find them, then index arrays pick"),
    (r"F\.upsample.*|F\.interpolate.*",
     "at 64 floats: 4 NumPy operations per dim, and checks in Python; neighbours and weights are found once for each size"),
    (r"F\.pad|F\.pad_constant|F\.pad_circular",
     "filled or tiled by NumPy's strided copies, here of rows of 3 to 8 numbers; at 64 floats checks in Python are half"),
    (r"F\.pad_\w+", "at 64 floats: a gather per dim, and checks in Python; the map of places is made once for each size"),
    (r"F\.(un)?fold", "at 64 floats: no NumPy call but one; sizes, pairs and the form of the call are checked in Python"),
    (r"F\.multilabel_margin_loss",
     "for each target a row of all classes is written and read 6 times; PyTorch's loop keeps a sum"),
    (r"F\.multi_margin_loss", "9 NumPy calls, three of them to make index arrays: half the time at both sizes"),
    (r"F\.binary_cross_entropy.*|F\.kl_div|F\.poisson_nll_loss|F\.\w*embedding_loss|F\.margin_ranking_loss|F\.gaussian_nll_loss|"
     r"F\.triplet_margin_loss|F\.pairwise_distance|F\.cosine_similarity|F\.soft_margin_loss",
     "6 to 15 NumPy operations over the array, 0.7 us each at 64 floats; reductions along rows of 3 or 4 numbers at 64 K"),
    (r"F\.(nll_loss|cross_entropy.*|\w*_norm.*|mse_loss|l1_loss|smooth_l1_loss|huber_loss)|F\.scaled_dot_product_attention",
     "at 64 floats: the kernel takes 0.5 us of it, what the call may be given is checked in Python; rows of 3 at 64 K"),
    (r"F\.ctc_loss", "28 NumPy calls at 64 floats, two for each step in time"),
    (r"F\.glu", "two strided halves, exp and 4 operators: 7 NumPy passes"),
    (r"F\.prelu", "a weight for each of 4 channels in the last dim: the loop over places is one number long"),
    (r"F\.\w+", "at 64 floats: the kernel takes 0.3 us of it, what the call may be given is checked in Python"),
    (r"linalg\.lu.*", "NumPy has no LU: 11 to 17 NumPy calls, column by column"),
    (r"linalg\.householder_product|ormqr|geqrf",
     "a reflection after another, each of 7 NumPy calls; at 64 K on thousands of matrices of 3 columns"),
    (r"linalg\.cross", "np.cross is 15 of 16 us at 64 floats: it is written in Python"),
    (r"linalg\.matrix_(exp|power)", "5 to 20 NumPy calls: products of many matrices of 2 x 2 or 3 x 3, each a call of BLAS"),
    (r"linalg\..*|cholesky.*|inverse|det|slogdet|logdet|pinverse",
     "7,281 matrices of 3 x 3 at 64 K: NumPy calls LAPACK for each, 0.1 to 4 us"),
    (r"topk|median|nanmedian",
     "np.partition, then 5 to 8 passes to find the first of equal numbers as a stable sort has them; rows of up to 16 are "
     "sorted whole, at 64 K one by one; beside NaN, at the first of which PyTorch stops, two passes more"),
    (r"kthvalue", "at 64 floats: a kernel of 0.3 us; dims, k and the pair that it returns are 5 us of Python"),
    (r"sort|argsort|msort|median.*|nanmedian.*|mode|quantile|nanquantile|unique.*",
     "np.sort or np.argsort and take_along_axis are 70 to 97 % at 64 K, rows of 4, one by one; 3 to 12 NumPy calls at 64 floats"),
    (r"logcumsumexp",
     "np.logaddexp.accumulate is 99 % at 64 K: libm's exp and log1p, each waiting for the one before"),
    (r"cdist", "480 x 256: a difference for every term; PyTorch takes a product of matrices, in which digits cancel"),
    (r"logaddexp2", "exp and log in double, 3.4 ns a number: the result is right but for its last rounding"),
    (r"number // x|number % x", "where the quotient is beyond 2^53, as of denormals, libm's fmod finds it bit by bit"),
    (r"erfc?|erfinv|special\.ndtri",
     "a series in double, right but for the last rounding; it takes as long for numbers for which PyTorch's branch ends early"),
    (r"atanh|log1p", "outside their domain NumPy's loops leave vectors and set NaN number by number; inside they are faster"),
    (r"logit|number_xlogy|softmax|dot|matmul", "0-d and one number: the array made and dims checked, 1 to 3 us in Python"),
    (r"exp2", "NumPy's loop takes 10 us at 64 K or, by where the process lies in memory, 12 to 55; steady under setarch -R"),
    (r"exp", "NumPy's loop takes 0.5 ns a number; on processors of Intel's PyTorch asks MKL, whose loop takes 0.2"),
    (r"cos|asinh|sigmoid|logsumexp|log_softmax", "denormal: products of such numbers take up to 150 cycles each"),
    (r"flip", "rows of 4, whose numbers are placed one by one"),
    (r"channel_shuffle|nonzero_static", "two views and a copy, or np.nonzero and np.stack, where PyTorch has one loop"),
    (r"eq_|ne_",
     "of complex numbers: 3 passes over their parts, then the bools are written as complex numbers, one by one"),
    (r"prod", "of complex numbers: np.multiply halves the row in vectors until 32 numbers are left, each time in new memory"),
    (r"zero_", "of complex numbers: NumPy fills them one by one; PyTorch takes vectors"),
    (r"igammac?", "a sum of 20 to 100 terms for each number, until nothing changes"),
    (r"masked\..*", "np.where puts the neutral number where the mask does not hold; then NumPy reduces rows of 3 or 4"),
    (r"masked_scatter", "a mask that broadcasts is not the kernel's case: 9 NumPy calls, 85 % of the time"),
    (r"scatter.*|gather|index_.*|take.*|put|masked_.*|select_scatter|slice_scatter|diagonal_scatter",
     "at 64 floats: the kernel takes 0.3 us of it; dims, index bounds and dtypes are checked in Python"),
    (r"unbind.*|split.*|(unsafe_)?chunk|tensor_split",
     "one tensor for each part, four Python objects each, 1.5 us; copies are an array more"),
    (r"\w+_copy", "an operation and a copy of its result, each with the cost of a call"),
    (r"expand|permute|movedim|unfold|as_strided|flatten|diagonal|contiguous|narrow_copy|select|transpose|t|view|reshape|squeeze|"
     r"unsqueeze|broadcast_to|narrow|swapaxes|alias",
     "no number is touched: 0.5 to 5 us of Python (dims checked, the array made, the view noted) beside 1 us of C++"),
    (r"triu|tril|trace|diag.*|rot90|repeat.*|tile", "two to four NumPy calls of 0.5 to 1 us, and checks in Python"),
    (r"cat|\w*stack|block_diag", "np.concatenate is 0.8 us at 64 floats, the rest looks at each tensor; rows of 3 at 64 K"),
    (r"outer|addr|addmv|baddbmm|addbmm|addmm|bmm|diff|trapezoid|kron|einsum|tensordot",
     "NumPy goes row by row, and rows are 2 to 4 numbers long; at 64 floats np.broadcast_to is 2.3 us"),
    (r"var.*|std.*|norm.*|renorm|dist|nansum|nanmean|all|any|amin.*|amax.*|aminmax|argm\w+|max.*|min.*|count_nonzero|sum|mean|vdot",
     "NumPy's reductions cost 2 us a call, and 5 ns for each row of 4; several of them and divisions where PyTorch has one loop"),
    (r"sinc|heaviside|where|clamp.*|addc\w+|xlogy.*|special\..*|copysign.*|float_power|pow.*|square|lerp.*|fmod.*|remainder.*|"
     r"operator\..*|nextafter|isclose|isin|hypot|atan2|cumprod|cumsum|cummax|cummin|setitem|copy_|to_\w+",
     "operands that broadcast, or that are to be promoted: 2 to 5 NumPy operations of 0.7 to 1.5 us at 64 floats"),
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


def sides(op: Any, ours: Any, torch: Any) -> dict[str, tuple[Side, Side]]:
    """Both engines in each column in which the row can be measured: none where no sample grows to 64 K floats."""
    for batch in (False, True):
        for sample in op.make(np.dtype("float32"))[:3]:
            try:
                if numbers(Side(torch, op, grown(sample, 2048, batch))) > 16 * 2048:
                    continue                    # the square of its size comes out: another operation at each size
                small, large = (grown(sample, floats, batch) for floats in SIZES)
                pairs = {"64": pair(op, small, ours, torch), "64 K": pair(op, large, ours, torch)}
            except Exception:  # noqa: BLE001  the row does not grow this way
                continue
            for name, change in VALUES.items():
                add(pairs, name, op, large, lambda a, change=change: change(a) if a.dtype == np.float32 else a, ours, torch)
            for name, shape in SHAPES.items():
                add(pairs, name, op, sample, lambda a, shape=shape: np.resize(a, shape), ours, torch)
            return pairs
    return {}


def add(pairs: dict[str, tuple[Side, Side]], name: str, op: Any, sample: Any, change: Any, ours: Any, torch: Any) -> None:
    """A column more, where the row takes the sample with its arrays changed so."""
    from opdb import S, mapped

    try:
        pairs[name] = pair(op, S(*mapped(sample.args, change), **mapped(sample.kwargs, change)), ours, torch)
    except Exception:  # noqa: BLE001  no operation on such numbers or shapes
        return


def pair(op: Any, sample: Any, ours: Any, torch: Any) -> tuple[Side, Side]:
    both = Side(ours, op, sample), Side(torch, op, sample)
    if seconds(both[1], 1) > LONGEST or both[0].shapes() != both[1].shapes():
        raise ValueError("too long, or not the same operation")
    return both


def numbers(side: Side) -> int:
    """How many numbers come out."""
    return sum(math.prod(shape) for shape in side.shapes())


def measured(pair: tuple[Side, Side], budget: float) -> tuple[float, float]:
    """Seconds per call of ours and of PyTorch's: the best of seven turns each, which other programs disturb least."""
    counts = [calls_in(side, budget / TURNS) for side in pair]
    times: tuple[list[float], list[float]] = ([], [])
    for _ in range(TURNS):
        for side, count, found in zip(pair, counts, times):
            found.append(seconds(side, count))
    return min(times[0]), min(times[1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.ops", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("words", nargs="*", help="parts of operations' names")
    parser.add_argument("--column", choices=COLUMNS, help="measure this column alone")
    parser.add_argument("--seconds", type=float, default=0.02)
    asked = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    import torch
    from opdb import OPS

    import retrograd

    torch.set_num_threads(1)
    warnings.simplefilter("ignore")
    rows, slow, unknown, skipped = [], [], [], []
    ratios_of: dict[tuple[str, str], float] = {}
    for op in OPS:
        if asked.words and not any(word in op.name for word in asked.words):
            continue
        pairs = sides(op, retrograd, torch) if np.dtype("float32") in op.dtypes and op.oracle else {}
        if not pairs:
            skipped.append(op.name)
            continue
        cells = {}
        for name, both in pairs.items():
            if asked.column not in (None, name):
                continue
            with torch.no_grad(), retrograd.no_grad():
                a, b = measured(both, asked.seconds)
                for _ in range(2):                          # again, where another program may have come in between
                    if a / b > LIMIT:
                        again = measured(both, asked.seconds)
                        a, b = min(a, again[0]), min(b, again[1])
            cells[name] = a, b
        line = f"| `{op.name}` | " + " | ".join(cell(cells.get(name)) for name in COLUMNS) + " |"
        print(line, flush=True)
        rows.append(line)
        if any(a / b > LIMIT for a, b in cells.values()):
            ratios = ", ".join(f"{name} {a / b:.1f}" for name, (a, b) in cells.items() if a / b > LIMIT)
            slow.append(f"| `{op.name}` | {ratios} | {why(op.name) or '?'} |")
            unknown += [op.name] if why(op.name) is None else []
        ratios_of.update({(op.name, name): a / b for name, (a, b) in cells.items()})
    for name in COLUMNS:
        if found := [r for (_, column), r in ratios_of.items() if column == name]:
            print(f"{name}: median ratio {np.median(found):.2f} of {len(found)}")
    if not (asked.words or asked.column):
        RESULT.parent.mkdir(exist_ok=True)
        RESULT.write_text(page(rows, slow, skipped), encoding="utf-8")
        print(RESULT)
    print(f"{len(rows)} measured, {len(slow)} slower than {LIMIT:g}x, {len(skipped)} not measured")
    if unknown:
        print("no reason for", *unknown)
    return 1 if unknown else 0


def cell(times: tuple[float, float] | None) -> str:
    return "" if times is None else f"{times[0] * 1e6:.1f} / {times[1] * 1e6:.1f} = {times[0] / times[1]:.2f}"


def page(rows: list[str], slow: list[str], skipped: list[str]) -> str:
    return "\n".join([
        "# Operations beside PyTorch", "",
        "`python -m benchmarks.ops`: float32, forward, one thread; the best of seven turns.", "",
        f"## More than {LIMIT:g}x PyTorch's time, and why", "", "| operation | ratios | why |", "|---|---|---|", *slow, "",
        "## All", "", "retrograd's time / PyTorch's, in us, = their ratio.", "",
        f"| operation | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS), *rows, "",
        "## Not measured", "",
        "Without float32, or with samples that do not grow along their first dim nor by a batch in front:", "",
        ", ".join(f"`{n}`" for n in skipped) + ".", ""])


if __name__ == "__main__":
    sys.exit(main())
