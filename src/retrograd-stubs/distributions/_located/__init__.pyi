"""Where retrograd.distributions._located is written.

Written by `make generate`.
"""
from retrograd._packages.distributions._located import (
    LocScale as LocScale,
    Located as Located,
)
