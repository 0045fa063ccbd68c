"""Where retrograd.fx.passes.utils.matcher_utils is written.

Written by `make generate`.
"""
from retrograd._packages.fx.passes.utils.matcher_utils import (
    InternalMatch as InternalMatch,
    SubgraphMatcher as SubgraphMatcher,
    _would_be_circle as _would_be_circle,
)
