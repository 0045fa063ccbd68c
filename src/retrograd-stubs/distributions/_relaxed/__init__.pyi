"""Where retrograd.distributions._relaxed is written.

Written by `make generate`.
"""
from retrograd._packages.distributions._relaxed import (
    Relaxed as Relaxed,
)
