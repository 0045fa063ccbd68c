"""Where retrograd.distributions.half_normal is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.half_normal import (
    HalfNormal as HalfNormal,
)
