"""Where retrograd.distributions.negative_binomial is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.negative_binomial import (
    NegativeBinomial as NegativeBinomial,
)
