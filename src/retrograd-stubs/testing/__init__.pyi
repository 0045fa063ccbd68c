"""Where retrograd.testing is written.

Written by `make generate`.
"""
from retrograd._packages.testing import (
    Comparison as Comparison,
    Mismatch as Mismatch,
    NUMBERS as NUMBERS,
    TOLERANCES as TOLERANCES,
    assert_allclose as assert_allclose,
    assert_close as assert_close,
    make_tensor as make_tensor,
    named as named,
    size as size,
    told as told,
)
