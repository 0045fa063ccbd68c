"""Where retrograd._C._linalg is written.

Written by `make generate`.
"""
from retrograd._packages._C._linalg import (
    _of as _of,
)
