"""Kernels that work element by element (apply.h) beside NumPy code: shapes, strides, empty arrays, special numbers, numbers
for arrays.  What a kernel declines it answers with None.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from kernel_tools import native

from retrograd import _kernels
from retrograd._rules import erf_gamma, special

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")      # of the references
SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e-40, -1e-40, 1e38, -1e38, 5e-7, 1.0, -1.0, 2.0, -2.5, 0.5, -88.0, 88.0, 3e4]
Reference = Callable[..., Any]


def each(f: Callable[[float], float]) -> Reference:
    return np.vectorize(f, otypes=["f8"])


def log_gamma(x: float) -> float:
    if math.isinf(x) or (x <= 0 and x == math.floor(x)):
        return math.inf
    return math.lgamma(x)


def erfcx(x: Any) -> Any:
    return special.erfcx_of(np.asarray(x, "f8"))


def remainder(a: Any, b: Any) -> Any:
    r = np.fmod(a, b)
    return np.where((r != 0) & ((r < 0) != (b < 0)), r + b, r)


def log_more(e: Any) -> Any:
    return np.where(np.isnan(e), e, np.log1p(e))


def softplus(x: Any) -> Any:
    return np.maximum(x, 0) + np.log1p(np.exp(-np.abs(x)))


# name, arrays, numbers after them, reference on float64 arrays, doubles, (low, high) of the samples
SMOOTH: list[tuple[str, int, tuple[float, ...], Reference, bool, tuple[float, float]]] = [
    ("erf", 1, (), each(math.erf), True, (-6, 6)),
    ("erfc", 1, (), each(math.erfc), True, (-6, 10)),
    ("erfcx", 1, (), erfcx, True, (-5, 60)),
    ("log_ndtr", 1, (), special.log_ndtr_of, True, (-60, 10)),
    ("erfinv", 1, (), erf_gamma.erfinv, True, (-1, 1)),
    ("ndtri", 1, (), special.ndtri_of, False, (0, 1)),
    ("lgamma", 1, (), each(log_gamma), True, (-9, 30)),
    ("digamma", 1, (), erf_gamma.digamma, True, (-9, 30)),
    ("trigamma", 1, (), lambda x: erf_gamma.polygamma(1, x), True, (-9, 30)),
    ("i0", 1, (), lambda x: special.bessel(0, x), False, (-40, 40)),
    ("i0e", 1, (), lambda x: special.scaled_bessel(0, x), False, (-40, 40)),
    ("i1", 1, (), lambda x: special.bessel(1, x), False, (-40, 40)),
    ("i1e", 1, (), lambda x: special.scaled_bessel(1, x), False, (-40, 40)),
    ("elu", 1, (0.75, 1.5, 2.0), lambda x: np.where(x <= 0, np.expm1(x * 2.0) * 0.75, x * 1.5), False, (-4, 4)),
    ("softplus", 1, (2.0, 16.0), lambda x: np.where(x * 2 > 16, x, softplus(x * 2) / 2), False, (-30, 12)),
    ("log_sigmoid", 1, (), lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x))), False, (-30, 30)),
    ("mish", 1, (), lambda x: x * np.tanh(softplus(x)), False, (-30, 30)),
    ("entropy", 1, (), lambda x: np.where(x == 0, 0, np.where(x < 0, -np.inf, -x * np.log(np.abs(x)))), False, (-1, 4)),
    ("xlogy", 2, (), lambda a, b: np.where((a == 0) & (b == b), 0, a * np.log(b)), False, (0, 4)),
    ("xlog1py", 2, (), lambda a, b: np.where((a == 0) & (b == b), 0, a * log_more(b)), False, (-0.9, 4)),
    ("logaddexp", 2, (), np.logaddexp, False, (-30, 30)),
    ("logaddexp2", 2, (), np.logaddexp2, False, (-30, 30)),
    ("hypot", 2, (), np.hypot, False, (-4, 4)),
    ("igamma", 2, (), lambda a, x: special.incomplete_gamma(a, x, False), True, (0, 30)),
    ("igammac", 2, (), lambda a, x: special.incomplete_gamma(a, x, True), True, (0, 30)),
]


def bent(x: Any) -> Any:
    return np.minimum(np.maximum(x + x.dtype.type(3), 0), 6)


def mixed(a: Any, b: Any, w: Any) -> Any:
    return np.where(np.abs(w) < 0.5, a + (b - a) * w, b - (b - a) * (1 - w)).astype(a.dtype)


def gap(a: Any, b: Any) -> Any:
    return np.abs(a - b)



# the same, with references in the arrays' own dtype (t: its type), whose bits the kernel has
EXACT: list[tuple[str, int, tuple[Any, ...], Callable[..., Any]]] = [
    ("clamp", 1, (-0.5, 1.0), lambda x, t: np.minimum(t(1), np.maximum(t(-0.5), x))),
    ("clamp", 1, (None, 1), lambda x, t: np.minimum(t(1), x)),
    ("clamp", 1, (-0.5, None), lambda x, t: np.maximum(t(-0.5), x)),
    ("leaky", 1, (0.3,), lambda x, t: np.where(x > 0, x, x * t(0.3))),
    ("threshold", 1, (0.3, 7), lambda x, t: np.where(x <= t(0.3), t(7), x)),
    ("hard_shrink", 1, (0.6,), lambda x, t: np.where((x >= -t(0.6)) & (x <= t(0.6)), t(0), x)),
    ("soft_shrink", 1, (0.6,), lambda x, t: np.where(x > t(0.6), x - t(0.6), np.where(x < -t(0.6), x + t(0.6), x * 0))),
    ("hard_sigmoid", 1, (), lambda x, t: bent(x) / t(6)),
    ("hard_swish", 1, (), lambda x, t: x * bent(x) / t(6)),
    ("sign", 1, (), lambda x, t: (x > 0).astype(t) - (x < 0).astype(t)),
    ("angle", 1, (), lambda x, t: np.where(x != x, x, np.where(x < 0, t(np.pi), t(0)))),
    ("frac", 1, (), lambda x, t: x - np.trunc(x)),
    ("rsqrt", 1, (), lambda x, t: t(1) / np.sqrt(x)),
    ("nan_to_num", 1, (2.0, 3.0, -4), lambda x, t: np.nan_to_num(x, nan=2, posinf=3, neginf=-4)),
    ("lerp", 2, (0.25, 0.75), lambda a, b, t: a + (b - a) * t(0.25)),
    ("lerp", 2, (0.75, 0.25), lambda a, b, t: b - (b - a) * t(0.25)),
    ("add_scaled", 2, (0.7,), lambda a, b, t: a + b * t(0.7)),
    ("blend", 3, (), lambda a, b, w, t: mixed(a, b, w)),
    ("add_product", 3, (0.7,), lambda x, a, b, t: x + a * b * t(0.7)),
    ("add_quotient", 3, (0.7,), lambda x, a, b, t: x + a / b * t(0.7)),
    ("smooth_l1", 2, (0.5, 1.0, 0.25), lambda a, b, t: np.where(gap(a, b) < t(0.5), gap(a, b) ** 2, gap(a, b) - t(0.25))),
    ("huber", 2, (0.5, 0.25),
     lambda a, b, t: np.where(gap(a, b) <= t(0.5), gap(a, b) ** 2 * t(0.5), (gap(a, b) - t(0.25)) * t(0.5))),
    ("fmod", 2, (), lambda a, b, t: np.fmod(a, b)),
    ("remainder", 2, (), lambda a, b, t: remainder(a, b)),
    ("floor_divide", 2, (), lambda a, b, t: np.floor_divide(a, b)),
]  # fmt: skip
SHAPES: list[tuple[int, ...]] = [(), (1,), (7,), (3, 5), (2, 3, 33), (0,), (3, 0), (70, 100)]


def samples(n: int, low: float, high: float, dtype: Any, shape: tuple[int, ...]) -> list[np.ndarray]:
    r = np.random.default_rng(n + len(shape))
    return [np.asarray(r.uniform(low, high, shape), dtype) for _ in range(n)]


def special_samples(n: int, dtype: Any) -> list[np.ndarray]:
    """Every pair (triple: every pair, thrice the second) of special numbers."""
    grid = list(np.meshgrid(*[np.array(SPECIAL, dtype)] * min(n, 2), indexing="ij"))
    grid += [grid[1][::-1].copy()] * (n - 2) if n > 2 else []
    return [np.ascontiguousarray(a) for a in grid[:n]]


@native
@pytest.mark.parametrize("case", SMOOTH, ids=[c[0] for c in SMOOTH])
def test_smooth_functions(case: Any) -> None:
    name, n, rest, reference, double, (low, high) = case
    run = _kernels.kernel(name)
    for dtype in (np.dtype("f4"), np.dtype("f8")):
        for shape in SHAPES:
            xs = samples(n, low, high, dtype, shape)
            got = run(*xs, *rest)
            if dtype == "f8" and not double:
                assert got is None
                continue
            want = reference(*[x.astype("f8") for x in xs]) if xs[0].size else np.zeros(shape)
            assert got.dtype == dtype and got.shape == shape and got.flags.c_contiguous
            scale = 1e-12 if dtype == "f8" else 3e-7
            np.testing.assert_allclose(got, want, rtol=scale, atol=scale / 100)
        if dtype == "f4" or double:
            xs = special_samples(n, dtype)
            want = np.asarray(reference(*[x.astype("f8") for x in xs])).astype(dtype)
            np.testing.assert_allclose(run(*xs, *rest), want, rtol=2e-6, atol=5e-17 if name in ("i1", "i1e") else 1e-37)


@native
@pytest.mark.parametrize("case", EXACT, ids=[f"{c[0]}{c[2]}" for c in EXACT])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_bits_of_the_numpy_code(case: Any, dtype: str) -> None:
    name, n, rest, reference = case
    run, kind = _kernels.kernel(name), np.dtype(dtype)
    for shape in SHAPES:
        xs = samples(n, -4, 4, kind, shape)
        np.testing.assert_array_equal(run(*xs, *rest), reference(*xs, kind.type))
    xs = special_samples(n, kind)
    got, want = run(*xs, *rest), reference(*xs, kind.type)
    np.testing.assert_array_equal(got, want)
    number = ~np.isnan(want) & (want != 0 if name in ("hard_shrink", "sign") else True)
    np.testing.assert_array_equal(np.signbit(got)[number], np.signbit(want)[number])


@native
@pytest.mark.parametrize(("name", "rest"), [("lerp", (0.25, 0.75)), ("add_scaled", (0.7,))])
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_kernels_that_write_into_their_first_operand(name: str, rest: Any, dtype: str) -> None:
    run, into = _kernels.kernel(name), _kernels.kernel(f"{name}_into")
    for shape in SHAPES:
        a, b = samples(2, -4, 4, np.dtype(dtype), shape)
        for other in (b, a, 2.0):
            mine = a.copy()
            want = run(a, other, *rest)
            assert into(mine, mine if other is a else other, *rest) is mine
            np.testing.assert_array_equal(mine, want)
    whole = np.arange(2000, dtype=dtype)
    assert into(whole[1:], whole[:-1], *rest) is None
    assert into(whole[:1000], whole[1000:], *rest) is not None
    whole.flags.writeable = False
    assert into(whole, whole * 2, *rest) is None
    assert into(2.0, whole, *rest) is None


@native
@pytest.mark.parametrize("name", ["fmod", "remainder", "floor_divide"])
def test_division_of_every_magnitude(name: str) -> None:
    """Quotients near integers and near 2^22, where the quick way ends."""
    r = np.random.default_rng(5)
    reference = next(c[3] for c in EXACT if c[0] == name)
    b = (r.uniform(0.5, 2, 4000) * 2.0 ** r.integers(-20, 20, 4000) * r.choice([-1, 1], 4000)).astype("f4")
    whole = r.integers(0, 2**23, 4000).astype("f4")
    for a in (b * whole, np.nextafter(b * whole, np.float32(0)), np.nextafter(b * whole, np.float32(np.inf)),
              (b * r.uniform(-9, 9, 4000)).astype("f4"), (b * 1e30).astype("f4"), b):
        np.testing.assert_array_equal(_kernels.kernel(name)(a, b), reference(a, b, np.float32))


@native
def test_numbers_stand_for_arrays() -> None:
    x = np.linspace(-3, 3, 1500).astype("f4")
    for name in ("fmod", "remainder", "floor_divide", "logaddexp", "hypot"):
        run = _kernels.kernel(name)
        np.testing.assert_array_equal(run(x, 0.7), run(x, np.full_like(x, 0.7)))
        np.testing.assert_array_equal(run(2, x), run(np.full_like(x, 2), x))
        assert run(1.0, 2.0) is None and run(x, 2**60) is None and run(x, "2") is None


@native
@pytest.mark.parametrize("name", sorted({c[0] for c in SMOOTH + EXACT}))  # type: ignore[operator]
def test_what_is_declined(name: str) -> None:
    """Other dtypes, orders, byte orders, alignments, classes and shapes, and bounds that are no numbers."""
    n, rest = next((c[1], c[2]) for c in [*SMOOTH, *EXACT] if c[0] == name)
    run = _kernels.kernel(name)
    x = np.linspace(0.1, 0.9, 24).reshape(4, 6).astype("f4")
    bytes_ = np.zeros(24 * 4 + 1, np.uint8)
    odd = bytes_[1:].view("f4").reshape(4, 6)
    odd[...] = x
    for a in (x.astype("f2"), x.astype("i4"), x.T, x[:, ::2], x[::-1], x.astype(">f4"), odd, x.view(np.recarray), "x", None):
        assert run(*[a] * n, *rest) is None
    if n > 1:
        assert run(*[x] * (n - 1), x[:2], *rest) is None
        assert run(*[x] * (n - 1), x.astype("f8"), *rest) is None
    if rest:
        assert run(*[x] * n, "1", *rest[1:]) is None
    if name == "clamp":
        assert run(x, np.nan, 1.0) is None and run(x, 2.0, 1.0) is None
    with pytest.raises(TypeError, match=f"{name}: expected"):
        run()
