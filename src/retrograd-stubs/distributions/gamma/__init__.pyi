"""Where retrograd.distributions.gamma is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.gamma import (
    Gamma as Gamma,
)
