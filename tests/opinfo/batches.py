"""vmap over PyTorch's samples of each operation: python -m tests.opinfo.batches [words], run in the root.

Each sample becomes a batch of three: in turn all its tensors of floats are batched, along dim 0, or the first alone, along
its last dim.  Ours must equal PyTorch's vmap, and where that refuses what ours does, ours sample by sample.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections import Counter
from typing import Any

import torch as theirs

import retrograd as ours

from .compare import difference, flat, forms, of_no_test
from .translate import Ours, Outside, Side, Theirs

SIZE = 3
SLOW = "There is a performance drop"
# What differs for a reason.
REASONS = {
    "numbers drawn for one sample after the other, or from a stream of their own":
        "normal svd_lowrank pca_lowrank nn.functional.rrelu multinomial",
    "a sample that cannot be edited in place: PyTorch's vmap does not see it": "addbmm resize_",
    "we lack torch.ops, or complex numbers": "max_pool2d_with_indices_backward complex chalf linalg.eig linalg.eigvals",
}


def expected(name: str) -> bool:
    return any(name in names.split() for names in REASONS.values())


def batched(tensors: list[Any], which: str) -> tuple[list[Any], list[Any]]:
    """The tensors of a sample with a batch dim, and where it is."""
    made, dims = [], []
    for i, t in enumerate(tensors):
        if which == "first" and i or t.dtype is theirs.bool and which == "first":
            made.append(t)
            dims.append(None)
            continue
        t = t.detach()
        whole = theirs.stack([t, t.flip(0) if t.ndim and t.dtype.is_floating_point and t.ndim < 2 else t, t])
        made.append(whole.movedim(0, -1) if which == "first" else whole)
        dims.append(t.ndim if which == "first" else 0)
    return made, dims


def collect(value: Any, found: list[Any]) -> Any:
    """value with the number of each tensor in its place."""
    if isinstance(value, theirs.Tensor):
        found.append(value)
        return Place(len(found) - 1)
    if isinstance(value, (list, tuple)) and not isinstance(value, theirs.Size) and not hasattr(value, "_fields"):
        return type(value)(collect(v, found) for v in value)
    if isinstance(value, dict):
        return {k: collect(v, found) for k, v in value.items()}
    return value


class Place:
    def __init__(self, at: int) -> None:
        self.at = at


def filled(form: Any, values: Any) -> Any:
    if isinstance(form, Place):
        return values[form.at]
    if isinstance(form, (list, tuple)) and not isinstance(form, theirs.Size) and not hasattr(form, "_fields"):
        return type(form)(filled(v, values) for v in form)
    if isinstance(form, dict):
        return {k: filled(v, values) for k, v in form.items()}
    return form


def run(
    side: Side, vmap: Any, f: Any, form: Any, tensors: list[Any], dims: list[Any], loop: bool = False,
) -> tuple[Any, Any, bool]:
    """(flat results, the error, did it loop)"""
    def call(*values: Any) -> Any:
        first, args, kwargs = filled(other, values)
        found = f(first, *args, **kwargs)
        return tuple(v for v in flat(found) if isinstance(v, side.lib.Tensor))

    other, given = side.copy_form(form), [side.copy(t) for t in tensors]  # type: ignore[attr-defined]
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        side.lib.manual_seed(0)
        try:
            if loop:
                rows = [call(*[t if d is None else t.select(d, i) for t, d in zip(given, dims)]) for i in range(SIZE)]
                found = [side.lib.stack(column) for column in zip(*rows)]
            else:
                found = list(vmap(call, in_dims=tuple(dims), randomness="different")(*given))
        except Outside:
            raise
        except Exception as e:
            return None, e, False
    return found, None, any(SLOW in str(w.message) for w in told)


class FormOf:
    """Values of a form that are no tensors, translated."""

    def copy_form(self, form: Any) -> Any:
        if isinstance(form, Place):
            return form
        if isinstance(form, theirs.Size) or hasattr(form, "_fields"):
            return self.copy(form)  # type: ignore[attr-defined]
        if isinstance(form, (list, tuple)):
            return type(form)(self.copy_form(v) for v in form)
        if isinstance(form, dict):
            return {k: self.copy_form(v) for k, v in form.items()}
        return self.copy(form)  # type: ignore[attr-defined]


class OursOf(FormOf, Ours):
    pass


class TheirsOf(FormOf, Theirs):
    pass


def compare(op: Any, most: int | None = None) -> tuple[str, list[str]]:
    """("rule", "loop", "outside" or "refused", differences)"""
    of_no_test()
    kinds: Counter[str] = Counter()
    wrong: list[str] = []
    for kind, f, mine in forms(op):
        if isinstance(mine, Outside):
            continue
        try:
            samples = list(itertools.islice(op.sample_inputs("cpu", theirs.float32), most))
        except Exception:
            return "outside", []
        for number, sample in enumerate(samples):
            found: list[Any] = []
            form = collect((sample.input, tuple(sample.args), dict(sample.kwargs)), found)
            if not found or kind != "function" and not isinstance(sample.input, theirs.Tensor):
                continue
            for which in ("all", "first"):
                tensors, dims = batched(found, which)
                if all(d is None for d in dims):
                    continue
                where = f"{op.name}.{op.variant_test_name} {kind} sample {number} {which}"
                try:
                    got, error, looped = run(OursOf(), ours.vmap, mine, form, tensors, dims)
                    want, refusal, slow = run(TheirsOf(), theirs.vmap, f, form, tensors, dims)
                    if error is not None:
                        if refusal is None:
                            wrong.append(f"{where}: {type(error).__name__} {str(error)[:150]}")
                        kinds["refused"] += 1
                        continue
                    kinds["loop" if looped else "rule"] += 1
                    if refusal is not None:
                        want, refusal, _ = run(OursOf(), None, mine, form, tensors, dims, True)
                        if refusal is not None:
                            wrong.append(f"{where}: an answer, but {type(refusal).__name__} {str(refusal)[:100]}")
                            continue
                        want = [theirs.from_numpy(w.numpy(force=True).copy()) for w in want]
                    if len(got) != len(want):
                        wrong.append(f"{where}: {len(got)} results instead of {len(want)}")
                        continue
                    for x, y in zip(got, want):
                        what = difference(x, y, op.name, "float32")
                        if what:
                            wrong.append(f"{where}: {what}")
                except Outside:
                    kinds["outside"] += 1
    usual = "rule" if kinds["rule"] else "loop" if kinds["loop"] else "refused" if kinds["refused"] else "outside"
    if kinds["rule"] and kinds["loop"]:
        usual = f"rule, loop for {kinds['loop']} of {kinds['loop'] + kinds['rule']}"
    return usual, wrong


def main(words: list[str]) -> None:
    from torch.testing._internal.common_methods_invocations import op_db

    theirs.set_num_threads(1)
    warnings.simplefilter("ignore")
    most = int(words.pop(0)) if words and words[0].isdigit() else None
    counts: Counter[str] = Counter()
    for op in op_db:
        if words and not any(w in op.name for w in words):
            continue
        usual, wrong = compare(op, most)
        counts[usual.partition(",")[0]] += 1
        print(f"{op.name}.{op.variant_test_name}: {usual}", flush=True)
        for w in [] if expected(op.name) else wrong[:6]:
            print("    ", w, flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main(sys.argv[1:])
