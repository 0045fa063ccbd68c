"""Where retrograd.distributions.weibull is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.weibull import (
    Weibull as Weibull,
)
