"""Products and quotients of complex numbers: PyTorch's to the bit, its infinities and NaN included."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from kernel_tools import native

import retrograd
from retrograd import _kernels

CALLS = "x * y | x / y | x * (2 - 3j) | x / (2 - 3j) | x / 3 | 3 / x | x.square() | x ** 2 | x ** -1 | x.reciprocal()"
EDGES = [0.0, -0.0, 1.0, -1.0, 1.5, 1e-38, -1e-40, 3e38, np.inf, -np.inf, np.nan]


def drawn(dtype: str) -> Any:
    rng = np.random.default_rng(0)
    a, b, sizes = rng.standard_normal(4096), rng.standard_normal(4096), 10.0 ** rng.uniform(-15, 15, 4096)
    return ((a + 1j * b) * sizes).astype(dtype)


def edges(dtype: str) -> Any:
    x = np.empty((len(EDGES), len(EDGES)), dtype)
    x.real, x.imag = np.array(EDGES)[:, None], np.array(EDGES)
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
