"""Where retrograd.testing is written.

Written by `make generate`.
"""
from retrograd._small_modules.testing import (
    Comparison as Comparison,
    Mismatch as Mismatch,
    TOLERANCES as TOLERANCES,
    assert_close as assert_close,
    named as named,
    size as size,
    told as told,
)
