"""Where retrograd._C._special is written.

Written by `make generate`.
"""
from retrograd._small_modules._C._special import (
    _of as _of,
)
