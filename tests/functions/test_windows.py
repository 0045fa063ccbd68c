"""torch.hann_window and its like: to PyTorch's numbers, in 16 bits to the last bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import retrograd

NAMES = ("bartlett", "blackman", "hamming", "hann", "kaiser")


def drawn(torch: Any, name: str, length: int, periodic: bool, dtype: str) -> Any:
    y = getattr(torch, f"{name}_window")(length, periodic, dtype=getattr(torch, dtype))
    assert str(y.dtype).endswith(dtype)
    return y.double().numpy()


@pytest.mark.oracle
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("name", NAMES)
def test_windows_are_pytorchs(name: str, dtype: str) -> None:
    theirs = pytest.importorskip("torch")
    for length in (0, 1, 2, 3, 5, 12, 33, 400):
        for periodic in (True, False):
            got, want = (drawn(torch, name, length, periodic, dtype) for torch in (retrograd, theirs))
            exact = dtype in ("float16", "bfloat16") and name != "kaiser"
            np.testing.assert_allclose(got, want, 0, 0 if exact else {"float64": 1e-14, "float32": 1e-6}.get(dtype, 1e-2))
