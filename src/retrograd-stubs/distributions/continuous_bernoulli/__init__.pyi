"""Where retrograd.distributions.continuous_bernoulli is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.continuous_bernoulli import (
    ContinuousBernoulli as ContinuousBernoulli,
)
