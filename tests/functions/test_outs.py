"""out= of another dtype, or in memory that it may not use: PyTorch's class and first sentence."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import opdb
import pytest
from opdb import OPS, Op, mapped

import retrograd

ROWS = [op for op in OPS if op.out and op.oracle and not op.seeded]
# Rows where PyTorch's answer is an accident, and what it does there.
ACCIDENTS = {
    "addmm": "the overlap with a matrix is not seen, that with a vector is", "addmv": "likewise", "addr": "likewise",
    "addbmm": "likewise", "baddbmm": "likewise", "ldexp": "overlap of what ldexp makes inside",
}  # fmt: skip


def dtype(name: str) -> Callable[..., Any]:
    return lambda lib, args, result: (args, lib.empty(0, dtype=getattr(lib, name)))


def repeated(lib: Any, args: Any, result: Any) -> Any:
    """An out= whose elements all lie in one place."""
    return args, lib.empty((1,) * result.dim(), dtype=result.dtype).expand(tuple(result.shape))


def shifted(lib: Any, args: Any, result: Any) -> Any:
    """An out= that begins one element after the first input."""
    at = next(i for i, t in enumerate(args) if isinstance(t, lib.Tensor))
    n, m = args[at].numel(), result.numel()
    memory = lib.zeros(n + m + 1, dtype=result.dtype)
    memory[:n] = args[at].reshape(-1)
    own = memory[:n].reshape(tuple(args[at].shape))
    return (*args[:at], own, *args[at + 1:]), memory[1 : m + 1].reshape(tuple(result.shape))


KINDS: dict[str, Callable[..., Any]] = {
    "float64": dtype("float64"), "int64": dtype("int64"), "bool": dtype("bool"), "repeated": repeated, "shifted": shifted}


def outcome(lib: Any, op: Op, sample: Any, kind: str) -> str:
    """"" or what was raised: class and first sentence."""
    function: Any = op.function(lib)
    args, kwargs = (mapped(v, lambda a: lib.from_numpy(a.copy())) for v in (sample.args, sample.kwargs))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = function(*args, **kwargs)
        if not isinstance(result, lib.Tensor):
            return ""
        if kind in ("repeated", "shifted") and result.numel() < 2:
            return ""
        if kind == "shifted":
            first = next((t for t in args if isinstance(t, lib.Tensor)), None)
            if first is None or first.dtype != result.dtype or not first.numel():
                return ""
        args, out = KINDS[kind](lib, args, result)
        try:
            function(*args, out=out, **kwargs)
        except Exception as e:
            return f"{type(e).__name__}: {str(e).splitlines()[0].split('. ')[0]}"
    return ""


@pytest.mark.oracle
@pytest.mark.parametrize("kind", KINDS)
def test_an_out_that_cannot_be_written_to_is_refused_as_by_pytorch(kind: str) -> None:
    pytorch = pytest.importorskip("torch")
    differing = []
    for op in ROWS:
        if op.name in ACCIDENTS and kind == "shifted":
            continue
        chosen = np.dtype("float32") if np.dtype("float32") in op.dtypes else op.dtypes[0]
        sample = next(iter(op.make(chosen)))
        ours, theirs = outcome(retrograd, op, sample, kind), outcome(pytorch, op, sample, kind)
        if ours != theirs:
            differing.append(f"{op.name}{sample}: {ours!r}, not {theirs!r}")
    assert differing == []


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["scatter", "scatter_add", "scatter_reduce", "index_add", "index_reduce", "index_copy"])
def test_scatter_and_index_functions_may_write_over_their_first_input_alone(name: str) -> None:
    found = []
    for lib in (pytest.importorskip("torch"), retrograd):
        said = []
        for at in (0, 1, 2):
            args = [lib.tensor([1, 2, 3]), lib.tensor([0, 2, 1]), lib.tensor([4, 5, 6])]
            how = ("prod",) if "reduce" in name else ()
            for out in (args[at], args[at].view(3), lib.zeros_like(args[at])):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    try:
                        said.append(str(getattr(lib, name)(args[0], 0, *args[1:], *how, out=out).tolist()))
                    except RuntimeError as e:
                        said.append(str(e))
        found.append(said)
    assert found[0] == found[1]


def test_out_is_as_it_was_after_an_error() -> None:
    x, out = retrograd.arange(4.0), retrograd.full((4,), 7, dtype=retrograd.float64)
    before = out._version
    with pytest.raises(RuntimeError, match="Found dtype Double but expected Float"):
        retrograd.floor(x, out=out)
    assert out.tolist() == [7.0] * 4 and out._version == before
    indices = retrograd.full((2,), 7, dtype=retrograd.int32)
    values = retrograd.full((2,), 7.0)
    with pytest.raises(RuntimeError, match="Expected out tensor to have dtype long int, but got int instead"):
        retrograd.topk(x, 2, out=(values, indices))
    assert values.tolist() == [7.0, 7.0] and indices.tolist() == [7, 7]


def test_results_of_several_tensors_are_written_under_their_names() -> None:
    x = retrograd.tensor([[3.0, 1.0, 2.0]])
    values, indices = retrograd.empty(0), retrograd.empty(0, dtype=retrograd.int64)
    found = retrograd.sort(x, out=(values, indices))
    assert type(found).__name__ == "sort_out" and found.values is values and found.indices is indices
    assert values.tolist() == [[1.0, 2.0, 3.0]] and indices.tolist() == [[1, 2, 0]]
    assert list(opdb.flatten([found.values.shape, found.indices.shape])) == [1, 3, 1, 3]


MADE: dict[str, Callable[[Any, Any], Any]] = {
    "zeros": lambda T, out: T.zeros(3, out=out), "full": lambda T, out: T.full((3,), 2.0, out=out),
    "arange": lambda T, out: T.arange(3, out=out), "arange of float64": lambda T, out: T.arange(3, dtype=T.float64, out=out),
    "range": lambda T, out: T.range(0, 2, out=out), "range of float64": lambda T, out: T.range(0, 2, dtype=T.float64, out=out),
    "linspace": lambda T, out: T.linspace(0, 1, 3, out=out), "logspace": lambda T, out: T.logspace(0, 1, 3, 2.0, out=out),
    "eye": lambda T, out: T.eye(2, out=out),
    "rand": lambda T, out: T.rand(3, out=out) * 0, "randperm": lambda T, out: T.randperm(3, out=out) * 0,
    "normal": lambda T, out: T.normal(0.0, 1.0, (3,), out=out) * 0,
    "normal of means": lambda T, out: T.normal(T.zeros(3), T.ones(3), out=out) * 0,
    "normal of a deviation": lambda T, out: T.normal(0.0, T.ones(3), out=out) * 0,
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", MADE)
def test_what_is_made_fits_out_to_its_size_as_pytorch_does(name: str) -> None:
    found = []
    for lib in (pytest.importorskip("torch"), retrograd):
        for shape in ((3,), (3, 1), (2,), (2, 3), (0,)):
            out = lib.empty(shape)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    found.append((MADE[name](lib, out).tolist(), tuple(out.shape)))
                except RuntimeError as error:
                    found.append((type(error), str(error)))
            found.append([str(w.message).partition(" (Triggered")[0] for w in told])
    assert found[:10] == found[10:]
