"""Where retrograd.distributions.distribution is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.distribution import (
    Distribution as Distribution,
)
