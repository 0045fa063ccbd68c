"""Where retrograd.func._batching is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching import (
    RULES as RULES,
)
