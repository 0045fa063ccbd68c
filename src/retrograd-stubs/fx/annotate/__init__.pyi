"""Where retrograd.fx.annotate is written.

Written by `make generate`.
"""
from retrograd._packages.fx.annotate import (
    annotate as annotate,
)
