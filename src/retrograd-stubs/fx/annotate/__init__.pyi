"""Where retrograd.fx.annotate is written.

Written by `make generate`.
"""
from retrograd._small_modules.fx.annotate import (
    annotate as annotate,
)
