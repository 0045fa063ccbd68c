"""What tests of kernels share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from retrograd import _kernels

F4, F8 = np.dtype("f4"), np.dtype("f8")
native = pytest.mark.skipif(_kernels.nn is None, reason="the pure build has no kernels")


def close(got: Any, want: Any, dtype: Any, ulps: float) -> None:
    """To `ulps` of the largest magnitude; NaN and infinities in the same places."""
    assert got.dtype == dtype and got.shape == want.shape
    finite = np.isfinite(want)
    top = np.abs(want[finite]).max(initial=0.0)
    np.testing.assert_array_equal(np.isnan(got), np.isnan(want))
    np.testing.assert_allclose(
        got[finite].astype("f8"), want[finite], rtol=0, atol=ulps * np.finfo(dtype).eps * max(float(top), 1e-30))


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))
