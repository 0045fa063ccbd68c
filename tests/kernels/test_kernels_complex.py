"""Products and quotients of complex numbers: PyTorch's to the bit, its infinities and NaN included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_tools import native

import retrograd
from retrograd import _kernels

CALLS = "x * y | x / y | x * (2 - 3j) | x / (2 - 3j) | x / 3 | 3 / x | x.square() | x ** 2 | x ** -1 | x.reciprocal()"
EACH = ("x.cumsum(1) | x.cumprod(1) | x.logcumsumexp(1) | torch.logaddexp(a, b) | torch.lerp(a, b, c) | "
        "torch.addcmul(a, b, c, value=2) | torch.addcmul(a, b, c, value=1 - 2j)")
EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, 1e-38, -1e-40, 3e38, np.inf, -np.inf, np.nan]


def drawn(dtype: str) -> Any:
    rng = np.random.default_rng(0)
    a, b, sizes = rng.standard_normal(4096), rng.standard_normal(4096), 10.0 ** rng.uniform(-15, 15, 4096)
    return ((a + 1j * b) * sizes).astype(dtype)


def edges(dtype: str, parts: list[float] = EDGES) -> Any:
    x = np.empty((len(parts), len(parts)), dtype)
    x.real, x.imag = np.array(parts)[:, None], np.array(parts)
    return x.ravel()


def bits(x: Any) -> Any:
    """The parts, to the sign of zero; every NaN is one."""
    parts = x.numpy().view(np.float32 if x.dtype.itemsize == 8 else np.float64)
    return np.where(np.isnan(parts), np.array(np.nan, parts.dtype), parts).view(f"i{parts.itemsize}")


@native
@pytest.mark.oracle
@pytest.mark.parametrize("call", CALLS.split(" | "))
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_they_are_pytorchs_to_the_bit(call: str, dtype: str) -> None:
    import torch

    few = edges(dtype)
    for x, y in (drawn(dtype), drawn(dtype)[::-1]), (np.repeat(few, few.size), np.tile(few, few.size)):
        ours, theirs = (eval(call, {"x": lib.from_numpy(x.copy()), "y": lib.from_numpy(y.copy())}) for lib in (retrograd, torch))
        np.testing.assert_array_equal(bits(ours), bits(theirs))


@native
@pytest.mark.oracle
@pytest.mark.parametrize("call", EACH.split(" | "))
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_infinities_and_nan_are_pytorchs(call: str, dtype: str) -> None:
    import torch

    left_out = {-1e-40} | ({3e38} if dtype == "complex128" else set())    # what cancels depends on whether loops fuse
    few = edges(dtype, [part for part in EDGES if part not in left_out])
    pairs = np.stack([np.repeat(few, few.size), np.tile(few, few.size)], 1)
    for x in (pairs, pairs[~np.isposinf(pairs.real).any(1)]):
        x = x[:len(x) // 16 * 16]               # whole vectors: PyTorch's loop over the rest rounds otherwise
        parts = []
        for lib in (retrograd, torch):
            a, b, c = (lib.from_numpy(one.copy()) for one in (x[:, 0], x[:, 1], x[::-1, 0]))
            parts.append(eval(call, {"x": lib.from_numpy(x.copy()), "a": a, "b": b, "c": c, "torch": lib}).numpy())
        np.testing.assert_allclose(parts[0].real, parts[1].real, 1e-4, 1e-6)
        np.testing.assert_allclose(parts[0].imag, parts[1].imag, 1e-4, 1e-6)


@native
@pytest.mark.oracle
@pytest.mark.parametrize("shape", [(1, 700), (700, 1), (3, 5, 4), (9, 40), (40, 300), (0, 3), (3, 0)])
@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_running_results_along_each_dim(shape: tuple[int, ...], dtype: str) -> None:
    import torch

    rng = np.random.default_rng(0)
    x = np.exp(1j * rng.uniform(-3, 3, shape) + rng.uniform(-0.1, 0.1, shape)).astype(dtype)
    for name in ("cumsum", "cumprod", "logcumsumexp"):
        for dim in range(len(shape)):
            a, b = (getattr(lib, name)(lib.from_numpy(x.copy()), dim).numpy() for lib in (retrograd, torch))
            np.testing.assert_allclose(a, b, 1e-3 if dtype == "complex64" else 1e-11, 1e-5 if dtype == "complex64" else 1e-13)


@native
@pytest.mark.parametrize("name", ["complex_times", "complex_over"])
def test_what_is_not_theirs_they_leave_alone(name: str) -> None:
    kernel, x = _kernels.kernel(name), drawn("complex64")
    others = [
        (x, x.astype("complex128")), (x, x[:5]), (x, x.real), (x.real, x.real), (x[::2], x[::2]), (x, 2), (x, None), (2j, 3j),
        (x, np.complex128(1)), (x.astype("complex128"), np.complex64(1)), (x, np.array(1 + 1j)), (x.astype(">c8"), x)]
    for a, b in others:
        assert kernel(a, b) is None
    for a, b in (x, 2j), (2.0, x), (np.complex64(1), x), (x, np.array(1j, "complex64")), (x[:0], x[:0]), (x[0].reshape(()), x):
        y = kernel(a, b)
        np.testing.assert_allclose(y, a * b if name == "complex_times" else a / b, 1e-6)
        assert y.dtype == np.complex64
