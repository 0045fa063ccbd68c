"""Where retrograd._C._special is written.

Written by `make generate`.
"""
from retrograd._packages._C._special import (
    _of as _of,
)
