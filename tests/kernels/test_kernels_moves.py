"""Kernels along a dim and at indices (scans.c, moves.c) beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_tools import native

from retrograd import _kernels

SHAPES: list[tuple[int, ...]] = [(1,), (9,), (3, 5), (20, 4), (2, 3, 33), (0,), (3, 0), (4, 0, 2), (3, 30, 7), (2, 5, 300)]
KINDS = ["f4", "f8"]


def array(shape: tuple[int, ...], dtype: Any, seed: int = 0) -> np.ndarray:
    x = np.asarray(np.random.default_rng(seed).uniform(-2, 2, shape))
    return np.asarray(np.rint(x * 9) if np.dtype(dtype).kind in "iu" else x, dtype)


@native
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
def test_running_sums_and_products_are_carried_in_double(name: str, dtype: str) -> None:
    how = np.add if name == "cumsum" else np.multiply
    for shape in SHAPES:
        x = array(shape, dtype)
        for dim in range(len(shape)):
            y = _kernels.kernel(name)(x, dim)
            assert y.dtype == x.dtype and y.flags.c_contiguous
            np.testing.assert_array_equal(y, how.accumulate(x, dim, np.float64).astype(dtype))
    special = np.array([1, np.inf, 2, -np.inf, 0, np.nan, 1], dtype)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(_kernels.kernel(name)(special, 0), how.accumulate(special))


@native
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("name", ["cummax", "cummin"])
def test_cummax_and_cummin_follow_their_definition(name: str, dtype: str) -> None:
    for shape in SHAPES:
        x = np.rint(array(shape, dtype) * 2) / 2                # with ties: the last counts
        if x.size > 20:
            x.reshape(-1)[[7, 11]] = np.nan, np.inf
        for dim in range(len(shape)):
            y, at = _kernels.kernel(name)(x, dim)
            assert at.dtype == np.int64 and at.shape == y.shape == shape
            for here in np.ndindex(*[n for d, n in enumerate(shape) if d != dim]):
                line = x[(*here[:dim], slice(None), *here[dim:])]
                best, where = line[:1], 0
                for i, v in enumerate(line):
                    if np.isnan(v) or v >= best[0] and name == "cummax" or v <= best[0] and name == "cummin":
                        best, where = line[i:i + 1], i
                    place = (*here[:dim], i, *here[dim:])
                    np.testing.assert_array_equal(y[place], best[0])
                    assert at[place] == where


@native
@pytest.mark.parametrize("dtype", KINDS)
def test_product_of_all(dtype: str) -> None:
    run = _kernels.kernel("product")
    for n in (0, 1, 5, 100, 1000):
        x = np.random.default_rng(n).uniform(0.9, 1.1, n).astype(dtype)
        y = run(x)
        assert y.shape == () and y.dtype == x.dtype
        assert y == pytest.approx(float(np.prod(x.astype("f8"))), rel=1e-4 if dtype == "f4" else 1e-12)
    assert np.isnan(run(np.array([1, np.nan, 0], dtype))) and run(np.array([2, np.inf], dtype)) == np.inf


@native
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4", "u4"])
def test_flip_and_triangle(dtype: str) -> None:
    for shape in [*SHAPES, (), (1, 4, 1, 3), (2, 2, 3, 2, 5)]:
        x = array(shape, dtype)
        for dims in [(), (0,), (len(shape) - 1,), (0, 1), (0, 2), tuple(range(len(shape))), (1, 2, 3)]:
            if all(0 <= d < len(shape) for d in dims):
                y = _kernels.kernel("flip")(x, dims)
                np.testing.assert_array_equal(y, np.flip(x, dims))
                assert y.dtype == x.dtype and not np.shares_memory(x, y)
        if len(shape) > 1:
            for offset in (-100, -2, -1, 0, 1, 3, 100):
                np.testing.assert_array_equal(_kernels.kernel("triangle")(x, offset, False), np.tril(x, offset))
                np.testing.assert_array_equal(_kernels.kernel("triangle")(x, offset, True), np.triu(x, offset))


def indices(shape: tuple[int, ...], n: int) -> np.ndarray:
    return np.random.default_rng(9).integers(-n, n, shape)


@native
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_gather_and_scatter(dtype: str) -> None:
    hows: list[Any] = [None, np.add, np.multiply, np.maximum, np.minimum]
    for shape in [(7,), (4, 6), (5, 1, 3), (3, 4, 2, 5)]:
        x = array(shape, dtype)
        for dim in range(len(shape)):
            for short in (0, 1):
                sizes = tuple(max(1, n - short) for n in shape[:dim]) + (9,) + shape[dim + 1:]
                index = indices(sizes, shape[dim])
                part = x[tuple(slice(None) if d == dim else slice(n) for d, n in enumerate(sizes))]
                np.testing.assert_array_equal(
                    _kernels.kernel("gather")(x, dim, index), np.take_along_axis(part, index, dim))
                b = array(tuple(n + short for n in sizes), dtype, 3)
                cut = b[tuple(slice(n) for n in sizes)]
                for how, ufunc in enumerate(hows):
                    for source, numbers in ((b, cut), (3, np.full(sizes, 3, dtype))):
                        before, want = x.copy(), x.copy()
                        for place in np.ndindex(*sizes):        # one by one, in order
                            to = (*place[:dim], index[place], *place[dim + 1:])
                            want[to] = numbers[place] if ufunc is None else ufunc(want[to], numbers[place])
                        got = _kernels.kernel("scatter")(x, dim, index, source, how)
                        np.testing.assert_array_equal(got, want)
                        np.testing.assert_array_equal(x, before)
    x, index = np.zeros((3, 4), dtype), np.zeros((2, 0), np.int64)
    assert _kernels.kernel("gather")(x, 0, index).shape == (2, 0)
    np.testing.assert_array_equal(_kernels.kernel("scatter")(x.T, 0, index.T, 1, 0), x.T)


@native
def test_extremes_of_nan_are_nan() -> None:
    x, at = np.array([1.0, np.nan, 3.0], "f4"), np.array([0, 1, 2])
    for how, ufunc in ((3, np.maximum), (4, np.minimum)):
        b = np.array([np.nan, 2.0, 2.0], "f4")
        np.testing.assert_array_equal(_kernels.kernel("scatter")(x, 0, at, b, how), ufunc(x, b))


@native
def test_what_is_declined() -> None:
    x, i = np.ones((3, 4), "f4"), np.zeros((3, 4), np.int64)
    gather, scatter, bounds = map(_kernels.kernel, ("gather", "scatter", "bounds"))
    for bad in (i + 3, i - 4, i.astype("i4"), i[0], i.T, np.zeros((3, 5), np.int64)):
        assert gather(x, 0, bad) is None and scatter(x, 0, bad, 1.0, 0) is None
    assert gather(x.astype("f2"), 0, i) is None and gather(x.T, 0, i) is None and gather(x, 2, i) is None
    assert gather(np.float32(1), 0, i) is None and gather(x.astype(object), 0, i) is None
    for b in (x[:2], x.astype("f8"), x.T, "1", None, True, x.astype(">f4")):
        assert scatter(x, 0, i, b, 0) is None
    assert scatter(x, 0, i, x, 5) is None and scatter(x.astype("i4"), 0, i, 1, 0) is None
    assert scatter(i, 0, i, 1.5, 0) is None and scatter(i, 0, i, 2**70, 0) is None and scatter(x, 0, i, 10**400, 0) is None
    assert bounds(np.array([[3, -2], [7, 0]])) == (-2, 7)
    assert bounds(i[:0]) is None and bounds(x) is None and bounds(np.arange(9)[::2]) is None
    for name in ("cumsum", "cumprod", "cummax", "cummin"):
        run = _kernels.kernel(name)
        assert run(x, 2) is None and run(x, -1) is None and run(x.T, 0) is None and run(x.astype("f2"), 0) is None
    flip, triangle = _kernels.kernel("flip"), _kernels.kernel("triangle")
    assert flip(x, (2,)) is None and flip(x.T, (0,)) is None and flip(x.astype("u1"), (0,)) is None
    assert triangle(x[0], 0, True) is None and triangle(x, 2**50, True) is None and triangle(x, 1.5, True) is None


@native
@pytest.mark.parametrize("name", ["softmax", "log_softmax"])
def test_softmax_over_any_dim(name: str) -> None:
    run, back = _kernels.kernel(name), _kernels.kernel(f"{name}_grad")
    for shape in [(5, 7), (3, 4, 6), (2, 9, 130), (0, 4), (3, 0, 2)]:
        x = array(shape, "f4") * 3
        if x.size:
            x.reshape(-1)[3] = -np.inf
        g = array(shape, "f4", 1)
        for dim in range(len(shape)):
            wide = x.astype("f8")
            e = np.exp(wide - wide.max(dim, keepdims=True, initial=-50))
            want = e / e.sum(dim, keepdims=True)
            y = run(x, dim)
            with np.errstate(divide="ignore"):
                np.testing.assert_allclose(y, np.log(want) if name == "log_softmax" else want, rtol=2e-6, atol=1e-6)
            slope = g - want * g.sum(dim, keepdims=True) if name == "log_softmax" \
                else want * (g - (g * want).sum(dim, keepdims=True))
            np.testing.assert_allclose(back(g, y, dim), slope, rtol=1e-5, atol=3e-6)
            np.testing.assert_array_equal(back(np.asfortranarray(g), y, dim), back(g, y, dim))
    x = np.array([[1, np.nan], [2, 3]], "f4")
    assert np.isnan(run(x, 0)).tolist() == [[False, True], [False, True]]
    assert run(x, 2) is None and run(x, -1) is None and run(x.T, 0) is None and run(x.astype("f8"), 0) is None


@native
@pytest.mark.parametrize("dtype", KINDS)
def test_statistics_of_channels_equal_numpys(dtype: str) -> None:
    stats, affine = _kernels.kernel("channel_stats"), _kernels.kernel("channel_affine")
    for shape in [(4, 3), (1, 1), (7, 40), (3, 2, 5), (2, 4, 3, 6), (2, 1, 300)]:
        x = array(shape, dtype) + np.asarray(5, dtype)
        dims = tuple(d for d in range(len(shape)) if d != 1)
        to = (1, -1) + (1,) * (len(shape) - 2)
        mean, var = stats(x)
        wide = x.astype("f8")
        np.testing.assert_allclose(mean, wide.mean(dims), rtol=1e-6)
        np.testing.assert_allclose(var, wide.var(dims), rtol=1e-5, atol=1e-12)
        w, b = array(shape[1:2], dtype, 1), array(shape[1:2], dtype, 2)
        unit = (wide - mean.reshape(to)) * 0.5
        half = np.full(shape[1], 0.5, dtype)
        for f in (w, None):
            for t in (b, None):
                want = unit * (1 if f is None else f.reshape(to)) + (0 if t is None else t.reshape(to))
                np.testing.assert_allclose(affine(x, mean.reshape(to), half, f, t), want, rtol=1e-5, atol=1e-5)
        assert affine(x, mean, half, w.astype("f2"), b) is None and affine(x, mean, half, np.ones(99, dtype), b) is None
    assert stats(x.T) is None and stats(x[0, 0]) is None and stats(x[:0]) is None and stats(x.astype("i4")) is None
    assert np.isnan(stats(np.array([[1, 2], [np.nan, 3]], dtype))[0]).tolist() == [True, False]


@native
def test_half_precision_and_back() -> None:
    run = _kernels.kernel("halves")
    every = np.arange(2**16, dtype=np.uint16).view(np.float16)
    if run(every) is None:
        pytest.skip("this processor has no instructions for half precision")
    np.testing.assert_array_equal(run(every), every.astype("f4"))
    r = np.random.default_rng(1)
    for n in (0, 1, 7, 8, 1003):
        x = (r.uniform(-1, 1, n) * 2.0 ** r.integers(-30, 18, n)).astype("f4")
        with np.errstate(over="ignore"):
            np.testing.assert_array_equal(run(x).view("u2"), x.astype("f2").view("u2"))
    special = np.array([np.inf, -np.inf, np.nan, -0.0, 65519, 65520, 2049, 2051, 6e-8, 2e-8], "f4")
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(run(special), special.astype("f2"))
    assert run(special.astype("f8")) is None and run(special[::2]) is None and run([1.0]) is None


@native
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_slices_are_written_and_added_at_an_index(dtype: str) -> None:
    run = _kernels.kernel("slices")
    for shape in [(6,), (4, 6), (5, 1, 3)]:
        x = array(shape, dtype)
        for dim in range(len(shape)):
            index = indices((4,), shape[dim])
            b = array((*shape[:dim], 4, *shape[dim + 1:]), dtype, 1)
            for how in (0, 1):
                for source, numbers in ((b, b), (2, np.full_like(b, 2))):
                    want = x.copy()
                    for i in range(4):                          # one by one, in order
                        to, part = (slice(None),) * dim + (index[i],), numbers.take(i, dim)
                        want[to] = want[to] + part if how else part
                    np.testing.assert_array_equal(run(x, dim, index, source, how), want)
            assert run(x, dim, index, b[..., None], 0) is None and run(x, dim, index[:3], b, 0) is None
            assert run(x, dim, index + 99, b, 0) is None and run(x, dim, index.reshape(2, 2), b, 0) is None
            assert run(x, dim, index, b, 2) is None and run(x, len(shape), index, b, 0) is None
    x = np.ones((2, 3), dtype)
    assert run(x.T, 0, np.zeros(1, np.int64), 1, 0) is None and run(x, 0, np.zeros(1, np.int64), "1", 0) is None
    np.testing.assert_array_equal(run(x, 0, np.zeros(0, np.int64), 5, 0), x)


@native
def test_whole_numbers_beyond_53_bits_are_exact_and_wrap_around() -> None:
    x, at, many = np.full(3, 3, np.int64), np.ones(1, np.int64), np.array([2**63 - 1])
    for name in ("slices", "scatter"):
        run = _kernels.kernel(name)
        assert run(x, 0, at, 2**53 + 1, 0).tolist() == [3, 2**53 + 1, 3] and run(x, 0, at, 2**63, 0) is None
        assert run(x, 0, at, 2**63 - 1, 1).tolist() == run(x, 0, at, many, 1).tolist() == [3, 2 - 2**63, 3]
    assert run(x, 0, at, -(2**63), 2).tolist() == [3, -(2**63), 3]


@native
def test_masked_scatter_and_prelu() -> None:
    scatter, prelu = _kernels.kernel("masked_scatter"), _kernels.kernel("prelu")
    r = np.random.default_rng(2)
    for dtype in ("f4", "i8", "f8"):
        x, mask, b = array((5, 7), dtype), r.uniform(size=(5, 7)) < 0.5, array((40,), dtype, 1)
        want = x.copy()
        want[mask] = b[:mask.sum()]
        np.testing.assert_array_equal(scatter(x, mask, b), want)
        assert scatter(x, mask, b[:2]) is None and scatter(x, mask[0], b) is None and scatter(x.T, mask.T, b) is None
        assert scatter(x, mask, b.astype("f2")) is None and scatter(x, mask.astype("u1"), b) is None
    for dtype in KINDS:
        for shape in [(3, 4), (2, 3, 5), (2, 1, 2, 2)]:
            x = array(shape, dtype)
            x.reshape(-1)[1] = np.nan
            for w in (array(shape[1:2], dtype, 4).reshape((1, -1) + (1,) * (len(shape) - 2)), np.ones(1, dtype) / 3):
                np.testing.assert_array_equal(prelu(x, w), np.where(x > 0, x, x * w))
            assert prelu(x, np.ones(7, dtype)) is None and prelu(x, np.ones(shape[1], "f2")) is None
        assert prelu(x[0, 0, 0], np.ones(1, dtype)) is None
        assert prelu(np.ones((3, 3, 3), dtype), np.ones(3, dtype)) is None          # along the last dim
        assert prelu(np.ones((3, 3, 3), dtype), np.ones((3, 1), dtype)) is None


@native
@pytest.mark.parametrize("dtype", KINDS)
def test_maxima_of_three_dims(dtype: str) -> None:
    run = _kernels.kernel("max_pool3")
    x = np.rint(array((2, 3, 4, 5, 6), dtype) * 2)              # with ties: the first counts
    x[0, 0, 1, 1, 1] = x[0, 0, 1, 1, 2] = np.nan                # of several NaN the last
    taps = [np.array([[0, 1], [2, 3]]), np.array([[0, 1, 2], [2, 3, 4]]), np.array([[0, 0], [1, 2], [4, 5]])]
    y, where = run(x, *taps)
    assert y.shape == where.shape == (2, 3, 2, 2, 3)
    for n, c, i, j, k in np.ndindex(*y.shape):
        at = [int((a * 5 + b) * 6 + d) for a in taps[0][i] for b in taps[1][j] for d in taps[2][k]]
        values = [float(x[n, c].reshape(-1)[p]) for p in at]
        nan = [p for p, v in zip(at, values, strict=True) if v != v]
        assert where[n, c, i, j, k] == (nan[-1] if nan else at[values.index(max(values))])
        np.testing.assert_array_equal(y[n, c, i, j, k], x[n, c].reshape(-1)[where[n, c, i, j, k]])
    assert run(x, taps[0] + 4, *taps[1:]) is None and run(x, taps[0].astype("i4"), *taps[1:]) is None
    assert run(x[0, 0, 0], *taps) is None and run(x.swapaxes(2, 3), *taps) is None
    assert run(x[:0], *taps)[0].shape == (0, 3, 2, 2, 3)


@native
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4", "f2", "u1", "?"])
def test_roll_is_numpys(dtype: str) -> None:
    for shape in [(), *SHAPES]:
        x = array(shape, dtype)
        for shift in (0, 1, -1, 7, -300, 2**40):
            np.testing.assert_array_equal(_kernels.kernel("roll")(x, shift, None), np.roll(x, shift))
            for dim in range(len(shape)):
                np.testing.assert_array_equal(_kernels.kernel("roll")(x, shift, dim), np.roll(x, shift, dim))
    x = array((3, 4), dtype)
    for wrong in [(x.T, 1, 0), (x, 1, 2), (x, 1, -1), (x, 1.0, 0), (x, 2**70, 0)]:
        assert _kernels.kernel("roll")(*wrong) is None


@native
def test_one_hot_marks_each_class() -> None:
    for shape in [(), (5,), (2, 3)]:
        index = np.asarray(np.arange(int(np.prod(shape))).reshape(shape) % 4)
        for classes in (-1, 4, 9):
            y = _kernels.kernel("one_hot")(index, classes)
            assert y.dtype == np.int64
            np.testing.assert_array_equal(y, np.eye(int(index.max()) + 1 if classes < 0 else classes, dtype=int)[index])
    for wrong in [(np.array([4]), 4), (np.array([-1]), 4), (np.array([-1]), -1), (np.array([0]), 0), (np.array([0]), -2),
                  (np.zeros(0, int), 3), (np.array([2**62]), -1), (np.array([1], "i4"), 3)]:
        assert _kernels.kernel("one_hot")(*wrong) is None


@native
@pytest.mark.parametrize("dtype", KINDS)
@pytest.mark.parametrize("greatest", [True, False])
def test_extremes_are_numpys(dtype: str, greatest: bool) -> None:
    how = np.maximum if greatest else np.minimum
    for shape, dims in [((), ()), ((5,), (0,)), ((90, 4), (1,)), ((90, 3), (1,)), ((7, 63), (1,)), ((7, 64), (1,)),
                        ((7, 130), (1,)),
                        ((5, 6, 7), (1,)), ((5, 6, 7), (0, 1)), ((5, 6, 7), (1, 2)), ((2, 3, 80), (0, 1, 2))]:
        for special in ([], [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40]):
            x = array(shape, dtype, 3)
            x.reshape(-1)[: 3 * len(special): 3] = special[: len(x.reshape(-1)[: 3 * len(special): 3])]
            for keep in (True, False):
                y = _kernels.kernel("extreme")(x, dims, keep, greatest)
                assert y.dtype == dtype
                np.testing.assert_array_equal(y, how.reduce(x, dims, keepdims=keep))
    for last in range(70):                                      # a NaN anywhere in a row is found
        x = np.zeros((2, 70), dtype)
        x[1, last] = np.nan
        np.testing.assert_array_equal(_kernels.kernel("extreme")(x, (1,), False, greatest), [0, np.nan])
    x = array((2, 3, 4), dtype)
    for wrong in [(x, ()), (x, (0, 2)), (x, (1, 0)), (x, (3,)), (x, (-1,)), (x[:0], (1,)), (x.T, (1,)), (x, 1)]:
        assert _kernels.kernel("extreme")(*wrong, False, greatest) is None


@native
def test_logsumexp_follows_its_definition() -> None:
    for shape in [(1,), (40,), (90, 4), (7, 100), (5, 6, 7)]:
        for factor in (1, 40):
            x = array(shape, "f4") * np.float32(factor)
            for dim in range(len(shape)):
                for keep in (True, False):
                    y = _kernels.kernel("logsumexp")(x, dim, keep)
                    wanted = np.logaddexp.reduce(x.astype("f8"), dim, keepdims=keep)
                    assert y.shape == wanted.shape and y.dtype == np.float32
                    np.testing.assert_allclose(y, wanted, 2e-7, 3e-7)
    inf, nan = np.inf, np.nan
    rows = np.array([[1, inf, 2], [-inf] * 3, [inf, -inf, inf], [nan, inf, 0], [-inf, nan, -inf], [3e38, 3e38, -3e38]], "f4")
    wanted = np.array([inf, -inf, inf, nan, nan, 3e38], "f4")
    wide = np.concatenate([rows] * 10, 1)
    for x, dim in [(rows, 1), (rows.T.copy(), 0), (wide, 1)]:
        np.testing.assert_array_equal(_kernels.kernel("logsumexp")(x, dim, False), wanted)
    for wrong in [(rows, 2), (rows.T, 0), (rows.astype("f8"), 0), (rows[:0], 0)]:
        assert _kernels.kernel("logsumexp")(*wrong, False) is None


@native
@pytest.mark.parametrize("dtype", KINDS)
def test_distances_of_rows(dtype: str) -> None:
    for first, second in [((5, 3), (4, 3)), ((2, 5, 3), (2, 4, 3)), ((3, 2), (300, 2)), ((20, 70), (30, 70)), ((1, 1), (1, 1))]:
        a, b = array(first, dtype), array(second, dtype, 1)
        gaps = abs(a.astype("f8")[..., :, None, :] - b.astype("f8")[..., None, :, :])
        for p, wanted in [(1.0, gaps.sum(-1)), (2.0, np.sqrt((gaps * gaps).sum(-1))), (np.inf, gaps.max(-1))]:
            y = _kernels.kernel("distances")(a, b, p)
            assert y.dtype == dtype
            np.testing.assert_allclose(y, wanted, 2e-7 if dtype == "f4" else 1e-15)
    a, b = np.array([[1e30 if dtype == "f4" else 1e200, 0], [np.inf, 0], [np.nan, 1]], dtype), np.array([[0, 0]], dtype)
    np.testing.assert_array_equal(_kernels.kernel("distances")(a, b, 2.0), np.array([[np.inf], [np.inf], [np.nan]]))
    for wrong in [(a, b, 3.0), (a, b, 2), (a, b.T, 2.0), (a, b[0], 2.0), (a[None], b, 2.0), (a, b[:0], 2.0), (a, a[:, :1], 2.0)]:
        assert _kernels.kernel("distances")(*wrong) is None


@native
@pytest.mark.parametrize("n", [1, 2, 3, 4])
def test_inverses_of_small_matrices(n: int) -> None:
    x = array((300, n, n), "f4")
    x = x[abs(np.linalg.det(x)) > 0.05]
    np.testing.assert_allclose(_kernels.kernel("inverses")(x), np.linalg.inv(x.astype("f8")), 1e-6, 1e-6)
    signs = np.diag(np.array([-1, 2, -4, 8], "f4")[:n])
    y = _kernels.kernel("inverses")(signs)
    np.testing.assert_array_equal(y, np.linalg.inv(signs))
    np.testing.assert_array_equal(np.signbit(y), np.signbit(np.linalg.inv(signs)))
    exchanged = np.eye(n, dtype="f4")[::-1].copy()
    np.testing.assert_array_equal(_kernels.kernel("inverses")(exchanged), exchanged)
    for value in (0, np.nan, np.inf):                           # what is singular or nearly so LAPACK is to judge
        wrong = np.stack([np.eye(n), np.full((n, n), value)]).astype("f4")
        assert _kernels.kernel("inverses")(wrong) is None
    assert _kernels.kernel("inverses")(np.eye(5, dtype="f4")) is None


@native
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4"])
def test_the_kth_of_each_row(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 17, 200):
        x = rng.integers(0, max(n // 3, 2), (3, 2, n)).astype(dtype)
        if dtype[0] == "f":
            x[rng.random(x.shape) < 0.1] = np.nan
        for k in {0, n // 2, n - 1}:
            where = _kernels.kernel("kth")(x, k)
            np.testing.assert_array_equal(np.take_along_axis(x, where, -1)[..., 0], np.sort(x, -1)[..., k])
    short = np.zeros((2, 3), "i2")
    for wrong in [(x, n), (x, -1), (x, 2**70), (x, 1.0), (x.T, 0), (x[..., 0, 0][0], 0), (short, 0), (x[..., :0], 0)]:
        assert _kernels.kernel("kth")(*wrong) is None
    assert _kernels.kernel("kth")(x[:0], 0).shape == (0, 2, 1)


@native
@pytest.mark.parametrize("dtype", ["f4", "f8", "i8", "i4"])
def test_the_median_and_the_first_of_each_row(dtype: str) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 17, 200):
        x = rng.integers(0, max(n // 3, 2), (3, 2, n)).astype(dtype)
        for nans in range(2 if dtype[0] == "f" else 1):
            if nans:
                x[rng.random(x.shape) < 0.2] = np.nan
                x[0, 0] = np.nan
            places = np.argsort(x, -1, kind="stable")           # NaN last
            nan = np.isnan(x)
            fine = np.count_nonzero(~nan, -1, keepdims=True)
            middle = np.take_along_axis(places, np.maximum(fine - 1, 0) // 2, -1)
            np.testing.assert_array_equal(_kernels.kernel("middle")(x, True), middle)
            middle = np.where(fine > 0, middle, 0)
            first_nan = np.argmax(nan, -1)[..., None]
            np.testing.assert_array_equal(_kernels.kernel("middle")(x, False), np.where(fine < n, first_nan, middle))
            down = n - 1 - np.flip(np.argsort(np.flip(x, -1), -1, kind="stable"), -1)
            for k in {1, n // 2 + 1, n}:
                np.testing.assert_array_equal(_kernels.kernel("first")(x, k, False), places[..., :k])
                np.testing.assert_array_equal(_kernels.kernel("first")(x, k, True), down[..., :k])
    for wrong in [(x, 0, True), (x, n + 1, True), (x, -1, True), (x, 2**70, True), (x, 1.0, True), (x.T, 1, True),
                  (x[..., 0, 0][0], 1, True), (np.zeros((2, 3), "i2"), 1, True), (x[..., :0], 0, True)]:
        assert _kernels.kernel("first")(*wrong) is None
    assert _kernels.kernel("first")(x[:0], 2, True).shape == (0, 2, 2)
    assert _kernels.kernel("middle")(x[..., :0], True) is None
