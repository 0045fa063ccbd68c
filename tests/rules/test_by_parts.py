"""Functions of many complex numbers, made of those of their parts: beside libm's in the next wider precision, and PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd._rules import by_parts

UFUNCS = [*by_parts.FORMULAS, *by_parts.SINGLE]
EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, 1e-38, -1e-40, 88.0, -89.0, 3e38, np.inf, -np.inf, np.nan]


def drawn(kind: str) -> Any:
    rng = np.random.default_rng(0)
    a, b = rng.standard_normal((2, 2000))
    far = 10.0 ** rng.uniform(-30, 30, (2, 2000))
    return {
        "normal": a + 1j * b, "large": 30 * a + 30j * b, "wide": a * far[0] + 1j * b * far[1],
        "circle": np.exp(7j * a), "near i pi / 2": 1e-4 * a + 1j * (np.pi / 2 + 1e-4 * b),
        "near pi / 2": np.pi / 2 + 1e-4 * a + 1e-4j * b, "axes": np.where(a > b, a, 1j * b),
    }[kind]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("kind", ["normal", "large", "wide", "circle", "near i pi / 2", "near pi / 2", "axes"])
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_a_formula_is_right_to_a_few_roundings(ufunc: Any, kind: str, dtype: str) -> None:
    x = drawn(kind).astype(dtype)
    with np.errstate(all="ignore"):
        got, exact = by_parts.of(ufunc, x), ufunc(x.astype("complex128" if dtype == "complex64" else "clongdouble"))
        np.testing.assert_array_equal(np.isfinite(got), np.isfinite(ufunc(x)))
        fine = np.isfinite(got) & np.isfinite(exact)
        error = np.abs(got - exact)[fine] / np.maximum(np.abs(exact), np.finfo(dtype).tiny)[fine]
        turns = np.abs(x.imag)[fine] if ufunc is np.exp2 else 0         # its angle, imag times log 2, is rounded
    assert got.dtype == dtype
    assert (error < 8 * np.finfo(dtype).eps * (1 + turns)).all()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("ufunc", UFUNCS, ids=lambda u: u.__name__)
def test_limits_are_libms_to_the_sign_of_zero(ufunc: Any, dtype: str) -> None:
    x = np.empty((len(EDGES), len(EDGES), 2), dtype)
    x.real, x.imag = np.array(EDGES)[:, None, None], np.array(EDGES)[:, None]
    with np.errstate(all="ignore"):
        got, wanted = by_parts.of(ufunc, x), ufunc(x)
    for a, b in (got.real, wanted.real), (got.imag, wanted.imag):
        np.testing.assert_allclose(a, b, 1e-5 if dtype == "complex64" else 1e-13, np.finfo(dtype).smallest_subnormal)
        np.testing.assert_array_equal(np.signbit(a[~np.isnan(a)]), np.signbit(b[~np.isnan(b)]))


def test_memory_in_any_order_and_few_numbers_are_taken() -> None:
    x = drawn("normal").reshape(40, 50).T[::2]
    np.testing.assert_allclose(by_parts.of(np.sin, x), np.sin(x), 1e-13)
    np.testing.assert_array_equal(by_parts.of(np.sin, x[0]), np.sin(x[0]))
    assert by_parts.of(np.exp, np.array(1j)) == np.exp(1j)


@pytest.mark.oracle
@pytest.mark.parametrize("call", [
    "x.exp() | x.exp2() | x.log() | x.log2() | x.log10() | x.sqrt() | x.rsqrt() | x.sigmoid() | torch.logaddexp(x, y)",
    "x.sin() | x.cos() | x.tan() | x.sinh() | x.cosh() | x.tanh() | x.sinc() | x.logsumexp(0)",
    "torch.nn.functional.silu(x.detach())",
    "x ** 2.5 | x ** 1j | 2.5 ** x | x ** y | x ** 0 | x ** 0.5 | x ** -0.5 | x ** y[:1] | 0 ** x | (x * 0) ** y",
    "x ** (y * 0) | x ** 3 | x ** -3 | x.pow(y.real)",
    "x.sum() | x.mean() | x.T.sum() | x.sum((0, 1), keepdim=True) | x.cumsum(0) | x.cumsum(1) | x.T.cumsum(0) | x.mean(1)",
    "torch.vdot(x[0], y[0]) | torch.vdot(x[0].conj(), y[:, 0][:x.shape[1]]) | torch.lerp(x, y, 0.3) | torch.lerp(x, y, x * y)",
    "x == x[0, 0] | x != x[0, 0].item() | x == 1 | torch.where(x.real > 0, x, y) | x.clone().eq_(x[0, 0]) | x.sum(1)",
])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(90, 47), (300, 5), (3, 3)], ids=str)
def test_values_and_gradients_of_many_numbers_are_pytorchs(call: str, dtype: str, sizes: Any) -> None:
    import torch as theirs

    import retrograd

    a, b = (np.random.default_rng(i).standard_normal((*sizes, 2)) @ [1, 1j] for i in range(2))
    a[0, 0] = 0.5 + 0.5j
    tolerance = 1e-4 if dtype == "complex64" else 1e-11
    for source in call.split(" | "):
        found = []
        for torch in (retrograd, theirs):
            x, y = (torch.tensor(v.astype(dtype), requires_grad=True) for v in (a, b))
            out = eval(source, {"torch": torch, "x": x, "y": y})
            if out.requires_grad:
                (out.real + 2 * out.imag).sum().backward()
            found.append([None if t is None else t.detach().resolve_conj().numpy() for t in (out, x.grad, y.grad)])
        for ours, pytorchs in zip(*found):
            assert (ours is None) == (pytorchs is None), source
            if ours is not None:
                assert ours.dtype == pytorchs.dtype, source
                size = max(1.0, np.abs(pytorchs[np.isfinite(pytorchs)]).max(initial=0))
                np.testing.assert_allclose(ours, pytorchs, tolerance, tolerance * size, err_msg=source)
