"""Where retrograd.distributions.beta is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.beta import (
    Beta as Beta,
)
