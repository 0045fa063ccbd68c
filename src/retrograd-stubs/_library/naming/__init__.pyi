"""Where retrograd._library.naming is written.

Written by `make generate`.
"""
from retrograd._small_modules._library.naming import (
    WORD as WORD,
    plain as plain,
)
