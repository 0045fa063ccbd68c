"""Where retrograd._functorch.deprecated is written.

Written by `make generate`.
"""
from retrograd._packages._functorch.deprecated import (
    _modules as _modules,
    deprecated as deprecated,
)
