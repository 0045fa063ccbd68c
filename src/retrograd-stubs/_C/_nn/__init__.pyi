"""Where retrograd._C._nn is written.

Written by `make generate`.
"""
from retrograd._packages._C._nn import (
    NAMES as NAMES,
    _of as _of,
    _parse_to as _parse_to,
)
