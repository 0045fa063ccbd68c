"""Where retrograd._library.naming is written.

Written by `make generate`.
"""
from retrograd._packages._library.naming import (
    WORD as WORD,
    plain as plain,
)
