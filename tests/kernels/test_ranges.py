"""arange, linspace and logspace, in every floating dtype, to PyTorch's last bit."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import retrograd
from retrograd import _kernels
from retrograd._kernels import ranges

SIZES = (1, 2, 7, 16, 31, 33, 100, 1000, 4097)
MADE: dict[str, Callable[[Any, int, Any], Any]] = {
    "arange": lambda torch, n, dtype: torch.arange(-1.7, 3, 4.7 / n, dtype=dtype),
    "arange down": lambda torch, n, dtype: torch.arange(n * 0.3, 0.1, -0.3, dtype=dtype),
    "linspace": lambda torch, n, dtype: torch.linspace(-3.3, 7.1, n, dtype=dtype),
    "linspace down": lambda torch, n, dtype: torch.linspace(1, 0, n, dtype=dtype),
    "logspace": lambda torch, n, dtype: torch.logspace(-1, 2, n, dtype=dtype),
    "logspace of twos": lambda torch, n, dtype: torch.logspace(0, 3, n, base=2.0, dtype=dtype),
}


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize("name", MADE)
def test_steps_are_pytorchs(name: str, dtype: str) -> None:
    """Without kernels the last bit of a double may be another."""
    real = pytest.importorskip("torch")
    exact = _kernels.nn is not None or dtype != "float64"
    fused = real.backends.cpu.get_cpu_capability() in ("AVX2", "AVX512")
    for n in SIZES:
        want, got = (MADE[name](torch, n, getattr(torch, dtype)).double().numpy() for torch in (real, retrograd))
        if exact and fused:
            np.testing.assert_array_equal(got, want, f"{n}")
        else:
            np.testing.assert_allclose(got, want, rtol=1e-13 if dtype == "float64" else 1e-2, atol=1e-13, err_msg=f"{n}")


@pytest.mark.skipif(_kernels.nn is None, reason="no kernels in this build")
@pytest.mark.parametrize("n", [0, 1, 15, 16, 17, 500])
def test_kernels_step_as_python_does(monkeypatch: pytest.MonkeyPatch, n: int) -> None:
    def made() -> list[Any]:
        return [made for dtype in (np.dtype("f4"), np.dtype("f8")) for made in (
            ranges.arange(n, 0.3, 0.1, dtype), ranges.linspace(-3.3, 7.1, n, dtype), ranges.powers(3.0, np.arange(n) / 500))]

    fast = made()
    for name in ("quick_arange", "quick_linspace", "quick_powers"):
        monkeypatch.setattr(ranges, name, _kernels.absent)
    for quick, slow in zip(fast, made()):
        assert quick.dtype == slow.dtype
        np.testing.assert_allclose(quick, slow, rtol=1e-14 if quick.dtype == np.float64 else 1e-6, atol=1e-15)
