"""Where retrograd.func._trees is written.

Written by `make generate`.
"""
from retrograd._packages.func._trees import (
    _Star as _Star,
    spread as spread,
    stars as stars,
)
