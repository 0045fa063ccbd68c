"""Values, gradients and strides at the places that are easily wrong, beside PyTorch's."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd as torch

BASES: dict[str, Callable[[Any], Any]] = {
    "whole": lambda lib: lib.arange(24.0).reshape(4, 6),
    "columns": lambda lib: lib.arange(24.0).reshape(4, 6)[:, :3],
    "steps": lambda lib: lib.arange(24.0).reshape(4, 6)[::2, ::3],
    "transposed": lambda lib: lib.arange(24.0).reshape(4, 6).t(),
    "rows of it": lambda lib: lib.arange(24.0).reshape(4, 6).t()[::2],
    "expanded": lambda lib: lib.arange(24.0)[:4].expand(3, 4),
    "from the middle": lambda lib: lib.arange(24.0).reshape(4, 6)[1:, 2:],
    "overlapping": lambda lib: lib.arange(24.0).as_strided((3, 4), (2, 1)),
}
LAID = [((2, 2), (1, 2), None), ((2, 2), (1, 2), 1), ((3,), (0,), 0), ((2, 2), (1, 1), 2), ((2, 2), (6, 1), 0),
        ((2, 3), (3, 1), None), ((), (), 3), ((0, 2), (1, 1), 0), ((3, 2), (4, 2), 1)]  # fmt: skip


@pytest.fixture(scope="module")
def pytorch() -> Any:
    return pytest.importorskip("torch")


def outcome(work: Callable[..., Any], *args: Any) -> Any:
    try:
        return work(*args)
    except Exception as e:
        return type(e).__name__, str(e).split("\n")[0]


def laid(lib: Any, base: str, size: Any, stride: Any, offset: Any, how: str) -> Any:
    """The values and the gradient of as_strided on a leaf, on a product, on a copy, or written through."""
    x = BASES[base](lib).detach().requires_grad_()
    of = {"leaf": x, "product": x * 2, "copy": x, "written": x.clone()}[how]
    y = lib.as_strided_copy(of, size, stride, offset) if how == "copy" else of.as_strided(size, stride, offset)
    if how == "written":
        y.mul_(3)
        y = of
    (g,) = lib.autograd.grad((y * lib.arange(1.0, 1 + y.numel()).reshape(y.shape)).sum(), x)
    return y.tolist(), g.tolist(), g.stride()


@pytest.mark.oracle
@pytest.mark.parametrize("base", BASES)
def test_as_strided_of_any_memory(base: str, pytorch: Any) -> None:
    """A gradient lands where the base shows the memory: gaps take none, a place shown twice its mean."""
    for size, stride, offset in LAID:
        for how in ("leaf", "product", "copy", "written"):
            if how == "written" and (stride == (0,) or stride == (1, 1)):
                continue                                # an edit of one place twice
            case = (base, size, stride, offset, how)
            assert outcome(laid, torch, *case) == outcome(laid, pytorch, *case), case


@pytest.mark.parametrize("base", BASES)
def test_second_derivative_of_as_strided(base: str) -> None:
    for size, stride, offset in LAID[:-1]:
        x = BASES[base](torch).double().detach()
        x = torch.from_numpy(np.array(x.numpy())) if base in ("expanded", "overlapping") else x
        x.requires_grad_()
        if x.storage_offset() or not x.is_contiguous():
            offset = None
        if not inside(x, size, stride, offset):
            continue
        assert torch.autograd.gradcheck(squares, (x, size, stride, offset))
        assert torch.autograd.gradgradcheck(squares, (x, size, stride, offset))


def squares(x: Any, size: Any, stride: Any, offset: Any) -> Any:
    return x.as_strided(size, stride, offset) ** 2


def inside(x: Any, size: Any, stride: Any, offset: Any) -> bool:
    """Does the base itself show all that the view shows?  (What lies in gaps is no function of it.)"""
    at = [(offset or 0) + sum(i * s for i, s in zip(where, stride)) for where in np.ndindex(*size)]
    own = {sum(i * s for i, s in zip(where, x.stride())) for where in np.ndindex(*x.shape)}
    return set(at) <= own


NAN, INF = float("nan"), float("inf")
ROWS = [[1.0, NAN, 2.0, NAN], [NAN, NAN, NAN], [INF, -INF, NAN, 0.0], [INF, INF, 1.0], [-INF, -INF], [2.0, NAN],
        [NAN, INF, -INF, INF, NAN, 1.0]]
RANKED: dict[str, Callable[[Any, Any], Any]] = {
    "sort": lambda lib, x: lib.sort(x, stable=True),
    "sort down": lambda lib, x: lib.sort(x, descending=True, stable=True),
    "argsort": lambda lib, x: lib.argsort(x, stable=True),
    "msort": lambda lib, x: lib.msort(x),
    "topk": lambda lib, x: lib.topk(x, 2).values,
    "least": lambda lib, x: lib.topk(x, 2, largest=False).values,
    "kthvalue": lambda lib, x: lib.kthvalue(x, 2).values,
    "median": lambda lib, x: lib.median(x),
    "median of dim": lambda lib, x: lib.median(x, 0).values,
    "nanmedian": lambda lib, x: lib.nanmedian(x),
    "nanmedian of dim": lambda lib, x: lib.nanmedian(x, 0),
    "mode": lambda lib, x: lib.mode(x),
    "unique": lambda lib, x: lib.unique(x, return_inverse=True, return_counts=True),
    "unique_consecutive": lambda lib, x: lib.unique_consecutive(x, return_inverse=True, return_counts=True),
    "cummax": lambda lib, x: lib.cummax(x, 0),
    "cummin": lambda lib, x: lib.cummin(x, 0),
    "max": lambda lib, x: lib.max(x, 0),
    "amin": lambda lib, x: lib.amin(x, 0),
    "argmax": lambda lib, x: lib.argmax(x),
    "aminmax": lambda lib, x: lib.aminmax(x),
    "histc": lambda lib, x: lib.histc(x, 4, -1, 3),
    "bucketize": lambda lib, x: lib.bucketize(x, lib.tensor([0.0, 1.0, 2.0], dtype=x.dtype)),
    "bucketize right": lambda lib, x: lib.bucketize(x, lib.tensor([0.0, 1.0, 2.0], dtype=x.dtype), right=True),
    "bucketize nan": lambda lib, x: lib.bucketize(x, lib.tensor([0.0, 1.0, NAN], dtype=x.dtype)),
    "searchsorted": lambda lib, x: lib.searchsorted(lib.tensor([-INF, 1.0, INF, NAN], dtype=x.dtype), x),
    "searchsorted right": lambda lib, x: lib.searchsorted(lib.tensor([-INF, 1.0, INF, NAN], dtype=x.dtype), x, right=True),
    "searchsorted rows": lambda lib, x: lib.searchsorted(lib.tensor([[NAN, 1.0], [0.0, NAN]], dtype=x.dtype),
        lib.stack([x, x])),
    "quantile": lambda lib, x: lib.quantile(x, 0.5),
    "nanquantile": lambda lib, x: lib.nanquantile(x, 0.4),
    "nansum": lambda lib, x: lib.nansum(x),
    "nanmean": lambda lib, x: lib.nanmean(x),
    "isin": lambda lib, x: lib.isin(x, lib.tensor([NAN, INF], dtype=x.dtype)),
}
DERIVED = {"sort", "msort", "topk", "median", "nanmedian", "mode", "cummax", "max", "amin", "nansum", "nanmean", "nanquantile"}


def ranked(lib: Any, name: str, row: Any, dtype: str) -> Any:
    x = lib.tensor(row, dtype=getattr(lib, dtype), requires_grad=name in DERIVED and dtype != "bfloat16")
    found = RANKED[name](lib, x)
    outs = list(found) if isinstance(found, tuple) else [found]
    if outs[0].requires_grad:
        outs += lib.autograd.grad(outs[0], x, lib.arange(1.0, 1 + outs[0].numel(), dtype=x.dtype).reshape(outs[0].shape))
    return [[str(v) for v in t.double().reshape(-1).tolist()] for t in outs]


@pytest.mark.oracle
@pytest.mark.parametrize("name", RANKED)
def test_ranks_of_nan_and_infinity(name: str, pytorch: Any) -> None:
    for dtype in ("float64", "float32", "float16", "bfloat16"):
        for row in ROWS:
            case = (name, row, dtype)
            if name == "kthvalue" and row.count(NAN) == len(row):
                continue                                # which NaN
            assert outcome(ranked, torch, *case) == outcome(ranked, pytorch, *case), case


def scattered(lib: Any, row: Any, how: str, start: float, include_self: bool, slices: bool) -> Any:
    x = lib.tensor([start, 1.0, start], requires_grad=True)
    src = lib.tensor(row, requires_grad=True)
    at = lib.tensor([0, 2, 0, 2, 1, 0][: len(row)])
    y = (x.index_reduce if slices else x.scatter_reduce)(0, at, src, how, include_self=include_self)
    gs = lib.autograd.grad(y, (x, src), lib.tensor([1.0, 2.0, 3.0]))
    return [[str(v) for v in t.tolist()] for t in (y.detach(), *gs)]


@pytest.mark.oracle
@pytest.mark.filterwarnings("ignore:index_reduce:UserWarning")
@pytest.mark.parametrize("how", ["amax", "amin"])
def test_gradients_of_scattered_extremes_with_nan_and_ties(how: str, pytorch: Any) -> None:
    """A NaN extreme gives NaN to all that went into it; an equal start has a share even where it took no part."""
    for row in [*ROWS, [3.0, 3.0, 1.0, 3.0]]:
        for start in (0.0, 2.0, NAN, INF):
            for include_self in (True, False):
                for slices in (True, False):
                    case = (row, how, start, include_self, slices)
                    assert outcome(scattered, torch, *case) == outcome(scattered, pytorch, *case), case


def quantiles(lib: Any, name: str, data: Any, q: Any, dim: Any, how: str) -> Any:
    x = lib.tensor(data, dtype=lib.float64, requires_grad=True)
    at = lib.tensor(q, dtype=lib.float64, requires_grad=True)
    y = getattr(lib, name)(x, at, dim, interpolation=how)
    gs = lib.autograd.grad(y, (x, at), lib.arange(1.0, 1 + y.numel(), dtype=lib.float64).reshape(y.shape), allow_unused=True,
                           create_graph=True)
    return [None if t is None else (np.round(t.tolist(), 12).tolist(), t.requires_grad) for t in (y, *gs)]


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["quantile", "nanquantile"])
def test_gradient_of_a_quantile_for_its_q(name: str, pytorch: Any) -> None:
    data = [[1.0, 5.0, 2.0], [4.0, NAN if name == "nanquantile" else 8.0, 0.0]]
    for q in (0.4, [0.0, 0.25, 0.5, 1.0]):
        for dim in (None, 0, 1):
            for how in ("linear", "lower", "higher", "midpoint", "nearest"):
                case = (name, data, q, dim, how)
                assert outcome(quantiles, torch, *case) == outcome(quantiles, pytorch, *case), case


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["i0", "i0e", "i1", "i1e"])
def test_bessel_functions_and_two_derivatives_near_zero(name: str, pytorch: Any) -> None:
    at = [0.0, 1e-300, 1e-20, 1e-10, 1e-6, 1e-4, 1e-3, 0.01, 0.1, 0.5, 1.0, 1.999, 2.001, 3.0, 8.0, 20.0]
    found = []
    for lib in (torch, pytorch):
        x = lib.tensor([*at, *[-v for v in at[1:]]], dtype=lib.float64, requires_grad=True)
        y = getattr(lib.special, name)(x)
        (g,) = lib.autograd.grad(y.sum(), x, create_graph=True)
        (h,) = lib.autograd.grad(g.sum(), x)
        found.append([t.tolist() for t in (y, g, h)])
    for ours, theirs, rtol, atol in zip(*found, (2e-15, 1e-14, 1e-6), (0.0, 1e-17, 1e-5), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=rtol, atol=atol)  # the second: PyTorch's own digits cancel


VIEWS: dict[str, Callable[[Any], Any]] = {
    **BASES,
    "permuted": lambda lib: lib.arange(24.0).reshape(2, 3, 4).permute(2, 0, 1),
    "expanded and permuted": lambda lib: lib.arange(6.0).reshape(2, 1, 3).expand(2, 4, 3).permute(2, 1, 0),
    "number": lambda lib: lib.tensor(3.0).expand(2, 2),
}


@pytest.mark.oracle
@pytest.mark.parametrize("name", VIEWS)
def test_copies_are_laid_out_as_pytorchs(name: str, pytorch: Any) -> None:
    def layouts(lib: Any) -> Any:
        x = VIEWS[name](lib)
        found = [x.clone(), copy.deepcopy(x), copy.copy(x), pickle.loads(pickle.dumps(x)), x.contiguous(), lib.zeros_like(x)]
        return [(t.tolist(), t.stride(), t.storage_offset()) for t in found]

    assert layouts(torch) == layouts(pytorch)


def window_cases() -> list[Any]:
    cases: list[Any] = []
    for name in ("bartlett", "blackman", "cosine", "exponential", "gaussian", "hamming", "hann", "kaiser", "nuttall"):
        cases += [(name, M, {"sym": sym}) for M in (0, 1, 2, 7, 8) for sym in (True, False)]
    cases += [("exponential", 6, {"center": 1.5, "tau": 2.0, "sym": False}), ("gaussian", 5, {"std": 0.4}),
              ("kaiser", 5, {"beta": 3.0}), ("general_cosine", 6, {"a": [0.5, 0.3, 0.2]}),
              ("general_hamming", 6, {"alpha": 0.7}), ("hann", -1, {}), ("gaussian", 3, {"std": 0.0}),
              ("general_cosine", 3, {"a": []}), ("kaiser", 3, {"beta": -1.0}), ("exponential", 3, {"center": 1.0})]
    return cases


def windowed(lib: Any, name: str, M: int, kw: Any, dtype: str) -> Any:
    w = getattr(lib.signal.windows, name)(M, dtype=getattr(lib, dtype), **kw)
    return str(w.dtype).rpartition(".")[2], w.tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("name", ["bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine",
                                  "general_hamming", "hamming", "hann", "kaiser", "nuttall"])
def test_signal_windows(name: str, pytorch: Any) -> None:
    for case in window_cases():
        for dtype in ("float64", "float32", "float16"):
            if case[0] == name:
                ours, theirs = (outcome(windowed, lib, *case, dtype) for lib in (torch, pytorch))
                assert ours[0] == theirs[0], case
                if isinstance(theirs[1], str):
                    assert ours[1] == theirs[1]
                else:
                    np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-6 if dtype == "float32" else 1e-12, atol=1e-7)


@pytest.mark.parametrize(("name", "reference"), [
    ("bartlett", np.bartlett), ("blackman", np.blackman), ("hamming", np.hamming), ("hann", np.hanning),
    ("kaiser", lambda n: np.kaiser(n, 12.0))])
def test_symmetric_windows_are_numpys(name: str, reference: Any) -> None:
    for n in (2, 7, 12):
        w = getattr(torch.signal.windows, name)(n, dtype=torch.float64)
        np.testing.assert_allclose(w.numpy(), reference(n), rtol=1e-12, atol=1e-14)


SPECIAL = ["airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1",
           "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1",
           "spherical_bessel_j0"]


def special(lib: Any, name: str, values: Any, dtype: str) -> Any:
    y = getattr(lib.special, name)(lib.tensor(values, dtype=getattr(lib, dtype)))
    return str(y.dtype).rpartition(".")[2], y.tolist()


@pytest.mark.oracle
@pytest.mark.parametrize("name", SPECIAL)
def test_bessel_and_airy_functions(name: str, pytorch: Any) -> None:
    at = [0.0, -0.0, 1e-8, 0.3, 1.0, 2.5, 3.5, 7.9, 11.9, 12.1, 24.9, 25.1, 60.0, 110.0, INF, -INF, NAN]
    for dtype in ("float64", "float32", "float16", "int64"):
        values = [1, 2, 30, 0] if dtype == "int64" else [*at, *[-v for v in at]]
        ours, theirs = (outcome(special, lib, name, values, dtype) for lib in (torch, pytorch))
        assert ours[0] == theirs[0]
        if isinstance(theirs[1], str):
            assert ours[1] == theirs[1]
        else:
            np.testing.assert_allclose(ours[1], theirs[1], rtol=1e-4 if dtype == "float32" else 1e-6, atol=1e-5)


def test_bessel_functions_satisfy_their_identities() -> None:
    """Wronskians (Abramowitz and Stegun 9.1.16, 9.6.15), which bind the functions of both kinds to all digits."""
    x = torch.tensor(np.concatenate([np.geomspace(1e-6, 3, 40), np.linspace(2.9, 60, 90)]))
    of = torch.special
    j0, j1, y0, y1 = of.bessel_j0(x), of.bessel_j1(x), of.bessel_y0(x), of.bessel_y1(x)
    np.testing.assert_allclose((j1 * y0 - j0 * y1).numpy(), (2 / (np.pi * x)).numpy(), rtol=2e-14)
    i0, i1 = of.i0e(x), of.i1e(x)
    k0, k1 = of.scaled_modified_bessel_k0(x), of.scaled_modified_bessel_k1(x)
    np.testing.assert_allclose((i0 * k1 + i1 * k0).numpy(), (1 / x).numpy(), rtol=5e-15)
    z = torch.tensor(np.linspace(-20, 5, 400))              # y'' = x y, by central differences
    h = 1e-3
    y = [of.airy_ai(z + d) for d in (-h, 0.0, h)]
    np.testing.assert_allclose(((y[0] - 2 * y[1] + y[2]) / h**2).numpy(), (z * y[1]).numpy(), atol=2e-5 * 20)


POLYNOMIALS: dict[str, Any] = {
    "chebyshev_polynomial_t": np.polynomial.chebyshev.chebval, "hermite_polynomial_h": np.polynomial.hermite.hermval,
    "hermite_polynomial_he": np.polynomial.hermite_e.hermeval, "laguerre_polynomial_l": np.polynomial.laguerre.lagval,
    "legendre_polynomial_p": np.polynomial.legendre.legval,
}


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_orthogonal_polynomials_are_numpys(name: str) -> None:
    x = np.linspace(-3, 3, 25)
    for n in range(13):
        y = getattr(torch.special, name)(torch.tensor(x), n).numpy()
        np.testing.assert_allclose(y, POLYNOMIALS[name](x, [0.0] * n + [1.0]), rtol=1e-11, atol=1e-9)


@pytest.mark.oracle
@pytest.mark.parametrize("name", [*POLYNOMIALS, *[f"{s}chebyshev_polynomial_{k}" for s in ("", "shifted_") for k in "tuvw"]])
def test_orthogonal_polynomials(name: str, pytorch: Any) -> None:
    x = np.array([-1.5, -1.0, -0.3, 0.0, 0.5, 1.0, 1.2])   # of nan PyTorch's are those of the number before it
    for dtype in (np.float64, np.float32):
        for n in (-1, 0, 1, 2, 3, 7, 10, 2.9):
            ours, theirs = (getattr(lib.special, name)(lib.from_numpy(x.astype(dtype)), n) for lib in (torch, pytorch))
            np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-6)
        degrees = np.arange(8).astype(dtype)
        ours, theirs = (getattr(lib.special, name)(0.4, lib.from_numpy(degrees)) for lib in (torch, pytorch))
        np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-4 if dtype == np.float32 else 1e-9, atol=1e-6)


@pytest.mark.parametrize("density", [False, True])
def test_histograms_are_numpys(density: bool) -> None:
    rng = np.random.default_rng(3)
    x, w = rng.integers(0, 9, 40) / 2.0, rng.uniform(0, 1, 40)      # many on an edge
    for bins, span, weight in ((4, None, None), (5, (1.0, 3.0), w), (np.array([0.0, 0.5, 2.0, 4.0]), None, w)):
        given = torch.tensor(bins) if isinstance(bins, np.ndarray) else bins
        kw: dict[str, Any] = {} if span is None else {"range": span}
        kw |= {} if weight is None else {"weight": torch.tensor(weight)}
        hist, edges = torch.histogram(torch.tensor(x), given, density=density, **kw)
        want, at = np.histogram(x, bins, span, density, weight)
        np.testing.assert_allclose(hist.numpy(), want, rtol=1e-12)
        np.testing.assert_allclose(edges.numpy(), at, rtol=1e-12)
    points = x.reshape(20, 2)
    hist, (a, b) = torch.histogramdd(torch.tensor(points), [3, 4], density=density)
    want, (wa, wb) = np.histogramdd(points, (3, 4), density=density)
    np.testing.assert_allclose(hist.numpy(), want, rtol=1e-12)
    np.testing.assert_allclose([*a.numpy(), *b.numpy()], [*wa, *wb], rtol=1e-12)


HISTOGRAMS: list[Callable[[Any], Any]] = [
    lambda lib: lib.histogram(lib.tensor([1.0, 2.0, NAN]), 4),
    lambda lib: lib.histogram(lib.tensor([1, 2]), 4),
    lambda lib: lib.histogram(lib.tensor([1.0]), 0),
    lambda lib: lib.histogram(lib.ones(3), 4, weight=lib.ones(2)),
    lambda lib: lib.histogram(lib.ones(3), lib.ones(2, 2)),
    lambda lib: lib.histogram(lib.ones(3), 4, range=(3.0, 1.0)),
    lambda lib: lib.histogram(lib.zeros(0), 3),
    lambda lib: lib.histogram(lib.ones(3), 3),
    lambda lib: lib.histogram(lib.ones(3, dtype=lib.float64), lib.ones(3)),
    lambda lib: lib.ones(3, requires_grad=True).histogram(3).hist.sum().backward(),
    lambda lib: lib.histogramdd(lib.ones(4), 3),
    lambda lib: lib.histogramdd(lib.ones(4, 2), [1, 2, 3]),
    lambda lib: lib.histogramdd(lib.ones(4, 2), 2, range=(0.0, 1.0)),
    lambda lib: lib.histogramdd(lib.ones(2, 2, 2), [2, 3], weight=lib.ones(2, 2)),
    lambda lib: lib.histogram(lib.ones(3), 2, out=(lib.empty(0), lib.empty(0))),
]


@pytest.mark.oracle
@pytest.mark.parametrize("nr", range(len(HISTOGRAMS)))
def test_histograms_at_the_edges(nr: int, pytorch: Any) -> None:
    ours, theirs = outcome(HISTOGRAMS[nr], torch), outcome(HISTOGRAMS[nr], pytorch)
    assert str(ours) == str(theirs)


RESIZED: list[dict[str, Any]] = [
    {"size": (2, 3)}, {"size": (8, 11)}, {"size": (1, 1)}, {"size": (4, 5)}, {"scale_factor": 0.5}, {"scale_factor": (1.7, 0.7)},
    {"scale_factor": 0.35, "recompute_scale_factor": True}, {"size": (5, 2), "align_corners": True}]


def resized(lib: Any, a: Any, mode: str, kw: Any) -> Any:
    x = lib.from_numpy(a.copy())
    if a.dtype.name in ("float32", "float64"):
        x.requires_grad_()
    y = lib.nn.functional.interpolate(x, mode=mode, antialias=True, **kw)
    outs = [y.detach()]
    if y.requires_grad:
        weights = lib.linspace(-1.0, 2.0, y.numel(), dtype=x.dtype).reshape(y.shape)
        outs += lib.autograd.grad((y * weights).sum(), x)
    return y.grad_fn and y.grad_fn.name(), [t.tolist() for t in outs]


@pytest.mark.oracle
@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_antialiased_resizing(mode: str, pytorch: Any) -> None:
    rng = np.random.default_rng(5)
    for sizes in ((4, 5), (7, 6), (1, 6), (12, 9)):     # a result one column wide has only its first row right in PyTorch
        for dtype, tol in (("float64", 1e-12), ("float32", 2e-5), ("float16", 0), ("uint8", 1), ("int64", 0)):
            a = rng.uniform(0, 255 if dtype == "uint8" else 1, (2, 1, *sizes)).astype(dtype)
            for kw in RESIZED:
                ours, theirs = outcome(resized, torch, a, mode, kw), outcome(resized, pytorch, a, mode, kw)
                assert ours[0] == theirs[0], (sizes, dtype, kw, ours, theirs)
                if isinstance(theirs[1], str):
                    assert ours[1] == theirs[1]
                else:
                    for x, y in zip(ours[1], theirs[1], strict=True):
                        np.testing.assert_allclose(x, y, rtol=0, atol=tol * max(1.0, np.abs(y).max() if tol < 1 else 1.0))


@pytest.mark.parametrize("mode", ["bilinear", "bicubic", "lanczos"])
def test_derivatives_of_antialiased_resizing(mode: str) -> None:
    x = torch.tensor(np.random.default_rng(2).uniform(0, 1, (1, 1, 5, 4)), requires_grad=True)
    for size in ((2, 3), (6, 5)):
        assert torch.autograd.gradcheck(resize, (x, size, mode))
        assert torch.autograd.gradgradcheck(resize, (x, size, mode))


def resize(x: Any, size: Any, mode: str) -> Any:
    return torch.nn.functional.interpolate(x, size=size, mode=mode, antialias=True) ** 2


@pytest.mark.parametrize("shape", [(6, 4), (4, 7), (2, 5, 5)])
def test_approximations_of_low_rank_find_the_singular_values(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(*shape[:-1], 2)) @ rng.normal(size=(*shape[:-2], 2, shape[-1]))
    x = torch.tensor(a, requires_grad=True)
    u, s, v = torch.svd_lowrank(x, q=3)
    assert s.shape == (*shape[:-2], 3) and u.shape == (*shape[:-1], 3) and v.shape == (*shape[:-2], shape[-1], 3)
    np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).detach().numpy(), a, atol=1e-9)
    np.testing.assert_allclose(s[..., :2].detach().numpy(), np.linalg.svd(a)[1][..., :2], rtol=1e-9)
    moved = torch.svd_lowrank(x + 5, q=2, M=torch.full((1, shape[-1]), 5.0, dtype=torch.float64))[1]
    np.testing.assert_allclose(moved.detach().numpy(), s[..., :2].detach().numpy(), rtol=1e-9)
    torch.svd_lowrank(x, q=2)[1].square().sum().backward()                  # the sum of squares of all elements
    np.testing.assert_allclose(x.grad.numpy(), 2 * a, atol=1e-8)
    centred = a - a.mean(-2, keepdims=True)
    u, s, v = torch.pca_lowrank(x.detach(), q=2, niter=3)
    np.testing.assert_allclose((u * s.unsqueeze(-2) @ v.mT).numpy(), centred, atol=1e-8)
    assert torch.pca_lowrank(x.detach(), center=False)[1].shape[-1] == min(6, *shape[-2:])
    with pytest.raises(ValueError, match=r"q\(=9\) must be non-negative integer and not greater than min\(m, n\)="):
        torch.pca_lowrank(x, q=9)
    with pytest.raises(ValueError, match=r"niter\(=-1\) must be non-negative integer"):
        torch.pca_lowrank(x, niter=-1)


def restored(ld: Any, pivots: Any) -> Any:
    """P L D Lt Pt, multiplied out block by block from the last to the first (LAPACK's sytrf, lower)."""
    n = len(ld)
    blocks, k = [], 0
    while k < n:
        size = 1 if pivots[k] > 0 else 2
        blocks.append((k, size))
        k += size
    d = np.zeros((n, n))
    for k, size in blocks:
        block = np.tril(ld[k:k + size, k:k + size])
        d[k:k + size, k:k + size] = block + np.tril(block, -1).T
    for k, size in reversed(blocks):
        low = np.eye(n)
        low[k + size:, k:k + size] = ld[k + size:, k:k + size]
        order = np.arange(n)
        last, swap = k + size - 1, abs(pivots[k]) - 1
        order[[last, swap]] = order[[swap, last]]
        d = (low @ d @ low.T)[order][:, order]
    return d


@pytest.mark.parametrize("n", [0, 1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("diagonal", [None, 0.0, 0.01])
def test_symmetric_matrices_are_their_factors_multiplied(n: int, diagonal: float | None) -> None:
    rng = np.random.default_rng(n)
    a = rng.normal(size=(2, n, n))
    a = a + a.swapaxes(-1, -2)
    if diagonal is not None and n > 1:
        a[:, range(n), range(n)] = diagonal
    ld, pivots, info = torch.linalg.ldl_factor_ex(torch.tensor(np.tril(a)))
    assert info.tolist() == [0, 0] and pivots.dtype is torch.int32
    for i in range(2):
        np.testing.assert_allclose(restored(ld[i].numpy(), pivots[i].tolist()), a[i], atol=1e-12)
    b = rng.normal(size=(2, n, 3))
    x = torch.linalg.ldl_solve(ld, pivots, torch.tensor(b)).numpy()
    np.testing.assert_allclose(a @ x, b, atol=1e-9)


@pytest.mark.oracle
def test_symmetric_factors_are_pytorchs(pytorch: Any) -> None:
    rng = np.random.default_rng(0)
    for n in (1, 2, 3, 4, 6, 9, 20, 70):
        for diagonal in (None, 0.01):
            a = rng.normal(size=(n, n))
            a = a + a.T
            if diagonal is not None:
                np.fill_diagonal(a, diagonal)
            for ours, theirs in zip(torch.linalg.ldl_factor(torch.tensor(a)), pytorch.linalg.ldl_factor(pytorch.tensor(a))):
                np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-8, atol=1e-8)


def test_symmetric_factors_have_no_derivative_and_say_what_is_wrong() -> None:
    a = torch.tensor([[1.0, 2.0], [2.0, 0.5]], requires_grad=True)
    ld, pivots = torch.linalg.ldl_factor(a)
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_factor_ex is not implemented"):
        ld.sum().backward()
    b = torch.ones(2, 1, requires_grad=True)
    with pytest.raises(RuntimeError, match="derivative for aten::linalg_ldl_solve is not implemented"):
        torch.linalg.ldl_solve(ld.detach(), pivots, b).sum().backward()
    for refused in (lambda: torch.linalg.ldl_factor(torch.zeros(2, 2)),
                    lambda: torch.linalg.ldl_factor_ex(torch.zeros(3, 2, 2), check_errors=True)):
        with pytest.raises(RuntimeError, match="Unknown error code: 1."):
            refused()
    assert torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info.item() == 1
    for LD, p, B, text in (
        (ld, pivots, b[:1], "Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is 2 by 2 but each b"),
        (ld, pivots[:1], b, "Expected LD.shape[:-1] and pivots.shape to be the same"), (ld, pivots.double(), b, "to be integers"),
        (ld, pivots, b.double(), "Expected b and A to have the same dtype"), (ld[:1], pivots, b, "1 by 2 matrices"),
    ):
        with pytest.raises(RuntimeError, match=re.escape(text)):
            torch.linalg.ldl_solve(LD, p, B)
    with pytest.raises(RuntimeError, match="must come in pairs"):       # there PyTorch reads outside of LD
        torch.linalg.ldl_solve(ld, torch.tensor([1, -2], dtype=torch.int32), b)


NAN, INF = float("nan"), float("inf")


@pytest.mark.oracle
def test_symmetric_factors_of_nan_and_inf_are_pytorchs(pytorch: Any) -> None:
    for a in ([[2.0, NAN], [NAN, 1]], [[NAN, 1], [1, 1.0]], [[INF, 1], [1, 1.0]], [[1, INF], [INF, 1.0]], [[1, 2], [2, NAN]],
              [[1, 1, 1], [1, 2, INF], [1, INF, 1.0]], [[NAN] * 3] * 3, [[1, NAN, 5], [NAN, 1, 2], [5, 2, 1.0]], [[NAN]],
              [[0, 0, 0.0], [0, NAN, 1], [0, 1, 1]], [[1, 2, INF], [2, INF, 1], [INF, 1, 1]], [[0.0, 1], [1, NAN]]):
        for ours, theirs in zip(torch.linalg.ldl_factor_ex(torch.tensor(a)), pytorch.linalg.ldl_factor_ex(pytorch.tensor(a))):
            np.testing.assert_array_equal(ours.numpy(), theirs.numpy(), err_msg=str(a))


@pytest.mark.oracle
def test_pivots_that_no_factorisation_gives_are_told_as_pytorch_tells_them(pytorch: Any) -> None:
    def solved(lib: Any, pivots: list[int]) -> Any:
        ld = lib.tensor([[2.0, 0, 0], [0.5, 3, 0], [0.25, 0.75, 4]])
        return lib.linalg.ldl_solve(ld, lib.tensor(pivots, dtype=lib.int32), lib.tensor([[1.0], [2.0], [3.0]])).tolist()

    for pivots in ([1, 2, 4], [0, 1, 2], [-4, 2, 3], [-5, -5, 3], [0, 5, 1]):
        assert outcome(solved, torch, pivots) == outcome(solved, pytorch, pivots)
    for pivots in ([3, 3, 3], [-1, -1, 3], [1, -3, -3]):
        np.testing.assert_allclose(solved(torch, pivots), solved(pytorch, pivots), rtol=1e-5)


@pytest.mark.oracle
@pytest.mark.parametrize("code", [
    "lib.full((2,), 2**64)", "lib.full_like(x, 2**64)", "x.new_full((2,), -2**63 - 1)", "x.fill_(2**64)", "x.sum(2**64)",
    "x.masked_fill(x > 0, 2**64)", "x.index_fill(0, lib.tensor([0]), 2**70)", "lib.scalar_tensor(2**64)",
    "lib.linspace(0, 2**64, 3)", "lib.add(x, x, alpha=2**64)", "lib.tensor(2**63)", "x.squeeze(2**63)",
    "lib.tensor([2**64])", "x.__setitem__(0, 2**64)", "x.long().add_(2**70)", "lib.manual_seed(2**64)"])
def test_numbers_of_more_than_64_bits_are_refused_as_by_pytorch(pytorch: Any, code: str) -> None:
    said = []
    for lib in (pytorch, torch):
        with pytest.raises((OverflowError, ValueError)) as caught:
            eval(code, {"lib": lib, "x": lib.tensor([[0.0, 1.0], [2.0, 0.0]])})
        said.append(type(caught.value))
    assert said[0] is said[1]


@pytest.mark.oracle
@pytest.mark.parametrize("code", [
    "lib.add(h, h, alpha=1e5)", "lib.sub(h, h, alpha=-1e5)", "lib.rsub(h, h, alpha=100000)", "h.clone().add_(h, alpha=1e5)",
    "lib.add(h, 2, alpha=1e5)", "lib.add(h, h.float(), alpha=1e5)", "lib.add(h, h, alpha=float('inf'))",
    "lib.add(h, h, alpha=65504.)",
    "lib.add(h.float(), h, alpha=1e39)", "lib.add(h.bfloat16(), h.bfloat16(), alpha=1e39)", "lib.add(h.double(), h, alpha=1e300)",
    "lib.add(h.char(), h.char(), alpha=300)", "lib.add(h.byte(), h.byte(), alpha=-1)", "lib.add(h.byte(), h.byte(), alpha=-300)",
    "lib.sub(h.int(), h.int(), alpha=2**31)", "lib.add(h.bool(), h.bool(), alpha=300)", "lib.sum(h, 0, 0)", "lib.sum(h, None, 0)",
    "lib.mean(h, 0, 0)", "lib.sum(h, 0, lib.tensor(True))", "lib.sum(h, axis=0, keepdims=True)", "lib.svd_lowrank(h.float())",
    "lib.svd_lowrank(h.float().sum())", "lib.svd_lowrank(lib.ones(3, 3, dtype=lib.long))",
    "lib.pca_lowrank(lib.ones(3, 3, dtype=lib.bool), center=False)",
])
def test_numbers_and_switches_that_do_not_fit_are_refused_as_by_pytorch(pytorch: Any, code: str) -> None:
    def run(lib: Any) -> Any:
        y = eval(code, {"lib": lib, "h": lib.tensor([1.0, 2.0], dtype=lib.half)})
        return str(y.dtype).rsplit(".", 1)[-1], y.tolist()

    assert outcome(run, torch) == outcome(run, pytorch)


@pytest.mark.oracle
@pytest.mark.parametrize("upper", [False, True])
def test_cholesky_ex_tells_how_far_it_came(pytorch: Any, upper: bool) -> None:
    matrices = [[[4.0, 2.0, 1.0], [2.0, 1.0, 5.0], [1.0, 5.0, 9.0]], [[-4.0, 2.0, 1.0], [2.0, 1.0, 5.0], [1.0, 5.0, 9.0]],
                [[2.0, 1.0, 0.0], [1.0, 2.0, 0.0], [0.0, 0.0, 3.0]], [[float("nan")] * 3] * 3]
    for data in (*matrices, matrices, [matrices[2]] * 2):
        found = []
        for lib in (pytorch, torch):
            a = lib.tensor(data, dtype=lib.float64, requires_grad=True)
            y, info = lib.linalg.cholesky_ex(a, upper=upper)
            found.append([y.detach().numpy(), info.numpy(), outcome(
                lambda lib=lib, a=a: lib.linalg.cholesky_ex(a, upper=upper, check_errors=True).info.numpy())])
            if not info.any():
                found[-1].append(lib.autograd.grad(y.sum(), a)[0].numpy())
        for want, got in zip(*found):
            if isinstance(want, tuple):
                assert want == got
            else:
                np.testing.assert_allclose(got, want, rtol=1e-12)
                assert got.dtype == want.dtype


REDUCTIONS: tuple[Callable[[Any, int], Any], ...] = (
    lambda t, dim: t.sum(dim), lambda t, dim: t.prod(dim), lambda t, dim: t.amax(dim), lambda t, dim: t.std(dim),
    lambda t, dim: t.var(dim), lambda t, dim: t.norm(dim=dim), lambda t, dim: t.norm(3, dim=dim),
    lambda t, dim: t.count_nonzero(dim), lambda t, dim: t.aminmax(dim=dim)[1], lambda t, dim: t.logsumexp(dim))


@pytest.mark.oracle
def test_reductions_of_permuted_tensors_and_flips_of_expanded_ones_are_laid_out_as_pytorchs(pytorch: Any) -> None:
    def strides(lib: Any) -> list[Any]:
        x, wide = lib.arange(48.0).reshape(2, 4, 6), lib.arange(24.0).reshape(4, 6).expand(2, 4, 6)
        return [f(x.permute(order), dim).stride() for order in itertools.permutations(range(3)) for dim in range(3)
                for f in REDUCTIONS] + [wide.flip(dim).stride() for dim in range(3)]

    assert strides(torch) == strides(pytorch)


INF, NAN = float("inf"), float("nan")
EDGES = [-INF, -3e38, -2.5, -2.0, -1.0, -0.5, -1e-40, -0.0, 0.0, 1e-40, 0.5, 1.0, 2.5, 3e38, INF, NAN] * 3
CLOSE = {"float16": 1e-3, "bfloat16": 8e-3, "float32": 2e-6, "float64": 1e-14}


@pytest.mark.oracle
@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5, -1, -2, -3, 0.5, -0.5, 1.5, -2.5, 101, 3.0, 2.0, INF, NAN])
@pytest.mark.parametrize("dtype", CLOSE)
def test_powers_of_every_kind_of_number(dtype: str, n: float, pytorch: Any) -> None:
    def powers(lib: Any) -> Any:
        x = lib.tensor(EDGES, dtype=getattr(lib, dtype), requires_grad=True)
        y = x**n
        y.backward(lib.ones_like(y))
        plain = x.detach()
        return [z.double().numpy() for z in (y.detach(), x.grad, lib.pow(plain, lib.full_like(plain, n)), plain.clone().pow_(n))]

    for ours, theirs in zip(powers(torch), powers(pytorch)):
        np.testing.assert_allclose(ours, theirs, rtol=CLOSE[dtype], atol=0)
        known = ~np.isnan(theirs)
        np.testing.assert_array_equal(np.signbit(ours[known]), np.signbit(theirs[known]))


WHERES: list[Any] = [
    1, -1, (1, 2), (0, -3), slice(1, 3), (slice(None), 1), (slice(1, None), slice(0, 2)), 7, (0, 9), (0, 0, 0), slice(2, 1),
    "i0", ("i0", 1), ("i1",), ("i1", "i1"), "mask", ("i1", slice(1, 3)), ("i1", 0), "far", ("i1", "far"), slice(None, None, 2)]
WRITTEN: list[Any] = [5, -1, 2.5, True, float("nan"), 2**40, 1e39, "0d", "row", "rows", "wrong", "double", "own"]


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "int8", "uint8", "bool", "float16"])
@pytest.mark.parametrize("where", WHERES, ids=str)
def test_assignments_that_nobody_records(where: Any, dtype: str, pytorch: Any) -> None:
    """Values, version and error; after an error nothing has changed."""

    def assigned(lib: Any, value: Any) -> Any:
        x = lib.arange(12).reshape(3, 4).to(getattr(lib, dtype))
        names = {
            "i0": lib.tensor(1), "i1": lib.tensor([0, 2]), "far": lib.tensor([0, 9]),
            "mask": lib.arange(12).reshape(3, 4) % 3 == 0,
            "0d": lib.tensor(1).to(x.dtype), "row": lib.ones(4).to(x.dtype), "rows": lib.ones(1, 3, 4).to(x.dtype),
            "wrong": lib.ones(5).to(x.dtype), "double": lib.ones(4).double(), "own": x[0, 1]}

        def named(item: Any) -> Any:
            return names[item] if isinstance(item, str) else item

        try:
            x[tuple(map(named, where)) if isinstance(where, tuple) else named(where)] = named(value)
        except Exception as error:
            if lib is torch:
                assert x.tolist() == lib.arange(12).reshape(3, 4).to(x.dtype).tolist() and x._version == 0
            return type(error).__name__
        return x.tolist(), x._version

    for value in WRITTEN:
        if "far" in str(where) and value in ("row", "rows", "wrong", "double", "own"):       # two errors
            continue
        ours, theirs = assigned(torch, value), assigned(pytorch, value)
        assert repr(ours) == repr(theirs), value


MIXED = [*itertools.product((0.0, INF, -2.0, NAN), repeat=3), (0.0,), (INF,), (-0.0, 0.0, 3.0, 4.0), (1e-200, 1e-200, 2.0)]


@pytest.mark.oracle
def test_products_of_zeros_infinities_and_nan_have_pytorchs_gradients(pytorch: Any) -> None:
    def found(lib: Any, values: Any, dim: Any, graph: bool) -> Any:
        x = lib.tensor([values, [1.5, 0.3, 2.5, 0.7][:len(values)]], dtype=lib.float64, requires_grad=True)
        y = x[0].prod() if dim is None else x.prod(dim)
        (g,) = lib.autograd.grad((y * 0.7).sum(), x, create_graph=graph)
        return [y.tolist(), [round(v, 9) for v in g.flatten().tolist()]]

    for values, dim, graph in itertools.product(MIXED, (None, 0, 1), (False, True)):
        np.testing.assert_equal(found(torch, values, dim, graph), found(pytorch, values, dim, graph), f"{values} {dim} {graph}")


@pytest.mark.oracle
def test_a_distance_that_counts_has_no_gradient_for_its_second_operand(pytorch: Any) -> None:
    def found(lib: Any, first: bool, second: bool) -> Any:
        a, b = lib.tensor([1.0, 2.0], requires_grad=first), lib.tensor([[1.0, 3.0]], requires_grad=second)
        try:
            lib.dist(a, b, 0).backward()
        except RuntimeError as e:
            return str(e).split("\n")[0], a.grad, b.grad
        return a.grad, b.grad

    for which in ((True, False), (False, True), (True, True)):
        assert found(torch, *which) == found(pytorch, *which)


@pytest.mark.oracle
def test_gradients_in_float16_of_what_is_divided_by_more_than_float16_holds(pytorch: Any) -> None:
    def found(lib: Any, f: Any) -> Any:
        x = lib.full((300, 300), 2.0, dtype=lib.float16, requires_grad=True)
        f(x).sum().backward()
        return x.grad[0, :2].tolist()

    for f in (lambda x: x.mean(), lambda x: x.mean((0, 1)), lambda x: x / 1e5, lambda x: x / 90000):
        assert found(torch, f) == found(pytorch, f)
        assert found(torch, f)[0] > 0


@pytest.mark.oracle
@pytest.mark.parametrize("rank", range(7))
@pytest.mark.parametrize("format", ["channels_last", "channels_last_3d"])
def test_memory_formats_refuse_tensors_of_other_ranks(format: str, rank: int, pytorch: Any) -> None:
    def found(lib: Any, call: str) -> Any:
        x, sizes, to = lib.ones((1,) * rank), (1,) * rank, {"memory_format": getattr(lib, format)}
        try:
            return list(eval(call, {"torch": lib, "x": x, "sizes": sizes, "to": to}).shape)
        except RuntimeError as e:
            return str(e)

    for call in ("x.contiguous(**to)", "x.to(**to)", "x.to(torch.float64, **to)", "x.double(**to)", "x.clone(**to)",
                 "torch.clone(x, **to)", "torch.empty(sizes, **to)", "torch.zeros_like(x, **to)", "torch.rand_like(x, **to)",
                 "torch.full_like(x, 2.0, **to)", "torch.randint_like(x, 2, **to)", "x.resize_(sizes, **to)",
                 "x.resize_as_(torch.ones(sizes), **to)"):
        assert found(torch, call) == found(pytorch, call), call


@pytest.mark.oracle
@pytest.mark.parametrize("edit", [
    "x[0].add_(x.data)", "x.data[0].mul_(x)", "x.sub_(x.unsafe_chunk(2)[0])", "x.unsafe_chunk(2)[0].sub_(x)",
    "x.data.add_(x.t())", "x.data[1].add_(x[0])", "x.data.add_(x)", "x.data[0].div_(x[0])"])
def test_memory_shared_through_data_is_not_edited_while_it_is_read(edit: str, pytorch: Any) -> None:
    def found(lib: Any) -> Any:
        x = lib.arange(1.0, 5).reshape(2, 2)
        try:
            eval(edit, {"x": x})
        except RuntimeError as e:
            return str(e).split(". ")[0], x.tolist()
        return x.tolist()

    assert found(torch) == found(pytorch)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_gradients_of_angles_in_half_precision_are_rounded_as_pytorchs(dtype: str, pytorch: Any) -> None:
    def found(lib: Any) -> Any:
        x = lib.tensor(np.random.default_rng(0).standard_normal((51, 7)).tolist()).to(getattr(lib, dtype)).requires_grad_()
        lib.atan2(x[1:], x[0]).sum().backward()
        return x.grad.float().tolist()

    assert found(torch) == found(pytorch)


@pytest.mark.parametrize("nans", [0, 3])
@pytest.mark.parametrize("dim", [0, 1])
def test_what_is_chosen_of_long_rows_is_what_a_stable_sort_puts_there(dim: int, nans: int) -> None:
    a = np.random.default_rng(3).integers(0, 20, (60, 50)).astype(np.float32)
    a.reshape(-1)[:nans] = np.nan
    x, up = torch.from_numpy(a), np.argsort(a, dim, kind="stable")
    down = np.argsort(np.where(np.isnan(a), -np.inf, -a), dim, kind="stable")
    for k in (1, 4, 11):
        for largest, order in ((True, down), (False, up)):
            values, indices = x.topk(k, dim, largest)
            want = order.take(range(k), dim)
            np.testing.assert_array_equal(indices.numpy(), want)
            np.testing.assert_array_equal(values.numpy(), np.take_along_axis(a, want, dim))
        np.testing.assert_array_equal(x.kthvalue(k, dim).values.numpy(), np.sort(a, dim).take(k - 1, dim))
    flat = np.sort(a.reshape(-1))
    assert x.nanmedian().item() == flat[(flat.size - nans - 1) // 2]
    assert np.isnan(x.median().item()) if nans else x.median().item() == flat[(flat.size - 1) // 2]


def test_a_loss_of_several_labels_among_many_classes() -> None:
    r = np.random.default_rng(4)
    a, t = r.standard_normal((6, 300)), np.full((6, 300), -1, np.int64)
    for row in range(6):
        t[row, :200 * (row % 2) + row] = r.choice(300, 200 * (row % 2) + row, replace=False)
    want, slope = np.zeros(6), np.zeros(a.shape)
    for row in range(6):
        targets = [c for c in t[row] if c >= 0]
        for c in targets:
            others = [j for j in range(300) if j not in set(targets) and 1 - a[row, c] + a[row, j] > 0]
            want[row] += sum(1 - a[row, c] + a[row, j] for j in others) / 300
            slope[row, others] += 1 / 300
            slope[row, c] -= len(others) / 300
    x = torch.from_numpy(a).requires_grad_()
    y = torch.nn.functional.multilabel_margin_loss(x, torch.from_numpy(t), reduction="none")
    y.sum().backward()
    np.testing.assert_allclose(y.detach().numpy(), want)
    np.testing.assert_allclose(x.grad.numpy(), slope)


def test_angles_of_denormal_numbers_are_those_of_normal_ones() -> None:
    a, b = np.random.default_rng(5).standard_normal((2, 100)).astype(np.float32)
    tiny = np.ldexp(np.rint(np.ldexp(np.stack([a, b]), 8)), -140).astype(np.float32)
    got = torch.atan2(*map(torch.from_numpy, tiny)).numpy()
    np.testing.assert_allclose(got, np.arctan2(*np.rint(np.ldexp(np.stack([a, b]).astype(np.float64), 8))), rtol=1e-6)


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("align_corners", [False, True])
def test_an_image_read_at_its_own_pixels_has_the_gradient_of_pytorchs_side(pytorch: Any, dtype: str, align_corners: bool) -> None:
    """At a pixel's centre the derivative of bilinear reading jumps: rounding says which side's it is."""
    for n in (2, 7, 11, 19, 28, 29, 31, 32, 64):
        found: list[Any] = []
        for lib in (pytorch, torch):
            theta = lib.tensor([[[1.0, 0, 0], [0, 1, 0]]], dtype=getattr(lib, dtype))
            places = lib.nn.functional.affine_grid(theta, (1, 1, n, n), align_corners=align_corners)
            read = lib.from_numpy((found or [places.numpy()])[0].copy()).requires_grad_()
            image = lib.arange(n * n, dtype=getattr(lib, dtype)).view(1, 1, n, n).sin()
            lib.nn.functional.grid_sample(image, read, align_corners=align_corners).square().sum().backward()
            found += [places.numpy(), read.grad.numpy()]
        assert np.array_equal(found[0], found[2]) if dtype == "float32" else np.allclose(found[0], found[2], atol=1e-15)
        np.testing.assert_allclose(found[1], found[3], rtol=1e-4, atol=1e-5 * n, err_msg=str(n))


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_whole_powers_of_half_precision_are_pytorchs_to_the_bit(dtype: str) -> None:
    theirs = pytest.importorskip("torch")
    numbers = np.random.default_rng(5).uniform(-4, 4, 5000).astype(np.float32)
    a, b = (lib.from_numpy(numbers).to(getattr(lib, dtype)) for lib in (theirs, torch))
    for n in (-3, -2, -1, 0, 1, 2, 3):
        assert str((b**n).dtype) == f"torch.{dtype}"
        np.testing.assert_array_equal((b**n).float().numpy(), (a**n).float().numpy(), str(n))
