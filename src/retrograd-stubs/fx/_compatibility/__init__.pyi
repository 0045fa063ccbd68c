"""Where retrograd.fx._compatibility is written.

Written by `make generate`.
"""
from retrograd._packages.fx._compatibility import (
    _BACK_COMPAT_OBJECTS as _BACK_COMPAT_OBJECTS,
    _MARKED_WITH_COMPATIBILITY as _MARKED_WITH_COMPATIBILITY,
    compatibility as compatibility,
)
