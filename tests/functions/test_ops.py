"""Every row of the table of operations: values, dtypes, gradients to order 2, aliasing, names, errors."""

from __future__ import annotations

import functools
import importlib
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import opdb
import pytest
from op_errors import ERRORS
from opdb import OPS, Op, S, mapped

import retrograd as torch
from retrograd._engine.node import Node
from retrograd._rules import drawn

HERE = [op for op in OPS if op.function(torch) is not None]
SMOOTH = [op for op in HERE if op.grad]
DOUBLE = [op for op in SMOOTH if opdb.f64 in op.dtypes]
RTOL = {"float64": 1e-12, "float32": 4e-6, "float16": 4e-3, "bfloat16": 3e-2}
SECOND_TIME = "Trying to backward through the graph a second time"


def fresh(a: Any) -> Any:
    """A copy with the same strides."""
    if a.flags.c_contiguous:
        return a.copy()
    span = sum((n - 1) * s for n, s in zip(a.shape, a.strides)) + a.itemsize
    out = np.lib.stride_tricks.as_strided(np.empty(span // a.itemsize, a.dtype), a.shape, a.strides, writeable=True)
    np.copyto(out, a) if 0 not in a.strides else out.__setitem__(..., a)
    return out


class Call:
    """One call of an operation on fresh tensors; `leaves` are the float ones that take a gradient."""

    def __init__(self, op: Op, sample: S, lib: Any = torch, grad: bool = False, function: Any = None) -> None:
        self.lib, self.arrays, self.leaves = lib, [], []
        fixed = set(op.fixed) if grad else set()
        floats = -1

        def tensor(a: Any) -> Any:
            nonlocal floats
            a = fresh(a)
            t = lib.from_numpy(a)
            self.arrays.append((a, a.copy()))
            if opdb.is_float(a.dtype):
                floats += 1
                if grad and floats not in fixed:
                    self.leaves.append(t.requires_grad_())
            return t

        self.args = mapped(sample.args, tensor)
        self.kwargs = mapped(sample.kwargs, tensor)
        if op.seeded:
            lib.default_generator.manual_seed(0)
        self.out = (function or op.function(lib))(*self.args, **self.kwargs)
        self.outs = [t for t in opdb.flatten(as_list(self.out)) if isinstance(t, lib.Tensor)]

    def smooth(self) -> list[Any]:
        return [t for t in self.outs if t.requires_grad]

    def seeds(self) -> list[Any]:
        kinds = tuple((tuple(t.shape), t.detach().numpy().dtype) for t in self.smooth())
        return [self.lib.from_numpy(a.copy()) for a in weights_of(kinds)]

    def grads(self, seeds: list[Any] | None = None, **kw: Any) -> list[Any]:
        if not self.smooth():
            return [None] * len(self.leaves)
        seeds = self.seeds() if seeds is None else seeds
        return list(self.lib.autograd.grad(self.smooth(), self.leaves, seeds, allow_unused=True, **kw))


@functools.cache
def weights_of(kinds: tuple[tuple[Any, Any], ...]) -> list[Any]:
    rng = np.random.default_rng(7)
    return [np.asarray(rng.uniform(-1, 1, shape)).astype(dtype) for shape, dtype in kinds]


def as_list(out: Any) -> Any:
    return list(out) if isinstance(out, (list, tuple)) else [out]


def arrays(ts: list[Any]) -> list[Any]:
    return [None if t is None else t.detach().numpy() for t in ts]


def close(got: Any, want: Any, rtol: float, atol: float, what: str) -> None:
    got, want = np.asarray(got).astype(np.float64), np.asarray(want).astype(np.float64)
    assert got.shape == want.shape, what
    near(got, want, rtol, atol, what)


def near(got: Any, want: Any, rtol: float, atol: float, what: str) -> None:
    """assert_allclose, which needs a multiple of the time to find finite numbers near."""
    if not (np.isfinite(want).all() and (abs(got - want) <= atol + rtol * abs(want)).all()):
        np.testing.assert_allclose(got, want, rtol=rtol, atol=atol, err_msg=what, equal_nan=True)


def row_and_dtype(ops: list[Op]) -> list[Any]:
    return [pytest.param(op, dtype, id=f"{op}-{dtype}") for op in ops for dtype in op.dtypes]


def test_every_row_has_its_function() -> None:
    assert [op.name for op in OPS if op.function(torch) is None] == []


def test_names_of_rows_are_unique() -> None:
    assert len({op.name for op in OPS}) == len(OPS)


# ---- values ----


@pytest.mark.parametrize(("op", "dtype"), row_and_dtype(HERE))
def test_value_dtype_and_shape(op: Op, dtype: Any) -> None:
    for sample in op.make(dtype):
        call = Call(op, sample)
        want = list(opdb.flatten(as_list(opdb.reference(op, sample))))
        names = opdb.result_dtypes(op, sample)
        names = names * len(want) if len(names) == 1 else names
        what = f"{op}{sample}"
        assert len(call.outs) == len(want), what
        for got, w, name in zip(arrays(call.outs), want, names):
            assert got.dtype.name == name, what
            if op.exact or "float" not in name:
                w = np.asarray(w)
                assert got.shape == w.shape, what
                np.testing.assert_array_equal(got, w.astype(got.dtype), what)
            else:
                rtol = RTOL[min(name, dtype.name if dtype.name in RTOL else name, key=lambda n: -RTOL[n])] * op.tol
                finite = np.abs(np.asarray(w, np.float64)[np.isfinite(w)])
                close(got, w, rtol, rtol * max(1.0, float(finite.max(initial=0.0))), what)
        for a, before in call.arrays:
            np.testing.assert_array_equal(a, before, f"{what} wrote to an input")


@pytest.mark.parametrize("op", [op for op in HERE if op.method], ids=str)
def test_the_method_is_the_function(op: Op) -> None:
    for sample in op.make(op.dtypes[0]):
        if not isinstance(sample.args[0], np.ndarray):
            continue
        want = Call(op, sample)
        got = Call(op, sample, function=lambda x, *a, **k: getattr(x, str(op.method))(*a, **k))
        assert len(got.outs) == len(want.outs)
        for g, w in zip(arrays(got.outs), arrays(want.outs)):
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(g, w, f"{op}{sample}")


def in_place_samples(op: Op) -> Iterator[tuple[S, list[Any]]]:
    for sample in op.make(op.dtypes[0]):
        x = sample.args[0]
        if isinstance(x, np.ndarray) and (op.view or 0 not in x.strides or x.size < 2):
            want = arrays(Call(op, sample).outs)
            if op.view or want[0].shape == x.shape:
                yield sample, want


@pytest.mark.parametrize("op", [op for op in HERE if op.inplace], ids=str)
def test_in_place_edits_the_tensor_once_and_returns_it(op: Op) -> None:
    def edit(x: Any, *args: Any, **kwargs: Any) -> Any:
        before = x._version
        y = getattr(x, str(op.inplace))(*args, **kwargs)
        assert y is x
        assert x._version == before + 1
        return y

    some = False
    for sample, want in in_place_samples(op):
        some = True
        call = Call(op, sample, function=edit)
        got = arrays(call.outs)[0]
        assert got.dtype == sample.args[0].dtype
        np.testing.assert_array_equal(got, want[0].astype(got.dtype), f"{op}{sample}")
        np.testing.assert_array_equal(call.arrays[0][0].ravel() if not op.view else got,
            got.ravel() if not op.view else got)
        for a, before in call.arrays[1:]:
            np.testing.assert_array_equal(a, before, f"{op}{sample} wrote to another input")
    assert some


@pytest.mark.parametrize("op", [op for op in SMOOTH if op.inplace], ids=str)
def test_gradient_of_in_place(op: Op) -> None:
    def edit(x: Any, *args: Any, **kwargs: Any) -> Any:
        return getattr(x * 1, str(op.inplace))(*args, **kwargs)

    def functional(x: Any, *args: Any, **kwargs: Any) -> Any:
        return op.function(torch)(x * 1, *args, **kwargs)  # type: ignore[misc]

    for sample, _ in in_place_samples(op):
        if not sample.grad:
            continue
        want = Call(op, sample, grad=True, function=functional).grads()
        got = Call(op, sample, grad=True, function=edit).grads()
        for g, w in zip(arrays(got), arrays(want)):
            assert (g is None) == (w is None), f"{op}{sample}"
            if g is not None:
                np.testing.assert_allclose(g, w, rtol=1e-12, atol=1e-14, err_msg=f"{op}{sample}")


@pytest.mark.parametrize("op", [op for op in HERE if op.out], ids=str)
def test_out_is_written_resized_and_returned(op: Op) -> None:
    def into(out: Any) -> Any:
        return lambda *args, **kwargs: op.function(torch)(*args, out=out, **kwargs)  # type: ignore[misc]

    for sample in op.make(op.dtypes[0]):
        want = Call(op, sample).out
        for shape in ((0,), tuple(want.shape)):
            out = torch.empty(shape, dtype=want.dtype)
            assert Call(op, sample, function=into(out)).out is out
            assert out.dtype == want.dtype
            np.testing.assert_array_equal(out.numpy(), want.numpy(), f"{op}{sample}")
        if op.grad:
            with pytest.raises(RuntimeError, match=r"functions with out=\.\.\. arguments don't support automatic diff"):
                Call(op, sample, grad=True, function=into(torch.empty(0, dtype=want.dtype)))


@pytest.mark.parametrize("op", [op for op in HERE if op.view], ids=str)
def test_a_view_shares_memory_and_version(op: Op) -> None:
    for sample in op.make(np.dtype("float64")):
        call = Call(op, sample)
        for out in call.outs:
            if out.numel():
                assert np.shares_memory(out.numpy(), call.arrays[0][0]), f"{op}{sample}"
            before = call.args[0]._version
            if out.numel() and 0 not in out.stride():
                out.add_(0)
                assert call.args[0]._version == before + 1
            assert out._base is call.args[0]


# ---- gradients ----


def values(op: Op, sample: S, point: list[Any]) -> list[Any]:
    """The operation's float outputs with the arrays of `point` for its leaves."""
    left = iter(point)
    floats = -1

    def tensor(a: Any) -> Any:
        nonlocal floats
        if opdb.is_float(a.dtype):
            floats += 1
            if floats not in op.fixed:
                a = next(left)
        return torch.from_numpy(np.array(a))

    if op.seeded:
        torch.manual_seed(0)
    with torch.no_grad():
        out = op.function(torch)(*mapped(sample.args, tensor), **mapped(sample.kwargs, tensor))  # type: ignore[misc]
    return [t.numpy() for t in opdb.flatten(as_list(out)) if isinstance(t, torch.Tensor) and t.is_floating_point()]


def gradient_samples(op: Op) -> Iterator[S]:
    """Where the operation has a derivative."""
    for sample in op.make(next(d for d in op.dtypes if opdb.is_float(d))):
        twins = op.picks and any(0 in a.strides for a in opdb.flatten(sample.args) if isinstance(a,
            np.ndarray) and a.size > 1)
        if sample.grad and not twins:
            yield sample


def points(call: Call) -> list[Any]:
    return [np.array(t.detach().numpy()) for t in call.leaves]


@pytest.mark.parametrize("op", DOUBLE, ids=str)
def test_gradient_equals_finite_differences(op: Op) -> None:
    h = 1e-6
    for sample in gradient_samples(op):
        call = Call(op, sample, grad=True)
        what = f"{op}{sample}"
        assert call.smooth(), what
        weights = [w.numpy() for w in call.seeds()]
        got = call.grads(retain_graph=True)
        here = points(call)
        for k, x in enumerate(here):
            want = np.zeros(x.shape)
            for at in np.ndindex(*x.shape):
                sides = []
                for sign in (h, -h):
                    moved = [np.array(a) for a in here]
                    moved[k][at] += sign
                    sides.append(sum(float((w * y).sum()) for w, y in zip(weights, values(op, sample, moved))))
                want[at] = (sides[0] - sides[1]) / (2 * h)
            g = np.zeros(x.shape) if got[k] is None else got[k].numpy()
            assert g.dtype == x.dtype, what
            close(g, want, 2e-5, 2e-6, what)
        graph = call.grads(create_graph=True)
        for a, b in zip(graph, got):
            if a is not None or b is not None:
                close(a.detach().numpy(), b.numpy(), 1e-10, 1e-12, what + " with create_graph")


@pytest.mark.parametrize("op", [op for op in DOUBLE if op.order2], ids=str)
def test_second_gradient_equals_finite_differences(op: Op) -> None:
    h = 1e-5
    for sample in gradient_samples(op):
        if not sample.order2:
            continue
        call = Call(op, sample, grad=True)
        what = f"{op}{sample}"
        rng = np.random.default_rng(3)
        seeds = [w.requires_grad_() for w in call.seeds()]
        both = [*call.leaves, *seeds]
        here = [np.array(t.detach().numpy()) for t in both]
        along = [np.asarray(rng.uniform(-1, 1, x.shape)) for x in here]
        weigh = [np.asarray(rng.uniform(-1, 1, tuple(t.shape))) for t in call.leaves]
        total = torch.zeros((), dtype=torch.float64)
        for g, v in zip(call.grads(seeds, create_graph=True), weigh):
            if g is not None:
                total = total + (g * torch.from_numpy(v)).sum()
        got = 0.0
        if total.requires_grad:
            second = torch.autograd.grad(total, both, allow_unused=True)
            got = sum(float((s.numpy() * d).sum()) for s, d in zip(second, along) if s is not None)
        sides = []
        for sign in (h, -h):
            moved = [np.asarray(x + sign * d) for x, d in zip(here, along)]
            n = len(call.leaves)
            again = Call(op, replaced(op, sample, moved[:n]), grad=True)
            plain = again.grads([torch.from_numpy(w) for w in moved[n:]])
            sides.append(sum(float((g.numpy() * v).sum()) for g, v in zip(plain, weigh) if g is not None))
        close(got, (sides[0] - sides[1]) / (2 * h), 2e-4, 2e-5, what)


def replaced(op: Op, sample: S, point: list[Any]) -> S:
    left = iter(point)
    floats = -1

    def array(a: Any) -> Any:
        nonlocal floats
        if opdb.is_float(a.dtype):
            floats += 1
            if floats not in op.fixed:
                return next(left)
        return a

    args = mapped(sample.args, array)
    return S(*args, **mapped(sample.kwargs, array))


@pytest.mark.parametrize("op", SMOOTH, ids=str)
def test_gradient_has_the_dtype_of_its_input(op: Op) -> None:
    for dtype in op.dtypes:
        if not opdb.is_float(dtype) or dtype.name == "float64":
            continue
        for sample in op.make(dtype):
            if not sample.grad:
                continue
            call = Call(op, sample, grad=True)
            exact = Call(op, S(*mapped(sample.args, opdb.exact), **mapped(sample.kwargs, opdb.exact)), grad=True)
            rtol = 30 * RTOL[dtype.name] * op.tol
            for g, leaf, e in zip(call.grads(), call.leaves, exact.grads()):
                if g is not None:
                    assert (g.dtype, g.shape) == (leaf.dtype, leaf.shape), f"{op}{sample}"
                    want = e.numpy()
                    close(g.numpy(), want, rtol, rtol * max(1.0, float(np.abs(want).max(initial=0))), f"{op}{sample}")


@pytest.mark.parametrize("op", SMOOTH, ids=str)
def test_gradient_shares_no_memory_with_what_was_saved(op: Op) -> None:
    for sample in gradient_samples(op):
        call = Call(op, sample, grad=True)
        kept = [a for a, _ in call.arrays] + arrays(call.outs)
        for node in graph_of(call.outs):
            kept += [v for v in fields(node) if isinstance(v, np.ndarray)]
        copies = [k.copy() for k in kept]
        for g in call.grads(retain_graph=True):
            if g is not None and g.numel():
                for k in kept:
                    assert not np.shares_memory(g.numpy(), k), f"{op}{sample}"
        for k, c in zip(kept, copies):
            np.testing.assert_array_equal(k, c, f"{op}{sample}: backward wrote to a saved array")


def fields(node: Any) -> list[Any]:
    names = [n for c in type(node).__mro__ for n in getattr(c, "__annotations__", {})]
    return [getattr(node, n, None) for n in {*names, *getattr(node, "__dict__", ())} if not n.startswith("__")]


@pytest.mark.parametrize("op", SMOOTH, ids=str)
def test_backward_twice(op: Op) -> None:
    for sample in gradient_samples(op):
        expected = op.twice if sample.twice is None else sample.twice
        if expected is not None:
            assert runs_twice(Call(op, sample, grad=True)) == expected, f"{op}{sample}"


def runs_twice(call: Call) -> bool:
    call.grads()
    try:
        call.grads()
    except RuntimeError as e:
        assert str(e).startswith(SECOND_TIME)
        return False
    return True


@pytest.mark.parametrize("op", SMOOTH, ids=str)
def test_name_of_the_node(op: Op) -> None:
    for sample in gradient_samples(op):
        name = sample.node or op.node
        if name is not None:
            for out in Call(op, sample, grad=True).smooth():
                assert node_name(out.grad_fn) == name, f"{op}{sample}"


def node_name(node: Any) -> str:
    return node.name().rpartition("::")[2]  # type: ignore[no-any-return]


def graph_of(outs: list[Any]) -> list[Any]:
    found: dict[Any, None] = {}
    stack = [t.grad_fn for t in outs if t.grad_fn is not None]
    while stack:
        node = stack.pop()
        if node not in found:
            found[node] = None
            stack += [n for n, _ in node.next_functions if n is not None]
            inner = getattr(node, "inner", None)
            if isinstance(inner, Node) and inner is not node:
                stack.append(inner)
    return list(found)


# ---- silence ----

SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 1e30, 1e-30, 0.5, -2.0]


def special(sample: S, dtype: Any) -> S:
    """The sample with nan, inf, zeros and huge values in place of its floats."""
    count = 0

    def array(a: Any) -> Any:
        nonlocal count
        if a.dtype != dtype or not a.size:
            return a
        count += 5
        a = fresh(a)
        with np.errstate(all="ignore"):
            a[...] = np.resize(np.roll(np.array(SPECIAL), count), a.shape).astype(dtype)
        return a

    return S(*mapped(sample.args, array), **mapped(sample.kwargs, array))


@pytest.mark.parametrize("op", [op for op in HERE if not op.checks], ids=str)
def test_no_floating_point_warning_whatever_the_values(op: Op) -> None:
    with warnings.catch_warnings(), np.errstate(all="raise"):
        warnings.simplefilter("error")
        for dtype in op.dtypes:
            if opdb.is_float(dtype) and dtype.name != "bfloat16":
                for sample in op.make(dtype):
                    call = Call(op, special(sample, dtype), grad=op.grad)
                    if op.grad:
                        call.grads(retain_graph=True)
                        call.grads(create_graph=True)
        assert np.geterr() == dict.fromkeys(["divide", "over", "under", "invalid"], "raise")


# ---- errors ----


@pytest.mark.parametrize(("row", "make", "error", "text"), [pytest.param(*e, id=f"{e[0]}-{i}") for i,
    e in enumerate(ERRORS)])
def test_errors_begin_as_pytorchs(row: str, make: Any, error: type[Exception], text: str) -> None:
    op = next(op for op in OPS if op.name == row)
    if op.function(torch) is None:
        pytest.fail(f"{row} is missing")
    sample = make(opdb.Make("error " + row, np.dtype("float32"), op.low, op.high, op.kinks, op.gap))
    with pytest.raises(error) as caught:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            Call(op, sample)
    assert str(caught.value).startswith(text)


# ---- the table is complete ----

ELSEWHERE = {
    "LinalgEigBackward0", "LinalgEigvalsBackward0",                                                 # test_complex_linalg
    "Unique2Backward0", "UniqueDimBackward0", "UniqueConsecutiveBackward0", "GeqrfBackward0",       # without a derivative
    "OnceBackward0", "ReshapeAliasBackward0",
    "Heaviside", "NotImplemented", "SubBackward1",
    "AsStridedBackward1", "UnsafeSplitWithSizesBackward0",  # edits in place of a shape, chunks of nothing: random programs
    "TakeAxes", "AverageAgain", "ResampledAgain",           # made by rules of rules of rules only
    "BackwardHookFunctionBackward",                         # made around modules with hooks: tests of modules
    "ScaledDotProductFlashAttentionForCpuBackward0",        # chosen for four dimensions: tests of attention
    "UpsampleBilinear2DAaBackward0", "UpsampleBicubic2DAaBackward0", "UpsampleLanczos2DAaBackward0",    # test_values
    "MkldnnRnnLayerBackward0",                              # a whole LSTM layer: test_recurrent
    "UpsampleBicubic2DBackward0", "MaxUnpool3DBackward0",   # compared with PyTorch by transcripts
    "StandardGammaBackward0", "StandardGammaGradBackward0",     # test_distributions
    "Chunked", "ChunkedEach",                               # a cross entropy with options: test_functions
    *(c.__name__ for c in (*drawn.Drawn.__subclasses__(), drawn.NormalBackward3)),     # test_random
}
RULES = Path(__file__).resolve().parents[2] / "src" / "retrograd" / "_rules"
ENGINE = {"Unary", "Binary", "Nary", "Many", "View", "Product"}


def op_classes() -> dict[Any, str]:
    """The classes of op that have no subclasses, with their file."""
    found: dict[Any, str] = {}
    for path in sorted(RULES.glob("[!_]*.py")):
        for cls in vars(importlib.import_module(f"retrograd._rules.{path.stem}")).values():
            if isinstance(cls, type) and issubclass(cls,
                Node) and not cls.__subclasses__() and cls.__name__ not in ENGINE:
                found.setdefault(cls, path.stem)
    return found


def test_every_op_is_reached_by_a_row() -> None:
    reached = set()
    for op in SMOOTH:
        for sample in gradient_samples(op):
            calls = [Call(op, sample, grad=True)]
            x = sample.args[0] if sample.args else None
            if op.inplace and isinstance(x, np.ndarray) and 0 not in x.strides:
                try:
                    calls.append(Call(op, sample, grad=True, function=lambda x, *a,
                        **k: getattr(x * 1, str(op.inplace))(*a, **k)))  # noqa: B023
                except RuntimeError:
                    pass
            for call in calls:
                reached |= {type(n) for n in graph_of(call.outs)}
                if op.order2 and sample.order2:
                    seeds = [w.requires_grad_() for w in call.seeds()]
                    first = [g for g in call.grads(seeds, create_graph=True) if g is not None and g.requires_grad]
                    reached |= {type(n) for n in graph_of(first)}
    classes = op_classes()
    assert len(classes) > 300
    # Of complex numbers and transforms: test_complex, test_fft.
    missing = [f"{file}.{c.__name__}" for c, file in classes.items()
               if c not in reached and c.__name__ not in ELSEWHERE and file not in ("complexes", "fourier")]
    assert sorted(missing) == []


# ---- PyTorch itself ----


@pytest.fixture(scope="module")
def pytorch() -> Any:
    return pytest.importorskip("torch")


# Of nan, inf and 1e30 PyTorch's answer here is an accident of its formula (or of its rounding); ours is another one.
ACCIDENTS = {  # why results at inf, nan, 1e30 and 1e-30 differ from PyTorch's: op -> what happens there
    "digamma": "the pole: inf here, a huge number there",
    "polygamma": "the pole: inf here, a huge number there",
    "sinc": "the derivative at 1e-30: 0 * inf here",
    "logit": "the derivative at the ends of (0, 1): the sign of inf",
    "operator.pow": "the derivative of inf ** b",
    "F.gelu": "-inf: 0 * inf here, as its definition says; a clamp there",
    "F.hardtanh": "nan: PyTorch's vector loops pass 0, its scalar ones g, as we",
    "F.relu6": "nan: PyTorch's vector loops pass 0, its scalar ones g, as we",
    "F.softshrink": "nan: PyTorch's vector loops pass 0, its scalar ones g, as we",
    "F.hardshrink": "nan: PyTorch's vector loops pass 0, its scalar ones g, as we",
    **dict.fromkeys(("F.elu", "F.elu_", "F.selu", "F.celu", "F.celu_", "F.hardswish"),
                    "nan: PyTorch's vector loops pass nan, its scalar ones g, as we"),
    "cumprod": "the derivative of products with nan and inf: what is divided by what",
    "masked.cumprod": "the derivative of products with nan and inf: what is divided by what",
    "scatter_reduce": "the derivative of products with nan and inf: what is divided by what",
    "index_reduce": "the derivative of products with nan and inf: what is divided by what",
    "topk": "which of several nan comes first",
    "var_mean": "the mean of inf: Welford's running mean, nan there",
    "std_mean": "the mean of inf: Welford's running mean, nan there",
    "F.layer_norm": "the mean of 1e30: Welford's running mean overflows there",
    "F.group_norm": "the mean of 1e30: Welford's running mean overflows there",
    "F.batch_norm": "inf - inf: PyTorch folds mean and scale into one factor",
    "F.batch_norm_training": "inf - inf: PyTorch folds mean and scale into one factor",
    "F.binary_cross_entropy_with_logits": "the derivative at inf: inf * 0",
    "F.soft_margin_loss": "the derivative at inf: inf / inf there",
    "F.multi_margin_loss": "nan is passed over there",
    "F.multilabel_margin_loss": "nan is passed over there",
    "F.conv_transpose2d": "1e30 - 1e30: the order of the sum",
}
COMPARED = [(op, kind) for kind in ("samples", "special") for op in HERE
           if op.oracle and not (kind == "special" and op.name in ACCIDENTS)]
ORACLE_DTYPES = ("float64", "float32", "float16", "int64", "uint8", "bool")


def outcome(op: Op, sample: S, lib: Any, grad: bool) -> Any:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return Call(op, sample, lib, grad)
    except Exception as e:
        return e


def first_sentence(e: Exception) -> str:
    return str(e).split("\n")[0].split(". ")[0]


@pytest.mark.oracle
@pytest.mark.parametrize(("op", "kind"), COMPARED, ids=str)
def test_values_and_gradients_equal_pytorchs(op: Op, kind: str, pytorch: Any) -> None:
    for dtype in op.dtypes:
        if dtype.name not in ORACLE_DTYPES or (kind == "special" and (op.checks or not opdb.is_float(dtype))):
            continue
        grad = op.grad and opdb.is_float(dtype)
        for sample in op.make(dtype):
            if kind == "special":
                sample = special(sample, dtype)
            what = f"{op}{sample}"
            theirs = outcome(op, sample, pytorch, grad)
            ours = outcome(op, sample, torch, grad)
            if isinstance(theirs, Exception) or isinstance(ours, Exception):
                assert type(ours) is type(theirs), what
                assert first_sentence(ours) == first_sentence(theirs), what
                continue
            same_as(op, ours, theirs, dtype, what)


def same_as(op: Op, ours: Call, theirs: Call, dtype: Any, what: str) -> None:
    assert type(ours.out).__name__ == type(theirs.out).__name__ or isinstance(theirs.out, tuple), what
    assert len(ours.outs) == len(theirs.outs), what
    rtol = max(RTOL.get(dtype.name, 4e-6) * 4 * op.tol, 1e-6 * op.rough)
    for a, b in zip(ours.outs, theirs.outs):
        assert str(a.dtype).rpartition(".")[2] == str(b.dtype).rpartition(".")[2], what
        assert tuple(a.shape) == tuple(b.shape), what
        equal(a, b, rtol, what)
        assert (a.requires_grad, a.is_leaf, a.output_nr) == (b.requires_grad, b.is_leaf, b.output_nr), what
        assert a._is_view() == b._is_view(), what
        if b._is_view() and b.numel():
            assert (a.stride(), a.storage_offset()) == (b.stride(), b.storage_offset()), what
        if b.grad_fn is not None:
            assert type(a.grad_fn).__name__ == type(b.grad_fn).__name__, what
            assert a.grad_fn.name() == b.grad_fn.name(), what
            names = [[None if n is None else n.name() for n, _ in t.grad_fn.next_functions] for t in (a, b)]
            assert names[0] == names[1], what
    if theirs.smooth():
        for g, w in zip(ours.grads(retain_graph=True), theirs.grads(retain_graph=True)):
            assert (g is None) == (w is None), what + " gradient"
            if w is not None:
                equal(g, w, rtol * 4, what + " gradient")
        if not what.startswith("F.dropout"):
            assert runs_twice(ours) == runs_twice(theirs), what + " twice"


def equal(a: Any, b: Any, rtol: float, what: str) -> None:
    x, y = a.detach().numpy().astype(np.float64), b.detach().numpy(force=True).astype(np.float64)
    assert x.shape == y.shape, what
    finite = np.abs(y[np.isfinite(y)])
    big = float(finite.max(initial=0.0))
    atol = rtol * max(1.0, big if big < 1e20 else 1.0)
    near(x, y, rtol, atol, what)


@pytest.mark.oracle
@pytest.mark.parametrize(("row", "make", "error", "text"), [pytest.param(*e, id=f"{e[0]}-{i}") for i,
    e in enumerate(ERRORS)])
def test_error_as_pytorch(row: str, make: Any, error: type[Exception], text: str, pytorch: Any) -> None:
    op = next(op for op in OPS if op.name == row)
    sample = make(opdb.Make("error " + row, np.dtype("float32"), op.low, op.high, op.kinks, op.gap))
    theirs = outcome(op, sample, pytorch, False)
    assert type(theirs) is error
    assert str(theirs).startswith(text)


# Differentiated again: PyTorch's gradient is a tensor of zeros without memory, or there is none; ours is one
TWICE_DERIVED = {"cdist": "PyTorch has no second derivative", "F.ctc_loss": "PyTorch has no second derivative",
                 "F.batch_norm": "zeros where PyTorch has no gradient"}


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in DOUBLE if op.oracle], ids=str)
def test_gradients_under_create_graph_as_pytorch(op: Op, pytorch: Any) -> None:
    """Which of them require grad, whatever flows back through them, and whether they can be differentiated again."""
    for sample in op.make(opdb.f64):
        ours, theirs = again(op, sample, torch), again(op, sample, pytorch)
        assert ours[0] == theirs[0], f"{op}{sample} requires_grad"
        if op.name not in TWICE_DERIVED:
            assert ours[1] == theirs[1], f"{op}{sample} a second time"


def again(op: Op, sample: S, lib: Any) -> Any:
    call = Call(op, sample, lib, True)
    gs = call.grads(create_graph=True)
    live = [g for g in gs if g is not None and g.requires_grad]
    try:
        more = lib.autograd.grad([(g * 1.5).sum() for g in live], call.leaves, allow_unused=True) if live else []
    except RuntimeError as e:
        return [g is not None and g.requires_grad for g in gs], (type(e), first_sentence(e))
    return [g is not None and g.requires_grad for g in gs], [g is None for g in more]


def turned(a: Any) -> Any:
    """The same numbers with the dims stored in reverse order."""
    return np.ascontiguousarray(a.T).T if a.ndim > 1 and a.size else a


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("op", [op for op in HERE if op.oracle and op.name != "digamma"], ids=str)
def test_results_are_in_c_order_where_pytorchs_are(op: Op, pytorch: Any) -> None:
    """So that view() works on them."""
    for sample in op.make(opdb.f64 if opdb.f64 in op.dtypes else op.dtypes[0]):
        for laid in (sample, S(*mapped(sample.args, turned), **mapped(sample.kwargs, turned))):
            ours, theirs = outcome(op, laid, torch, False), outcome(op, laid, pytorch, False)
            if isinstance(ours, Exception) or isinstance(theirs, Exception):
                assert type(ours) is type(theirs), f"{op}{laid}"
                continue
            for a, b in zip(ours.outs, theirs.outs):
                assert a.is_contiguous() or not b.is_contiguous(), f"{op}{laid}"
