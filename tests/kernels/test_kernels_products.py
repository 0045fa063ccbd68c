"""Kernels made of products (multiply, lstm, attention, convolve), with one thread and with several; windows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from kernel_tools import F4, F8, close, native, sigmoid

import retrograd as torch
from retrograd import _kernels

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")      # of the references: inf - inf and the like


@pytest.fixture(params=[1, 3])
def threads(request: pytest.FixtureRequest) -> Iterator[int]:
    before = torch.get_num_threads()
    _kernels.kernel("threads")(request.param)
    yield request.param
    _kernels.kernel("threads")(before)


def orders(x: np.ndarray) -> list[np.ndarray]:
    """x with its last two dims in either order, strided and backwards."""
    return [x, np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2), np.repeat(x, 2, -1)[..., ::2], x[..., ::-1, :]]


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize(("lead", "n", "m", "p"), [
    ((), 4, 4, 4), ((), 17, 5, 33), ((), 70, 600, 31), ((), 8, 30, 530), ((2, 3), 9, 20, 16), ((5,), 40, 7, 21), ((0,), 8, 8, 8),
    ((), 200, 130, 200)])  # fmt: skip
def test_products_of_any_strides_equal_numpys(lead: Any, n: int, m: int, p: int, dtype: Any, threads: int) -> None:
    r = np.random.RandomState(11)
    a, b = r.randn(*lead, n, m).astype(dtype), r.randn(*lead, m, p).astype(dtype)
    run = _kernels.kernel("multiply")
    if run(a, b) is None:
        pytest.skip("vectors are not wide here: products are BLAS's")
    for left in orders(a):
        for right in orders(b):
            y = run(left, right)
            close(y, left.astype("f8") @ right.astype("f8"), dtype, 4 + m**0.5)
            assert y.flags.c_contiguous
    assert run(a, b.astype("f2")) is None and run(a, b[..., :3]) is None and run(a, b[..., :-1, :]) is None
    assert run(a[..., 0], b) is None and run(a, [1.0]) is None


@native
@pytest.mark.parametrize("generation", [1, 3, 4])
@pytest.mark.parametrize("dtype", [F4, F8])
def test_products_of_older_processors(dtype: Any, generation: int) -> None:
    """Each generation has tiles of its own; a product of whole numbers is exact in all."""
    r, vectors = np.random.RandomState(15), _kernels.kernel("vectors")
    try:
        assert vectors(generation) <= generation
        for n, c, o, h, w in [(2, 3, 7, 5, 9), (3, 40, 21, 8, 8), (1, 1, 1, 3, 3), (4, 9, 33, 11, 6)]:
            x, k = (r.randint(-3, 4, s).astype(dtype) for s in ((n, c, h, w), (o, c, 3, 3)))
            pairs = pairs_of((h, w), (3, 3), (1, 1), (1, 1), (1, 1))
            y = _kernels.kernel("convolve")(x, k, None, pairs, 1)
            np.testing.assert_array_equal(y, convolved(x, k, pairs, 1))
            same_inner(_kernels.kernel("convolve_x")(y, k, pairs, 1), x, y, y)
            same_inner(_kernels.kernel("convolve_w")(y, x, pairs, 1), k, y, y)
    finally:
        vectors(4)


@native
def test_products_of_special_numbers() -> None:
    run = _kernels.kernel("multiply")
    a, b = np.zeros((2, 20, 20), F4)
    a[3, 5], a[7, 2], b[5, 6] = np.nan, np.inf, 1.0
    got = run(a, b)
    if got is not None:                         # none: BLAS's then
        np.testing.assert_array_equal(got, a @ b)


# x (T, B, 4 H): what the inputs give the gates
LSTMS = [(1, 1, 1, True), (3, 2, 5, False), (4, 17, 33, True), (6, 40, 16, True)]


@native
@pytest.mark.parametrize(("steps", "batch", "hidden", "biased"), LSTMS)
def test_lstm_equals_its_steps_in_double(steps: int, batch: int, hidden: int, biased: bool, threads: int) -> None:
    r = np.random.RandomState(9)
    x, w = r.randn(steps, batch, 4 * hidden), r.randn(4 * hidden, hidden)
    bias, h, c = r.randn(4 * hidden), r.randn(batch, hidden), r.randn(batch, hidden)
    small = [v.astype(F4) for v in (x, w, bias, h, c)]
    x, w, bias, h, c = (v.astype("f8") for v in small)
    run, back = _kernels.kernel("lstm"), _kernels.kernel("lstm_grad")
    got, gates, cells = run(small[0], small[1], small[2] if biased else None, small[3], small[4])
    want, kept = [], []
    for t in range(steps):
        i, f, g, o = np.split(x[t] + h @ w.T + (bias if biased else 0), 4, 1)
        i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
        before, c = c, f * c + i * g
        h = o * np.tanh(c)
        want.append(h)
        kept.append((i, f, g, o, before, c))
    close(got, np.array([*want, c]), F4, 64)
    close(gates, np.array([np.concatenate(k[:4], 1) for k in kept]), F4, 64)
    close(cells, np.array([k[4] for k in kept] + [c]), F4, 64)

    g_y = r.randn(steps + 1, batch, hidden).astype(F4)
    out, dh, dc = back(g_y, small[1], gates, cells)
    d, e = g_y[steps - 1].astype("f8"), g_y[steps].astype("f8")
    outs = []
    for t in range(steps - 1, -1, -1):
        i, f, g, o, before, c = kept[t]
        e = e + d * o * (1 - np.tanh(c) ** 2)
        outs.append(np.concatenate(
            [e * g * i * (1 - i), e * before * f * (1 - f), e * i * (1 - g * g), d * np.tanh(c) * o * (1 - o)], 1))
        e = e * f
        d = outs[-1] @ w + (g_y[t - 1] if t else 0)
    close(out, np.array(outs[::-1]), F4, 256)
    close(dh, d, F4, 256)
    close(dc, e, F4, 256)
    for spoil in range(5):
        bad = [v if k != spoil else v.astype("f8") for k, v in enumerate(small)]
        assert run(*bad) is None
        bad = [v if k != spoil else v[..., :-1] if v.ndim == 3 else v[:-1] for k, v in enumerate(small)]
        assert run(*bad) is None
    assert back(g_y[1:], small[1], gates, cells) is None and back(g_y, small[1].T, gates, cells) is None


def attended(q: Any, k: Any, v: Any, mask: Any) -> tuple[Any, Any, Any]:
    """-> y, the weights, the logarithms of their sums; rows of -inf alone give 0"""
    s = q @ k.swapaxes(-1, -2) * 0.3 + mask
    top = s.max(-1, keepdims=True)
    e = np.exp(s - np.where(top == -np.inf, 0, top))
    total = e.sum(-1, keepdims=True)
    p = e / np.where(total == 0, 1, total)
    return p @ v, p, np.where(total == 0, np.inf, np.log(total) + np.where(top == -np.inf, 0, top))[..., 0]


@native
@pytest.mark.parametrize("masked", ["", "causal", "(T, S)", "(B, 1, T, S)"])
@pytest.mark.parametrize(("rows", "columns", "e"), [(1, 1, 1), (5, 7, 4), (70, 33, 20), (9, 700, 16)])
def test_attention_and_its_gradients_follow_the_formula(rows: int, columns: int, e: int, masked: str, threads: int) -> None:
    """The gradient of s = q kt is p (d - sum of d p), d = g vt."""
    r = np.random.RandomState(13)
    q, g = r.randn(2, 2, rows, 3, e).astype(F4).swapaxes(2, 3)              # (B, H, T, E), not in C order
    k, v = r.randn(2, 2, columns, 3, e).astype(F4).swapaxes(2, 3)
    mask: Any = None
    if masked.startswith("("):
        mask = np.where(r.rand(*(2, 1, rows, columns)[2 if masked == "(T, S)" else 0:]) < 0.7, r.randn(), -np.inf).astype(F4)
        mask[..., rows // 2, :] = -np.inf                                   # a row that sees nothing
    add = np.where(np.tri(rows, columns), 0, -np.inf) if masked == "causal" else 0.0 if mask is None else mask.astype("f8")
    wide = [x.astype("f8") for x in (q, k, v, g)]
    want, p, sums = attended(wide[0], wide[1], wide[2], add)
    y, lse = _kernels.kernel("attention")(q, k, v, mask, masked == "causal", 0.3)
    close(y, want, F4, 32)
    close(lse.swapaxes(1, 2), sums, F4, 32)
    assert y.strides == q.strides or rows == 1 or e == 1
    d = wide[3] @ wide[2].swapaxes(-1, -2)
    back = p * (d - (d * p).sum(-1, keepdims=True)) * 0.3
    for got, due, like in zip(
            _kernels.kernel("attention_grad")(g, q, k, v, y, lse, mask, masked == "causal", 0.3),
            (back @ wide[1], back.swapaxes(-1, -2) @ wide[0], p.swapaxes(-1, -2) @ wide[3]), (q, k, v), strict=True):
        close(got, due, F4, 128)
        assert got.shape == like.shape


@native
def test_attention_that_is_declined() -> None:
    q, k = np.ones((2, 3, 4, 8), F4), np.ones((2, 3, 5, 8), F4)
    run, back = _kernels.kernel("attention"), _kernels.kernel("attention_grad")
    y, lse = run(q, k, k, None, False, 1.0)
    assert back(q, q, k, k, y, lse, None, False, 1.0) is not None
    for bad in ((q.astype(F8), k, k), (q, k[:, :2], k[:, :2]), (q, k, k[:, :, :4]), (q[..., :4], k, k), (q[..., ::-1], k, k),
                (q[0], k[0], k[0]), (q[:0], k[:0], k[:0]), (q, k[:, :, :0], k[:, :, :0])):
        assert run(*bad, None, False, 1.0) is None
    for mask in (np.ones((4, 4), F4), np.ones((4, 5), F8), np.ones((3, 1, 4, 5), F4), np.ones((5, 4), F4).T):
        assert run(q, k, k, mask, False, 1.0) is None
    assert back(q[:, :, :3], q, k, k, y, lse, None, False, 1.0) is None and back(q, q, k, k, y, lse[1:], None, False, 1.0) is None
    q[0, 0, 1, 0] = np.nan
    assert np.isnan(run(q, k, k, None, False, 1.0)[0]).sum() == 8           # in that row alone


# sizes, kernel, stride, padding, dilation: down and right
WINDOWS = [
    ((6, 7), (3, 3), (1, 1), (1, 1), (1, 1)), ((6, 7), (2, 3), (2, 1), (0, 2), (1, 2)), ((1, 9), (1, 3), (1, 2), (0, 1), (1, 1)),
    ((5, 5), (5, 5), (1, 1), (2, 2), (1, 1)), ((4, 4), (1, 1), (3, 3), (0, 0), (1, 1)), ((3, 3), (3, 3), (2, 2), (4, 4), (2, 2)),
    ((40, 36), (3, 3), (1, 1), (1, 1), (1, 1)), ((1, 3), (1, 7), (1, 1), (0, 3), (1, 1))]  # fmt: skip


def pairs_of(size: Any, kernel: Any, stride: Any, padding: Any, dilation: Any) -> Any:
    out = tuple((size[i] + 2 * padding[i] - dilation[i] * (kernel[i] - 1) - 1) // stride[i] + 1 for i in (0, 1))
    return size + kernel + stride + padding + dilation + out


def windows_of(x: Any, pairs: Any) -> Any:
    """x (N, C, H, W) -> (N, C, KH, KW, OH, OW)"""
    kh, kw, sh, sw, ph, pw, dh, dw, oh, ow = pairs[2:]
    wide = np.pad(x, [(0, 0), (0, 0), (ph, ph), (pw, pw)])
    found = np.zeros(x.shape[:2] + (kh, kw, oh, ow), x.dtype)
    for i, j in np.ndindex(kh, kw):
        found[:, :, i, j] = wide[:, :, i * dh:i * dh + sh * (oh - 1) + 1:sh, j * dw:j * dw + sw * (ow - 1) + 1:sw]
    return found


def convolved(x: Any, w: Any, pairs: Any, groups: int) -> Any:
    parts = zip(np.split(windows_of(x.astype("f8"), pairs), groups, 1), np.split(w.astype("f8"), groups), strict=True)
    return np.concatenate([np.einsum("ncijpq,ocij->nopq", a, b) for a, b in parts], 1)


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("where", WINDOWS)
def test_convolution_sums_windows_and_has_its_adjoints(where: Any, groups: int, dtype: Any, threads: int) -> None:
    """y as a sum over windows; the other two maps are its adjoints: <g, y(x, w)> = <x(g, w), x> = <w(g, x), w>."""
    pairs, r = pairs_of(*where), np.random.RandomState(5)
    for n, each, own in ((3, 2, 5), (5, 17, 18), (1, 1, 1)):
        x = r.randn(n, each * groups, *where[0]).astype(dtype)
        w = r.randn(own * groups, each, *where[1]).astype(dtype)
        bias = r.randn(own * groups).astype(dtype)
        want = convolved(x, w, pairs, groups)
        y = _kernels.kernel("convolve")(x, w, None, pairs, groups)
        close(y, want, dtype, 64)
        close(_kernels.kernel("convolve")(x, w, bias, pairs, groups), want + bias[:, None, None], dtype, 64)
        g = r.randn(*y.shape).astype(dtype)
        gx, gw = _kernels.kernel("convolve_x")(g, w, pairs, groups), _kernels.kernel("convolve_w")(g, x, pairs, groups)
        assert gx.shape == x.shape and gw.shape == w.shape and gx.dtype == gw.dtype == dtype
        for other in (x, r.randn(*x.shape)):
            same_inner(gx, other, g, convolved(other, w, pairs, groups))
        for other in (w, r.randn(*w.shape)):
            same_inner(gw, other, g, convolved(x, other, pairs, groups))


def same_inner(a: Any, b: Any, c: Any, d: Any) -> None:
    """<a, b> = <c, d>, to what rounding in a and c leaves of their norms."""
    a, b, c, d = (v.astype("f8").reshape(-1) for v in (a, b, c, d))
    size = np.linalg.norm(a) * np.linalg.norm(b) + np.linalg.norm(c) * np.linalg.norm(d)
    assert abs(a @ b - c @ d) <= 4 * np.finfo(F4).eps * float(size)


@native
def test_convolutions_that_are_declined() -> None:
    x, w, pairs = np.ones((2, 4, 6, 6), F4), np.ones((6, 2, 3, 3), F4), pairs_of((6, 6), (3, 3), (1, 1), (0, 0), (1, 1))
    y = np.ones((2, 6, 4, 4), F4)
    run, to_x, to_w = (_kernels.kernel(name) for name in ("convolve", "convolve_x", "convolve_w"))
    assert run(x, w, None, pairs, 2).shape == y.shape
    for bad in ((x[..., ::-1], w), (x.astype(F8), w), (x, w.astype("f2")), (x[:, :3], w), (x[:, :, :5], w), (x[0], w),
                (x, w[:, :, :2])):
        assert run(*bad, None, pairs, 2) is None
    assert run(x, w, np.ones(5, F4), pairs, 2) is None and run(x, w, None, pairs, 1) is None
    assert to_x(y[:, :5], w, pairs, 2) is None and to_x(x, w, pairs, 2) is None
    assert to_w(y, x[:1], pairs, 2) is None and to_w(y.astype(F8), x, pairs, 2) is None and to_w(y, x[:, :3], pairs, 2) is None
    assert run(x[:0], w, None, pairs, 2).shape == (0, 6, 4, 4) and not to_w(y[:0], x[:0], pairs, 2).any()
    for call, args in ((run, (x, w, None)), (to_x, (y, w)), (to_w, (y, x))):
        for bad in (pairs[:-1], list(pairs), (2**63, *pairs[1:]), (*pairs[:2], -1, *pairs[3:]), (*pairs[:4], 0, *pairs[5:])):
            assert call(*args, bad, 2) is None


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("where", WINDOWS)
def test_sums_over_windows(where: Any, dtype: Any) -> None:
    pairs, r = pairs_of(*where), np.random.RandomState(5)
    x = r.randn(3, 2, *where[0]).astype(dtype)
    sums = _kernels.kernel("window_sums")(x, pairs)
    close(sums, windows_of(x.astype("f8"), pairs).sum((2, 3)), dtype, 16)
    h = r.randn(*sums.shape).astype(dtype)
    spread = _kernels.kernel("spread_sums")(h, pairs)
    assert spread.shape == x.shape
    same_inner(sums, h, x, spread)
    assert _kernels.kernel("window_sums")(x.astype("f2"), pairs) is None
    assert _kernels.kernel("window_sums")(x, pairs[:-1]) is None


@native
@pytest.mark.parametrize("dtype", [F4, F8])
def test_windows_longer_than_what_they_lie_over_add_up_in_the_same_order(dtype: Any) -> None:
    x = np.random.RandomState(7).randn(2, 5, 6).astype(dtype)
    for kernel, *rest in (((3, 7), (1, 2), (1, 3), (1, 1)), ((9, 11), (2, 1), (4, 5), (1, 1)), ((2, 7), (1, 1), (1, 6), (2, 2))):
        pairs = pairs_of((5, 6), kernel, *rest)
        sums = _kernels.kernel("window_sums")(x, pairs)
        (h, w), (kh, kw), (sh, sw), (ph, pw), (dh, dw), (oh, ow) = (pairs[i:i + 2] for i in range(0, 12, 2))
        around = np.zeros((2, h + 2 * ph, w + 2 * pw), dtype)
        around[:, ph:ph + h, pw:pw + w] = x
        want = np.zeros((2, oh, ow), dtype)
        spread = np.zeros_like(around)
        for i, j in np.ndindex(kh, kw):
            window = np.s_[:, i * dh:i * dh + sh * (oh - 1) + 1:sh, j * dw:j * dw + sw * (ow - 1) + 1:sw]
            want += around[window]
        np.testing.assert_array_equal(sums, want)
        for p, i, j in np.ndindex(oh, kh, kw):
            spread[:, p * sh + i * dh, j * dw:j * dw + sw * (ow - 1) + 1:sw] += sums[:, p]
        np.testing.assert_array_equal(_kernels.kernel("spread_sums")(sums, pairs), spread[:, ph:ph + h, pw:pw + w])
    huge = pairs_of((5, 6), (2**40, 2**9), (2**39, 2**8), (2**39, 2**8), (1, 1))
    assert _kernels.kernel("window_sums")(x, huge).shape == (2, *huge[-2:])      # at once


@native
@pytest.mark.parametrize("dtype", [F4, F8])
def test_max_pool_takes_the_first_of_equals_and_nan(dtype: Any) -> None:
    r = np.random.RandomState(6)
    x = r.randint(-3, 3, (2, 3, 6, 8)).astype(dtype)        # many equal ones: the first wins
    x[0, 0, 1, 1] = x[0, 0, 1, 2] = np.nan                  # a NaN wins, of several the last
    x[1, 2, 5, 7] = np.inf
    down, right = np.arange(6).reshape(3, 2), np.array([[0, 1, 2], [3, 4, 5], [5, 6, 7]])
    best, where = _kernels.kernel("max_pool")(x, down, right)
    for n, c, p, q in np.ndindex(best.shape):
        at = [int(i * 8 + j) for i in down[p] for j in right[q]]
        values = [float(x[n, c].reshape(-1)[k]) for k in at]
        nan = [k for k, v in zip(at, values) if v != v]
        first = nan[-1] if nan else at[values.index(max(values))]
        assert where[n, c, p, q] == first
        np.testing.assert_array_equal(best[n, c, p, q], x[n, c].reshape(-1)[first])
    g = r.randn(*best.shape).astype(dtype)
    want = np.zeros((2, 3, 48))
    for n, c in np.ndindex(2, 3):
        np.add.at(want[n, c], where[n, c].reshape(-1), g[n, c].reshape(-1))
    close(_kernels.kernel("place_at")(g, where, 6, 8), want.reshape(x.shape), dtype, 4)
    assert _kernels.kernel("place_at")(g, where, 2, 3) is None
    assert _kernels.kernel("max_pool")(x, down + 1, right) is None
    assert _kernels.kernel("max_pool")(x, down.astype("i4"), right) is None
    assert _kernels.kernel("max_pool")(x[:0], down, right)[0].shape == (0, 3, 3, 3)
