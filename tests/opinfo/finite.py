"""Finite differences of first and second order on PyTorch's samples: python -m tests.opinfo.finite [words], run in the root.

In complex128, of every operation that PyTorch differentiates there, by retrograd's gradcheck and gradgradcheck.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from typing import Any

import torch as theirs

import retrograd as ours

from .compare import forms, of_no_test
from .translate import Ours, Outside, function

MOST = 60                   # samples of an operation that are looked at
LARGEST = 2000              # numbers in the inputs of one
# What no finite difference in double precision can say.
LEFT_OUT = {
    "the result has fewer digits than a difference needs": "bfloat16 float half cfloat chalf",
    "norms at zero, where PyTorch chooses a subgradient": "linalg.norm.subgradients_at_zero",
}


def left_out(op: Any) -> bool:
    name = f"{op.name}.{op.variant_test_name}".strip(".")
    return any(name in names.split() for names in LEFT_OUT.values())


def operations() -> list[Any]:
    """Those with first and second derivatives of complex numbers."""
    from torch.testing._internal.common_methods_invocations import op_db

    return [op for op in op_db if theirs.complex128 in op.supported_backward_dtypes("cpu") and op.supports_autograd
            and op.supports_gradgrad and not op.name.startswith(("_", "torch.")) and not left_out(op)]


def check(op: Any, samples: int) -> tuple[int, list[str]]:
    """How many samples were checked, and what is wrong in them."""
    _, _, mine = next(iter(forms(op)))
    if isinstance(mine, Outside):
        return 0, []
    wrapper = plain if op.name.startswith("masked") else function(op.gradcheck_wrapper)     # those ask for PyTorch's own masks
    done, wrong = 0, []
    of_no_test()
    for sample in itertools.islice(op.sample_inputs("cpu", theirs.complex128, requires_grad=True), MOST):
        side = Ours(True)
        try:
            given = (side.copy(sample.input), *side.copy(sample.args)), side.copy(sample.kwargs)
            process = function(sample.output_process_fn_grad)
        except Outside:
            continue
        call = Call(lambda *a, **k: wrapper(mine, *a, **k), given, side.leaves, process)
        if not 0 < sum(t.numel() for t in side.leaves) <= LARGEST or not all(t.numel() for t in side.leaves):
            continue
        try:
            if not call(*side.leaves):
                continue
            done += 1
            ours.autograd.gradcheck(call, tuple(side.leaves), fast_mode=True, atol=1e-4)
            ours.autograd.gradgradcheck(call, tuple(side.leaves), fast_mode=True, atol=1e-4)
        except Exception as e:  # noqa: BLE001  what is wrong is the result
            wrong.append(f"{op.name} {op.variant_test_name}: {type(e).__name__} {' '.join(str(e).split())[:300]}")
        if done >= samples:
            break
    return done, wrong


def plain(f: Any, *args: Any, **kwargs: Any) -> Any:
    return f(*args, **kwargs)


class Call:
    """The operation as a function of its leaves."""

    def __init__(self, f: Any, given: Any, leaves: list[Any], process: Any) -> None:
        self.f, self.given, self.leaves, self.process = f, given, leaves, process

    def __call__(self, *values: Any) -> tuple[Any, ...]:
        table = {id(leaf): value for leaf, value in zip(self.leaves, values)}

        def put(x: Any) -> Any:
            if type(x) in (list, tuple):
                return type(x)(map(put, x))
            if isinstance(x, dict):
                return {k: put(v) for k, v in x.items()}
            return table.get(id(x), x)

        ours.manual_seed(0)
        args, kwargs = put(self.given)
        out = self.process(self.f(*args, **kwargs))
        outs = out if isinstance(out, (list, tuple)) else (out,)
        return tuple(t for t in outs if isinstance(t, ours.Tensor) and t.requires_grad)


def main(words: list[str]) -> None:
    theirs.set_num_threads(1)
    warnings.simplefilter("ignore")
    checked = samples = 0
    unchecked = []
    for op in operations():
        if not words or any(w in op.name for w in words):
            done, wrong = check(op, 2)
            print(*wrong, sep="\n", end="\n" if wrong else "", flush=True)
            checked += bool(done)
            samples += done
            unchecked += [] if done else [op.name]
    print(f"{samples} samples of {checked} operations; too large or outside: {' '.join(unchecked)}")


if __name__ == "__main__":
    main(sys.argv[1:])
