"""Every kernel of `_nn` beside a NumPy reference: shapes, strides, empty arrays, NaN, infinities, denormal numbers, overlap.

What a kernel declines it must leave untouched and answer with None (or False).  The pure build has no kernels; then only
`absent` is tested.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from kernel_tools import F4, F8, close, native, sigmoid

import retrograd as torch
from retrograd import _kernels
from retrograd._kernels import draws

SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (3, 5), (4, 17), (2, 3, 33), (0,), (0, 4), (3, 0), (130, 200)]
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e38, -1e38, 88.0, -88.0, 104.0, -104.0, 1.0, -1.0, 0.5]

erf = np.vectorize(math.erf, otypes=["f8"])


def test_a_compiled_build_has_the_kernels() -> None:
    assert (_kernels.nn is not None) or os.environ.get("RETROGRAD_BUILD") != "compiled"
    assert _kernels.absent(1, 2) is None
    with pytest.raises(LookupError, match="no kernel 'nothing'"):
        _kernels.kernel("nothing")


@dataclass
class Case:
    """inputs: how many arrays come first; rest: the arguments after them.

    reference   on float64 arrays
    ulps        of the largest result, but for `absolute`, which is allowed besides
    whole       rows matter: NaN anywhere in a row spoils that row only
    """

    name: str
    inputs: int
    reference: Callable[..., Any]
    rest: Callable[[np.ndarray], tuple[Any, ...]] = lambda x: ()
    double: bool = False
    ulps: float = 6
    rows: bool = False


def softmax(x: Any) -> Any:
    e = np.exp(x - x.max(-1, keepdims=True)) if x.size else x
    return e / e.sum(-1, keepdims=True)


def log_softmax(x: Any) -> Any:
    z = x - x.max(-1, keepdims=True) if x.size else x
    return z - np.log(np.exp(z).sum(-1, keepdims=True))


def gelu_grad(x: Any) -> Any:
    return (erf(x * 0.5**0.5) + 1) / 2 + x * np.exp(-x * x / 2) / (2 * np.pi) ** 0.5


def gelu_tanh(x: Any) -> Any:
    return 0.5 * x * (1 + np.tanh((x + 0.044715 * x**3) * (2 / np.pi) ** 0.5))


def gelu_tanh_grad(x: Any) -> Any:
    t = np.tanh((x + 0.044715 * x**3) * (2 / np.pi) ** 0.5)
    return 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * (2 / np.pi) ** 0.5 * (1 + 0.134145 * x * x)


def last(x: np.ndarray) -> tuple[int]:
    return (x.ndim - 1,)


CASES = [
    Case("relu", 1, lambda x: np.maximum(0, x), double=True, ulps=0),
    Case("relu_grad", 2, lambda g, y: np.where(y <= 0, 0, g), double=True, ulps=0),
    Case("sigmoid", 1, sigmoid),
    Case("sigmoid_grad", 2, lambda g, y: g * ((1 - y) * y), double=True),
    Case("tanh_grad", 2, lambda g, y: g * (1 - y * y), double=True),
    Case("silu", 1, lambda x: x * sigmoid(x)),
    Case("silu_grad", 2, lambda g, x: g * (sigmoid(x) * (1 + x * (1 - sigmoid(x))))),
    Case("gelu", 1, lambda x: x * 0.5 * (1 + erf(x * 0.5**0.5)), lambda x: (False,)),
    Case("gelu_grad", 2, lambda g, x: g * gelu_grad(x), lambda x: (False,)),
    Case("gelu", 1, gelu_tanh, lambda x: (True,)),
    Case("gelu_grad", 2, lambda g, x: g * gelu_tanh_grad(x), lambda x: (True,)),
    Case("softmax", 1, softmax, last, rows=True),
    Case("softmax_grad", 2, lambda g, y: y * (g - (g * y).sum(-1, keepdims=True)), last, rows=True, ulps=16),
    Case("log_softmax", 1, log_softmax, last, rows=True),
    Case("log_softmax_grad", 2, lambda g, y: g - np.exp(y) * g.sum(-1, keepdims=True), last, rows=True, ulps=16),
]
NAMED = [f"{c.name}{'-tanh' if c.name.startswith('gelu') and c.rest(np.zeros(1))[0] else ''}" for c in CASES]
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")      # of the references: inf - inf and the like


def arrays_for(case: Case, shape: tuple[int, ...], dtype: Any, seed: int = 0) -> list[np.ndarray]:
    r = np.random.RandomState(seed)
    return [np.asarray(r.randn(*shape) * 2, dtype) for _ in range(case.inputs)]


@native
@pytest.mark.parametrize("case", CASES, ids=NAMED)
def test_kernels_give_the_values_of_their_numpy_reference(case: Case) -> None:
    run = _kernels.kernel(case.name)
    for dtype in [F4, F8] if case.double else [F4]:
        for shape in SHAPES:
            if case.rows and not shape:
                continue
            xs = arrays_for(case, shape, dtype)
            before = [x.copy() for x in xs]
            got = run(*xs, *case.rest(xs[0]))
            close(got, case.reference(*[x.astype("f8") for x in xs]), dtype, case.ulps + case.rows * shape[-1:].count(200))
            assert got.flags.c_contiguous and got.base is None
            for x, was in zip(xs, before):
                np.testing.assert_array_equal(x, was)


@native
@pytest.mark.parametrize("case", CASES, ids=NAMED)
def test_special_numbers(case: Case) -> None:
    """Element by element, or row by row: what is special stays in its place."""
    run = _kernels.kernel(case.name)
    for dtype in [F4, F8] if case.double else [F4]:
        for special in SPECIAL:
            xs = [np.linspace(-1, 1, 3 * 37).reshape(3, 37).astype(dtype) for _ in range(case.inputs)]
            xs[-1][1, 20] = special
            if case.name in ("softmax_grad", "log_softmax_grad") and (np.isinf(special) or special > 1):
                continue                        # not what softmax gives
            if case.name == "gelu_grad" and case.rest(xs[0])[0] and abs(special) > 1e18:
                continue                        # x * x overflows: NaN, as in PyTorch
            with np.errstate(all="ignore"):
                want = np.asarray(case.reference(*[x.astype("f8") for x in xs])).astype(dtype).astype("f8")
            got = run(*xs, *case.rest(xs[0]))
            np.testing.assert_array_equal(np.isnan(got), np.isnan(want), err_msg=str(special))
            np.testing.assert_array_equal(np.isposinf(got), np.isposinf(want), err_msg=str(special))
            ok = np.isfinite(want)
            np.testing.assert_allclose(got[ok], want[ok], rtol=3e-6, atol=3e-7, err_msg=str(special))
    if not case.rows and case.ulps == 0:
        zeros = np.array([0.0, -0.0], F4)
        np.testing.assert_array_equal(np.signbit(run(*[zeros] * case.inputs)), np.signbit(case.reference(*[zeros] * case.inputs)))


@native
@pytest.mark.parametrize("case", CASES, ids=NAMED)
def test_what_is_declined(case: Case) -> None:
    """Other dtypes, orders, byte orders, alignments and classes; a gradient may come in any order."""
    run = _kernels.kernel(case.name)
    x = np.linspace(-2, 2, 24).reshape(4, 6).astype(F4)
    bytes_ = np.zeros(24 * 4 + 1, np.uint8)
    odd = bytes_[1:].view(F4).reshape(4, 6)
    odd[...] = x
    declined = [x.astype("f2"), x.astype("i4"), x.T, x[:, ::2], x[::-1], x.astype(">f4"), odd, x.view(np.recarray), 1.5]
    declined += [] if case.double else [x.astype(F8)]
    for a in declined:
        assert run(*[a] * case.inputs, *case.rest(x)) is None
    if case.inputs == 2:
        want = run(np.ascontiguousarray(x.T).T.copy(), x, *case.rest(x))
        np.testing.assert_array_equal(run(np.asfortranarray(x), x, *case.rest(x)), want)
        ones = np.broadcast_to(np.float32(1), x.shape)
        np.testing.assert_array_equal(run(ones, x, *case.rest(x)), run(ones.copy(), x, *case.rest(x)))
        for g in (x[:2], x.astype(F8), torch.tensor(x)):
            assert run(g, x, *case.rest(x)) is None
    with pytest.raises(TypeError, match=f"{case.name}: expected"):
        run()


# ---- layer norm ----


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize(
    ("shape", "dims"), [((5, 8), 1), ((2, 3, 33), 1), ((2, 3, 7), 2), ((6,), 1), ((0, 4), 1), ((128, 300), 1)])
def test_layer_norm_and_its_gradients_follow_the_formula(shape: tuple[int, ...], dims: int, dtype: Any) -> None:
    r = np.random.RandomState(1)
    x, g = (r.randn(2, *shape) + 3).astype(dtype)
    w, b = r.randn(2, *shape[-dims:]).astype(dtype)
    axes = tuple(range(len(shape) - dims, len(shape)))
    for weight in (w, None):
        for bias in (b, None):
            y, mean, rstd = _kernels.kernel("layer_norm")(x, weight, bias, dims, 1e-5)
            wide = x.astype("f8")
            m, v = wide.mean(axes, keepdims=True), wide.var(axes, keepdims=True)
            unit = (wide - m) / np.sqrt(v + 1e-5)
            assert mean.shape == rstd.shape == m.shape
            close(mean, m, dtype, 16)
            close(rstd, 1 / np.sqrt(v + 1e-5), dtype, 16)
            close(y, unit * (1 if weight is None else w) + (0 if bias is None else b), dtype, 64)
        gx, gw, gb = _kernels.kernel("layer_norm_grad")(g, x, weight, mean, rstd, dims, True, True, True)
        h = g.astype("f8") * (1 if weight is None else w)
        back = (h - h.mean(axes, keepdims=True) - unit * (h * unit).mean(axes, keepdims=True)) / np.sqrt(v + 1e-5)
        lead = tuple(range(len(shape) - dims))
        close(gx, back, dtype, 256)
        close(gw, (g * unit).sum(lead), dtype, 256)
        close(gb, g.astype("f8").sum(lead), dtype, 256)
    assert _kernels.kernel("layer_norm_grad")(g, x, w, mean, rstd, dims, False, False, False) == (None, None, None)
    assert _kernels.kernel("layer_norm")(x, w[:0], b, dims, 1e-5) is None
    assert _kernels.kernel("layer_norm")(x.T, w, b, dims, 1e-5) is None or len(shape) == 1


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize(
    ("shape", "dims"), [((5, 8), 1), ((2, 3, 33), 1), ((2, 3, 7), 2), ((6,), 1), ((0, 4), 1), ((128, 300), 1)])
def test_rms_norm_follows_the_formula(shape: tuple[int, ...], dims: int, dtype: Any) -> None:
    r = np.random.RandomState(1)
    x = r.randn(*shape).astype(dtype)
    w = r.randn(*shape[-dims:]).astype(dtype)
    rms = _kernels.kernel("rms_norm")
    wide = x.astype("f8")
    unit = wide / np.sqrt((wide * wide).mean(tuple(range(len(shape) - dims, len(shape))), keepdims=True) + 1e-5)
    close(rms(x, w, dims, 1e-5), unit * w, dtype, 16)
    close(rms(x, None, dims, 1e-5), unit, dtype, 16)
    for bad in (np.nan, np.inf):
        if x.size:
            x.flat[0] = bad
            assert np.isnan(rms(x, w, dims, 1e-5)).ravel()[0]
    assert rms(x, w[:0], dims, 1e-5) is None
    assert rms(x.T, w, dims, 1e-5) is None or len(shape) == 1


# ---- losses, bias, products, rows ----


@native
def test_nll_picks_and_places_at_the_targets() -> None:
    r = np.random.RandomState(2)
    x, t = r.randn(9, 5).astype(F4), r.randint(0, 5, 9)
    run, back = _kernels.kernel("nll"), _kernels.kernel("nll_grad")
    for mean in (True, False):
        want = -x[np.arange(9), t].astype("f8").sum() / (9 if mean else 1)
        close(run(x, t, mean), np.asarray(want), F4, 4)
        g = back(np.asarray(2.0, F4), t, 5, mean)
        one = np.zeros((9, 5))
        one[np.arange(9), t] = -2.0 / (9 if mean else 1)
        close(g, one, F4, 1)
    for bad in (t - 1, t + 1, t.astype("i4"), t[:-1], t.reshape(3, 3), t[::-1][::-1][::2]):
        assert run(x, bad, True) is None
    assert run(x[:0], t[:0], True) is None      # NaN, which the reference gives
    assert back(np.asarray(2.0, F4), t, 4, True) is None


@native
@pytest.mark.parametrize("dtype", [F4, F8])
def test_bias_and_small_products(dtype: Any) -> None:
    r = np.random.RandomState(3)
    for n, m, p in [(1, 4, 16), (3, 1, 5), (8, 16, 16), (2, 0, 3), (0, 3, 2), (5, 7, 1)]:
        a, b, c = (r.randn(*s).astype(dtype) for s in ((n, m), (m, p), (p,)))
        for left in (a, np.asfortranarray(a), np.repeat(a, 2, 1)[:, ::2], a[::-1]):
            for right in (b, np.asfortranarray(b), b[:, ::-1]):
                y = _kernels.kernel("matmul")(left, right)
                close(y, left.astype("f8") @ right.astype("f8"), dtype, 8)
        y = (a @ b).astype(dtype)
        want = y + c
        assert _kernels.kernel("add_bias")(y, c)
        np.testing.assert_array_equal(y, want)
    big = r.randn(64, 64).astype(dtype)
    matmul, add_bias = _kernels.kernel("matmul"), _kernels.kernel("add_bias")
    assert matmul(big, big) is None and matmul(big[:2], big[:2]) is None
    assert matmul(big[0], big[0]) is None and matmul(big[:1], big[:, :1].astype("f2")) is None
    special = np.array([[np.nan, 1], [np.inf, 0]], dtype)
    np.testing.assert_array_equal(matmul(special, np.eye(2, dtype=dtype)), special @ np.eye(2, dtype=dtype))
    row = np.ones(8, dtype)
    for y, c in ((row.reshape(2, 4), row[:4]), (row.reshape(2, 4)[:, ::2], row[:2].copy()), (row, np.ones(4, dtype))):
        assert not add_bias(y, c)               # shared memory, stride, size
    row.flags.writeable = False
    assert not add_bias(row, np.ones(8, dtype)) and (row == 1).all()


@native
@pytest.mark.parametrize("dtype", [F4, F8])
def test_strides_of_single_rows_and_columns_change_no_bit_of_small_products(dtype: Any) -> None:
    r = np.random.RandomState(4)
    for n, m, p in [(1, 23, 1), (6, 23, 1), (1, 23, 6), (5, 1, 4)]:
        a, b = r.randn(n, m).astype(dtype), r.randn(m, p).astype(dtype)
        made = set()
        for step in (a.itemsize, 64, 0):
            left = np.ndarray(a.shape, dtype, a, 0, [step if k == 1 else s for k, s in zip(a.shape, a.strides)])
            right = np.ndarray(b.shape, dtype, b, 0, [step if k == 1 else s for k, s in zip(b.shape, b.strides)])
            made.add(_kernels.kernel("matmul")(left, right).tobytes())
        assert len(made) == 1


@native
@pytest.mark.parametrize("dtype", [F4, F8])
def test_rows_added_up(dtype: Any) -> None:
    r = np.random.RandomState(4)
    where, x = r.randint(0, 6, 50), r.randn(50, 3).astype(dtype)
    want = np.zeros((7, 3))
    np.add.at(want, where, x)
    run = _kernels.kernel("add_rows")
    close(run(where, x, 7), want, dtype, 16)
    assert run(where, x, 5) is None and run(where - 1, x, 7) is None and run(where[:-1], x, 7) is None
    assert run(where.astype("i4"), x, 7) is None and run(where, x[:, ::2], 7) is None
    assert run(where[:0], x[:0], 7).shape == (7, 3)


@native
def test_safe_softmax() -> None:
    run = _kernels.kernel("safe_softmax")
    x = np.random.RandomState(10).randn(2, 3, 5, 40).astype(F4) * 4
    mask = np.where(np.tri(5, 40, 3), 0, -np.inf).astype(F4)
    close(run(x, None), softmax(x.astype("f8")), F4, 4)
    close(run(x, mask), softmax(x.astype("f8") + mask), F4, 4)
    mask[2] = -np.inf
    assert not run(x, mask)[:, :, 2].any() and np.isfinite(run(x, mask)).all()
    mask[2, 7] = np.nan
    assert np.isnan(run(x, mask)[:, :, 2]).all() and np.isfinite(run(x, mask)[:, :, 3]).all()
    x[0, 0, 0, 0] = np.inf
    assert np.isnan(run(x, None)[0, 0, 0]).all()
    for bad in (mask[:4], mask[None], mask.astype(F8), mask.T):
        assert run(x, bad) is None
    assert run(x.astype(F8), None) is None and run(x[..., ::2], None) is None and run(np.float32(1), None) is None
    assert run(x[:0], mask).shape == (0, 3, 5, 40)


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("shape", [(5, 8), (300, 33), (3, 4, 5), (2, 7, 9, 5000), (0, 4), (4, 0), (3, 0, 2), (130,)])
def test_sums_around_a_dim_equal_numpys(shape: tuple[int, ...], dtype: Any) -> None:
    x = (np.random.RandomState(12).randn(*shape) + 1).astype(dtype)
    for dim in range(len(shape)):
        other = tuple(i for i in range(len(shape)) if i != dim)
        close(_kernels.kernel("sum_around")(x, dim), x.astype("f8").sum(other), dtype, 16)
    assert _kernels.kernel("sum_around")(x, len(shape)) is None
    assert _kernels.kernel("sum_around")(x[::-1], 0) is None or x.size == 0 or len(shape) == 1 and shape[0] < 2


@native
def test_dropout_has_the_bits_of_the_numpy_code(monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for kernel in (_kernels.kernel("keep"), _kernels.absent):
        monkeypatch.setattr(draws, "quick_keep", kernel)
        for p in (0.1, 0.5, 0.99, 1 / 3):
            torch.manual_seed(3)
            x = torch.ones(37, 11, requires_grad=True)
            y = torch.nn.functional.dropout(x, p)
            y.sum().backward()
            torch.manual_seed(3)
            kept = torch.empty(37, 11).bernoulli_(1 - p).numpy() / F4.type(1 - p)
            np.testing.assert_array_equal(y.detach().numpy(), kept)
            np.testing.assert_array_equal(x.grad.numpy(), kept)
            found.append(y.detach().numpy())
    for one, other in zip(found[:4], found[4:], strict=True):
        np.testing.assert_array_equal(one, other)


# ---- optimisers: the same bits as the NumPy code, with and without kernels ----

STEPS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}), ("SGD", {"lr": 0.1, "weight_decay": 0.1, "maximize": True}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.3}), ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("Adam", {}), ("Adam", {"weight_decay": 0.1, "maximize": True}), ("Adam", {"amsgrad": True, "eps": 1e-3}),
    ("AdamW", {}), ("AdamW", {"amsgrad": True, "lr": 0.1}),
    ("RMSprop", {}), ("RMSprop", {"weight_decay": 0.1, "maximize": True}), ("RMSprop", {"momentum": 0.9, "eps": 1e-5}),
]  # fmt: skip
WHERE = {"AdamW": "adam"}        # the file of the step


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize(("name", "options"), STEPS, ids=[f"{n} {o}" for n, o in STEPS])
def test_steps_have_the_bits_of_the_numpy_code(
    name: str, options: dict[str, Any], dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = __import__(f"retrograd.optim.{WHERE.get(name, name.lower())}", fromlist=["quick_step"])

    def train() -> list[Any]:
        r = np.random.RandomState(7)
        shapes = [(3, 67), (), (0,), (5,)]
        params = [torch.tensor(np.asarray(r.randn(*s), dtype), requires_grad=True) for s in shapes]
        o = getattr(torch.optim, name)(params, **options)
        for _ in range(4):
            for p in params:
                g = np.asarray(r.randn(*p.shape), dtype)
                g.reshape(-1)[1:4] = [np.nan, np.inf, 1e-40][:max(0, g.size - 1)]
                p.grad = torch.tensor(g)
            o.step()
        kept = [t.numpy().copy() for state in o.state.values() for t in state.values()]
        return [p.detach().numpy() for p in params] + kept + [[p._version for p in params]]

    quick, calls = module.quick_step, []

    def counted(*args: Any) -> Any:
        calls.append(quick(*args))
        return calls[-1]

    monkeypatch.setattr(module, "quick_step", counted)
    with_kernel = train()
    assert calls and all(calls)
    monkeypatch.setattr(module, "quick_step", _kernels.absent)
    for got, want in zip(with_kernel, train(), strict=True):
        np.testing.assert_array_equal(got, want)


STUCK = [("SGD", {"lr": 10.0, "momentum": m, "nesterov": m == 0.5}) for m in (0.5, 0.9, 0.99, 1.0)] + [
    ("Adam", {"betas": b, "lr": lr, "eps": eps, "amsgrad": a, "weight_decay": w})
    for b in ((0.9, 0.999), (0.5, 0.9), (0.999, 0.99999), (0.0, 0.0))
    for lr, eps, a, w in (
        (1e-3, 1e-8, False, 0.0), (100.0, 1e-9, False, 0.0), (0.1, 1e-8, True, 0.0), (0.1, 0.0, False, 0.0),
        (0.1, 1e-8, False, 0.1))]


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize(("name", "options"), STUCK, ids=[f"{n} {o}" for n, o in STUCK])
def test_means_at_a_few_times_the_smallest_number_step_with_the_bits_of_the_numpy_code(
    name: str, options: dict[str, Any], dtype: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    module = __import__(f"retrograd.optim.{WHERE.get(name, name.lower())}", fromlist=["quick_step"])
    numbers = np.array([0, -0.0, 1e-38, 3e-21, -2e-20, 1e-10, -1, 3, np.inf, np.nan], dtype)
    units = np.array([1, 0, 2, 4, 5, 6, 16, 17, 100, 490, 500, 510, 1000, 1001, 10**6], f"i{np.dtype(dtype).itemsize}")
    x, first, second, g = (a.reshape(-1) for a in np.meshgrid(
        numbers, np.concatenate([units.view(dtype), -units.view(dtype)]), units.view(dtype), np.array([0, 1e-3], dtype)))

    def train() -> list[Any]:
        p = torch.tensor(x, requires_grad=True)
        o = getattr(torch.optim, name)([p], **options)
        p.grad = torch.tensor(g)
        o.step()
        p.data = torch.tensor(x)
        state = o.state[p]
        for key, value in zip(("momentum_buffer",) if name == "SGD" else ("exp_avg", "exp_avg_sq"), (first, second)):
            state[key].copy_(torch.tensor(value))
        for _ in range(3):
            o.step()
        return [p.detach().numpy(), *(t.numpy() for t in state.values())]

    with_kernel = train()
    monkeypatch.setattr(module, "quick_step", _kernels.absent)
    for got, want in zip(with_kernel, train(), strict=True):
        np.testing.assert_array_equal(got, want)


@native
def test_a_declined_step_changes_nothing() -> None:
    adam, sgd, rmsprop = (_kernels.kernel(name) for name in ("adam", "sgd", "rmsprop"))
    rest = (1e-3, 0.9, 0.999, 1e-8, 0.0, False, False)

    def fresh() -> list[Any]:
        return [np.full(8, float(i + 1), F4) for i in range(5)]

    block = np.arange(32, dtype=F4)
    for spoil in ("half", "stride", "frozen", "overlap", "shape", "tensor"):
        p, g, m, v, top = fresh()
        if spoil == "half":
            m = m.astype("f2")
        elif spoil == "stride":
            v = np.ones(16, F4)[::2]
        elif spoil == "frozen":
            p.flags.writeable = False
        elif spoil == "overlap":
            p, g = block[:8], block[4:12]
        elif spoil == "shape":
            g = g.reshape(2, 4)
        step = np.zeros((), F4)
        numbers = (torch.tensor(1e-3), *rest[1:]) if spoil == "tensor" else rest
        before = [a.copy() for a in (p, g, m, v, top)]
        assert not adam(p, g, m, v, top, step, *numbers)
        assert not sgd(p, g, m if spoil != "stride" else v, numbers[0], 0.9, 0.0, 0.0, False, False, False)
        assert not rmsprop(p, g, m if spoil != "stride" else v, None, step, numbers[0], 0.9, 1e-8, 0.0, 0.0, False)
        assert step == 0
        for a, was in zip((p, g, m, v, top), before):
            np.testing.assert_array_equal(a, was)


@native
def test_stats_count_zeros_and_find_extremes_in_one_pass() -> None:
    stats = _kernels.kernel("stats")
    for dtype in ("f4", "f8"):
        for n in (1, 5, 512, 1000, 70_000):
            x = np.random.default_rng(n).standard_normal(n).astype(dtype)
            x[::7] = 0
            squares, low, high, zeros = stats(x)
            assert squares == pytest.approx(float((x.astype("f8") ** 2).sum()), rel=1e-6)
            assert (low, high, zeros) == (x.min(), x.max(), np.count_nonzero(x == 0))
    assert np.isnan(stats(np.array([np.nan, 1.0], F4))[0]) and stats(np.array([np.inf, 1.0], F4))[0] == np.inf
    assert stats(np.zeros(0, F4)) is None and stats(np.zeros(4, F4)[::2]) is None and stats([1.0]) is None


@native
def test_same_compares_numbers_and_not_bits() -> None:
    same = _kernels.kernel("same")
    for dtype in (F4, F8):
        x = np.random.RandomState(9).randn(9000).astype(dtype)
        x[::100] = np.nan
        x[1::100] = 0.0
        for at in (2, 4097, 8999):
            y = x.copy()
            assert same(x, y) is True
            y[1::100] = -0.0                            # equal, though not to the bit
            y[::100] = -y[::100]
            assert same(x, y) is True is np.array_equal(x, y, equal_nan=True)
            y[at] = np.nan
            assert same(x, y) is False and same(y, x) is False
    assert same(np.zeros(0, F4), np.zeros(0, F4)) is True
    assert same(np.zeros(2, F4), np.zeros(3, F4)) is None and same(np.zeros(2, F4), np.zeros(2, F8)) is None


@native
def test_squares_and_scale() -> None:
    r = np.random.RandomState(8)
    for dtype in (F4, F8):
        x = r.randn(5000).astype(dtype)
        assert _kernels.kernel("squares")(x) == pytest.approx(float((x.astype("f8") ** 2).sum()), rel=1e-6)
        want = x * dtype.type(0.3)
        assert _kernels.kernel("scale")(x, 0.3)
        np.testing.assert_array_equal(x, want)
    assert _kernels.kernel("squares")(np.array([1e30, 1.0], F4)) == np.inf      # as a sum in float32
    assert np.isnan(_kernels.kernel("squares")(np.array([np.nan, 1.0], F4)))
    assert _kernels.kernel("squares")(np.zeros(0, F4)) == 0.0
    assert _kernels.kernel("squares")(x[::2]) is None and not _kernels.kernel("scale")(x[::2], 1.0)


@native
def test_sums_of_squares_of_arrays_and_of_what_dlpack_lends() -> None:
    squares = _kernels.kernel("squares")
    x, y = np.arange(5, dtype=F4), np.arange(6, dtype=F8).reshape(2, 3)
    assert squares((x, y)) == (30.0, 55.0) and squares(()) == ()
    lent = x.__dlpack__()
    assert squares((lent, y.__dlpack__(), x)) == (30.0, 55.0, 30.0) and squares(lent) == 30.0
    for other in (x[::2], y.T, x.astype("i4"), x.astype("f2"), x.astype("F")):
        assert squares(other) is squares(other.__dlpack__()) is squares((x, other)) is squares((x, other.__dlpack__())) is None
    torch.from_dlpack(lent)
    assert squares(lent) is None                # somebody took it
