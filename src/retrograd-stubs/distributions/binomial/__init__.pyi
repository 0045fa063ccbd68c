"""Where retrograd.distributions.binomial is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.binomial import (
    Binomial as Binomial,
)
