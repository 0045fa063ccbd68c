"""python -m tests.opinfo"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from . import modules
from .compare import Tally, compare
from .reasons import reason

PAGE = Path(__file__).resolve().parents[2] / "docs" / "opinfo.md"
HEAD = """# PyTorch's own samples

The `torch` package ships samples for its operations (OpInfo, `torch.testing._internal.common_methods_invocations`).
`python -m tests.opinfo` runs every operation that both libraries have on all of these samples, on PyTorch {release} and on
retrograd, and writes this page; a part of them runs as a test. A sample agrees if all of this does:

- values, dtypes, shapes and `requires_grad`, in float64, float32, float16, bfloat16, complex128, complex64, int64, int32, uint8
  and bool, for the function, the method and the in-place form;
- first and second gradients for the same output gradients, in float64 and complex128;
- for inputs that must fail, the class and the first sentence of the exception.

Uninitialised memory is compared by shape and dtype only. Random values must be equal, given the same seed. Where several elements
are equal, an index may name any of them. If only one library records a gradient, that counts as a difference only if the gradient
is not zero. Where PyTorch has no second derivative, retrograd's is not compared.

It ships samples for modules and optimizers, too (ModuleInfo, `common_modules`; OptimizerInfo, `common_optimizers`). A module's
sample agrees if all of the above does, the gradients of its parameters and its state dict after the call included; an
optimizer's, if parameters and state after five steps do. `python -m tests.opinfo.modules` runs these alone.

`python -m tests.docstrings` runs the examples of PyTorch's docstrings on both. Of 3,919 statements that run on PyTorch on a CPU,
3,892 print the same on retrograd, warnings included; 8 ask for a name that [is missing](names.md); for the 19 others it shows
both outputs.
"""


def tallies(words: list[str]) -> Iterator[Tally]:
    import torch
    from torch.testing._internal.common_methods_invocations import op_db

    torch.set_num_threads(1)
    for op in op_db:
        if not words or any(w in op.name for w in words):
            start = time.perf_counter()
            tally = compare(op)
            print(f"{tally.name}: {tally.agree} of {tally.samples}, errors {tally.errors_agree} of {tally.errors}  "
                  f"{time.perf_counter() - start:.1f}s {tally.outside or ''}", flush=True)
            for where, what in tally.differences:
                print(f"    {where}: {what}")
            yield tally


def page(found: list[Tally], built: list[Tally], release: str) -> str:
    here = [t for t in found if t.samples]
    samples, agree = sum(t.samples for t in here), sum(t.agree for t in here)
    every = [*here, *built]
    errors, right = sum(t.errors for t in every), sum(t.errors_agree for t in every)
    steps, same = sum(t.samples for t in built), sum(t.agree for t in built)
    whole, part = sum(t.complex for t in here), sum(t.complex_agree for t in here)
    lines = [HEAD.format(release=release), "| | operations | samples | agree | |", "|---|---|---|---|---|",
             f"| samples | {len(here)} | {samples} | {agree} | {percent(agree, samples)} |",
             f"| of complex numbers | {sum(1 for t in here if t.complex)} | {whole} | {part} | {percent(part, whole)} |",
             f"| of modules and optimizers | {len(built)} | {steps} | {same} | {percent(same, steps)} |",
             f"| inputs that must fail | {sum(1 for t in every if t.errors)} | {errors} | {right} | {percent(right, errors)} |",
             "", "## Where we differ", "", "| operation | samples | why |", "|---|---|---|"]
    for t in every:
        whys: Counter[str] = Counter()
        places: dict[str, set[str]] = {}
        for where, what in t.differences:
            why = reason(t.name, where, what) or "not explained: " + what[:100].replace("|", "/")
            places.setdefault(why, set()).add(" ".join(where.split()[-2:]))
        for why, at in places.items():
            whys[why] = len(at)
        lines += [f"| `{t.name}` | {n} of {t.samples + t.errors} | {why} |" for why, n in whys.items()]
    outside: dict[str, list[str]] = {}
    for t in found:
        if not t.samples:
            outside.setdefault(next(iter(t.outside), "has no samples of dtypes that we have"), []).append(t.name)
    lines += ["", "## Not run", "",
              "Operations that retrograd lacks, and operations whose samples all need something that it lacks:", ""]
    missing = sorted({name for why, names in outside.items() for name in names})
    lines += [", ".join(f"`{n}`" for n in missing) + ".", ""]
    return "\n".join(lines)


def percent(part: int, whole: int) -> str:
    return f"{100 * part / whole:.2f} %" if whole else ""


def main(words: list[str]) -> None:
    import torch

    found, built = list(tallies(words)), [] if words else list(modules.tallies([]))
    samples, errors = sum(t.samples for t in found), sum(t.errors for t in found)
    print(f"samples {sum(t.agree for t in found)} of {samples}, errors {sum(t.errors_agree for t in found)} of {errors}")
    if not words:
        PAGE.write_text(page(found, built, str(torch.__version__).partition("+")[0]), encoding="utf-8")
        print(PAGE)


if __name__ == "__main__":
    main(sys.argv[1:])
