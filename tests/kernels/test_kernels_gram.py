"""Products of matrices with themselves (gram.c) and products into given memory (multiply.c) beside NumPy in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd import _kernels

native = pytest.mark.skipif(_kernels.nn is None, reason="the pure build has no kernels")
wide = pytest.mark.skipif(
    _kernels.nn is None or _kernels.nn.vectors(4) < 4, reason="vectors are not wide here: products are BLAS's")
gram, ghost, into = (_kernels.kernel(name) for name in ("gram", "ghost", "multiply_into"))
F4, F8 = np.dtype("f4"), np.dtype("f8")


def drawn(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def orders(x: np.ndarray) -> list[np.ndarray]:
    """x with its last two dims in either order, strided, backwards, and repeated without memory of their own."""
    return [x, np.ascontiguousarray(x.swapaxes(-1, -2)).swapaxes(-1, -2), np.repeat(x, 2, -1)[..., ::2], x[..., ::-1, :],
            np.broadcast_to(x[..., :1, :], x.shape)]


def close(got: np.ndarray, want: np.ndarray, terms: int, equal: bool = False) -> None:
    """To the roundings of a sum of that many terms, which all go one way where the terms are equal."""
    roundings = 8 + (terms / 2 if equal else terms**0.5)
    np.testing.assert_allclose(got, want, rtol=0, atol=roundings * np.finfo(got.dtype).eps * np.abs(want).max(initial=1.0))


def lower(x: np.ndarray) -> Any:
    return x[np.tril_indices(len(x))]


@wide
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("n", "k"), [
    (0, 5), (1, 1), (3, 7), (5, 16), (9, 17), (20, 32), (40, 33), (300, 100), (600, 130), (2100, 200), (4, 300)])
def test_gram_adds_to_what_is_kept(n: int, k: int, threads: int, dtype: Any) -> None:
    for x in orders(drawn((n, k), dtype)) if n else [drawn((n, k), dtype)]:
        product = x.astype("f8").T @ x.astype("f8")
        for keep, share in [(0.0, 1.0), (0.25, -0.5), (1.0, 3.0)]:
            c = drawn((k, k), dtype, 1)
            before = c.copy()
            if keep == 0:
                c[:] = np.nan                   # is not read
            assert gram(x, c, keep, share, threads) is True
            close(lower(c), lower((keep * before if keep else 0) + share * product), n, x.strides[0] == 0)
            line = 64 // dtype.itemsize         # above the blocks on the diagonal nothing is written
            far = np.arange(k)[None] // line > np.arange(k)[:, None] // line
            np.testing.assert_array_equal(c[far], (before if keep else c)[far])


@wide
@pytest.mark.parametrize("dtype", [F4, F8])
def test_gram_is_the_same_each_time_on_any_number_of_threads(dtype: Any) -> None:
    x = drawn((700, 150), dtype)
    found = []
    for threads in (1, 2, 3, 3):
        c = np.zeros((150, 150), dtype)
        assert gram(x, c, 0.5, 1.0, threads)
        found.append(lower(c))
    for c in found[1:]:
        np.testing.assert_array_equal(c, found[0])


@wide
@pytest.mark.parametrize("dtype", [F4, F8])
def test_gram_of_special_numbers(dtype: Any) -> None:
    x = np.abs(drawn((30, 40), dtype)) + 1
    x[3, 5], x[7, 2], x[1, 39] = np.nan, np.inf, 1e-40
    c = np.zeros((40, 40), dtype)
    assert gram(x, c, 0.0, 1.0, 1)
    want = x.astype("f8").T @ x.astype("f8")
    np.testing.assert_array_equal(np.isnan(lower(c)), np.isnan(lower(want)))
    np.testing.assert_array_equal(np.isinf(lower(c)), np.isinf(lower(want)))


@native
def test_gram_leaves_alone_what_is_not_its_own() -> None:
    x, c = drawn((5, 4), F4), np.zeros((4, 4), F4)
    memory = np.zeros(40, F4)
    readonly = c.copy()
    readonly.flags.writeable = False
    for left, right in [(x, c.astype("f8")), (x.astype("f8"), c), (x.astype("f2"), c), (x, c[:3]), (x, c[:3, :3].copy()),
                        (x, np.zeros((8, 8), F4)[::2, ::2]), (x[0], c), (x[None], c), (x, readonly), (x.tolist(), c),
                        (memory[:20].reshape(5, 4), memory[4:20].reshape(4, 4)), (np.zeros((3, 0), F4), np.zeros((0, 0), F4)),
                        (x.view("i4"), c.view("i4"))]:
        assert gram(left, right, 0.0, 1.0, 1) is False
    assert not c.any() and not memory.any()
    with pytest.raises(TypeError, match="gram: expected 5 arguments, got 2"):
        gram(x, c)
    for factors in (("half", 1.0, 1), (0.0, None, 1), (0.0, 1.0, 2**63)):
        assert gram(x, c, *factors) is False


@wide
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("k", [0, 1, 5, 32, 33, 64, 100, 131])
def test_mirror(k: int, dtype: Any) -> None:
    run = _kernels.kernel("mirror")
    c = drawn((k, k), dtype)
    if k > 4:
        c[3, 1], c[4, 0] = np.nan, np.inf
    want = np.where(np.tri(k, dtype=bool), c, c.T)
    assert run(c) is True
    np.testing.assert_array_equal(c, want)
    assert run(c[:, :-1]) is False if k > 1 else True
    assert run(c[::2, ::2]) is False if k > 2 else True
    assert run(drawn((k, k), "f2")) is False and run(c.tolist()) is False


TOKENS = [(3, 1, 4, (5,)), (2, 5, 7, (3,)), (4, 16, 9, (8, 2)), (2, 17, 30, (31,)), (2, 33, 8, (8,)),
          (3, 64, 128, (128, 12, 100)), (2, 100, 20, (4,)), (1, 200, 10, (10, 1)),
          (0, 3, 3, (3,)), (2, 0, 3, (3,)), (2, 9, 0, (3,)), (2, 9, 3, (0,))]


@wide
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("N", "T", "I", "outs"), TOKENS)
def test_ghost_norms_are_those_of_the_gradients(
    N: int, T: int, I: int, outs: tuple[int, ...], threads: int, dtype: Any) -> None:
    many = [drawn((N, T, O), dtype, 1 + i) for i, O in enumerate(outs)]
    for a in orders(drawn((N, T, I), dtype)) if N and T else [drawn((N, T, I), dtype)]:
        for ds in (many, [orders(d)[1] for d in many]):
            y = np.full(N, np.nan, dtype)
            assert ghost(a, tuple(ds), y, threads) is True
            gradients = [np.einsum("nto,nti->noi", d.astype("f8"), a.astype("f8")) for d in ds]
            want = sum((g**2).sum((1, 2)) for g in gradients)
            np.testing.assert_allclose(y, want, rtol=(8 + T) * 4 * float(np.finfo(dtype).eps))


@wide
def test_ghost_norms_of_special_numbers_stay_with_their_sample() -> None:
    a, d = np.abs(drawn((4, 19, 6), F4)) + 1, np.abs(drawn((4, 19, 5), F4, 1)) + 1
    plain = np.empty(4, F4)
    assert ghost(a, (d,), plain, 1)
    a[1, 18, 2], d[2, 3, 1], a[3, 17, 0] = np.inf, np.nan, -np.inf      # in a panel that is not full, too
    y = np.empty(4, F4)
    assert ghost(a, (d,), y, 1)
    assert y[0] == plain[0] and np.isinf(y[1]) and np.isnan(y[2]) and not np.isfinite(y[3])


@native
def test_ghost_norms_leave_alone_what_is_not_their_own() -> None:
    a, d, y = drawn((2, 5, 3), F4), drawn((2, 5, 4), F4), np.zeros(2, F4)
    for left, right, out in [(a.astype("f8"), (d,), y), (a, (d.astype("f8"),), y), (a, (d,), y.astype("f8")), (a, (), y),
                             (a, [d], y), (a, (d, d[:, :4]), y), (a, (d[:1],), y), (a[0], (d,), y), (a, (d[0],), y),
                             (a, (d,), y[:1]), (a, (d,), np.zeros(4, F4)[::2]), (a, (d,), a.reshape(-1)[:2]),
                             (a, (d,) * 65, y), (a.tolist(), (d,), y), (a, (None,), y)]:
        assert ghost(left, right, out, 1) is False
    assert not y.any()


@wide
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize(("lead", "n", "m", "p"), [((), 6, 4, 6), ((), 70, 600, 31), ((2, 3), 9, 20, 16), ((5,), 40, 7, 21)])
def test_products_into_given_memory(lead: Any, n: int, m: int, p: int, threads: int, dtype: Any) -> None:
    a, b, y = drawn((*lead, n, m), dtype), drawn((*lead, m, p), dtype, 1), np.full((*lead, n, p), np.nan, dtype)
    for left in orders(a):
        for right in orders(b):
            assert into(left, right, y, threads) is True
            close(y, left.astype("f8") @ right.astype("f8"), m, left.strides[-1] == 0 or right.strides[-2] == 0)


@native
def test_products_into_memory_that_does_not_fit_leave_it_alone() -> None:
    a, b = drawn((6, 5), F4), drawn((5, 7), F4)
    y = np.zeros((6, 7), F4)
    readonly = y.copy()
    readonly.flags.writeable = False
    memory = drawn((80,), F4)
    same = memory.copy()
    for left, right, out in [(a, b, y.astype("f8")), (a, b, y[:5]), (a, b, np.zeros((6, 14), F4)[:, ::2]), (a, b, readonly),
                             (a, b[:4], y), (a, b, y[None]), (a.astype("f8"), b, y), (a, b, None),
                             (memory[:30].reshape(6, 5), b, memory[20:62].reshape(6, 7))]:
        assert into(left, right, out, 1) is False
    assert not y.any()
    np.testing.assert_array_equal(memory, same)


@native
def test_older_processors_are_left_to_the_engine() -> None:
    vectors = _kernels.kernel("vectors")
    x, c = drawn((5, 4), F4), np.zeros((4, 4), F4)
    try:
        vectors(3)
        assert gram(x, c, 0.0, 1.0, 1) is False
        assert ghost(x[None], (x[None],), np.zeros(1, F4), 1) is False
        assert into(x.T.copy(), x, c, 1) is False
    finally:
        vectors(4)
    assert not c.any()


# Sums over tokens (sums.c)

@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize("shape", [(3, 5, 7), (2, 130, 33), (1, 1, 1), (4, 64, 40), (0, 3, 2), (2, 0, 3), (2, 3, 0)])
def test_token_sums(shape: tuple[int, ...], dtype: Any) -> None:
    run = _kernels.kernel("token_sums")
    d, x = drawn(shape, dtype), drawn(shape, dtype, 1)
    y = np.full((shape[0], shape[2]), np.nan, dtype)
    turned = np.ascontiguousarray(d.swapaxes(0, 1)).swapaxes(0, 1)
    for left, right in [(d, x), (turned, x), (d[::-1], x[:, ::-1]), (d[:, ::-1], turned), (d, np.broadcast_to(x[:1], shape))]:
        if right.shape == shape:
            assert run(left, right, y) is True
            close(y, (left.astype("f8") * right).sum(1), shape[1])
        assert run(left, None, y) is True
        close(y, left.astype("f8").sum(1), shape[1])


@native
def test_token_sums_of_special_numbers() -> None:
    d = np.ones((2, 70, 20), F4)
    d[0, 3, 4], d[0, 65, 5], d[1, 2, 6] = np.nan, np.inf, -np.inf
    y = np.zeros((2, 20), F4)
    assert _kernels.kernel("token_sums")(d, None, y)
    np.testing.assert_array_equal(y, d.sum(1))


@native
def test_token_sums_leave_alone_what_is_not_their_own() -> None:
    run = _kernels.kernel("token_sums")
    d, y = drawn((2, 3, 4), F4), np.zeros((2, 4), F4)
    for left, right, out in [(d.astype("f8"), None, y), (d, d.astype("f8"), y), (d, d[:1], y), (d[0], None, y), (d, None, y[:1]),
                             (d, None, np.zeros((2, 8), F4)[:, ::2]), (d.swapaxes(1, 2), None, np.zeros((2, 3), F4)),
                             (d, None, d[:, 0]), (d, None, d.reshape(-1)[:8].reshape(2, 4)), (d, 1.0, y), (None, None, y)]:
        assert run(left, right, out) is False
    assert not y.any()


@native
@pytest.mark.parametrize("dtype", [F4, F8])
@pytest.mark.parametrize(("N", "tokens", "width", "rows"), [
    (3, 5, 7, 4), (2, 130, 33, 20), (1, 1, 1, 1), (4, 6, 16, 1000), (0, 3, 2, 5), (2, 0, 3, 5), (2, 3, 0, 5), (2, 3, 4, 0)])
def test_row_norms(N: int, tokens: int, width: int, rows: int, dtype: Any) -> None:
    run = _kernels.kernel("row_norms")
    d, ids = drawn((N, tokens, width), dtype), np.random.default_rng(2).integers(0, rows + 1, (N, tokens))
    for left in (ids, np.ascontiguousarray(ids.T).T, np.repeat(ids, 2, 1)[:, ::2]):
        for right in (d, d[:, ::-1]):
            tables = np.zeros((N, rows + 1, width))
            for n in range(N):
                np.add.at(tables[n], left[n], right[n].astype("f8"))
            y = np.full(N, np.nan, dtype)
            assert run(left, right, rows, y) is True
            np.testing.assert_allclose(y, (tables[:, :rows] ** 2).sum((1, 2)), rtol=(8 + tokens) * 4 * float(np.finfo(dtype).eps))


@native
def test_row_norms_leave_alone_what_is_not_their_own() -> None:
    run = _kernels.kernel("row_norms")
    d, ids, y = drawn((2, 3, 4), F4), np.array([[0, 1, 5], [2, 2, 4]]), np.zeros(2, F4)
    for left, right, rows, out in [(ids, d, 4, y), (ids - 1, d, 5, y), (ids.astype("i4"), d, 5, y), (ids, d.astype("f8"), 5, y),
                                   (ids[:1], d, 5, y), (ids[:, :2], d, 5, y), (ids, d[..., ::-1], 5, y), (ids, d, 5, y[:1]),
                                   (ids, d, -1, y), (ids[0], d, 5, y), (ids, d, 5, d[0, 0, :2]), (ids.tolist(), d, 5, y)]:
        assert run(left, right, rows, out) is False
    for rows in (5.0, None, 2**63, 2**70):
        assert run(ids, d, rows, y) is False
    with pytest.raises(MemoryError):
        run(ids, d, 2**62, y)
    assert not y.any()
