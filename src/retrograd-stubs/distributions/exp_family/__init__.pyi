"""Where retrograd.distributions.exp_family is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.exp_family import (
    ExponentialFamily as ExponentialFamily,
)
