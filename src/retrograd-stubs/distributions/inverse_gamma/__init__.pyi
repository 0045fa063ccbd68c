"""Where retrograd.distributions.inverse_gamma is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.inverse_gamma import (
    InverseGamma as InverseGamma,
)
