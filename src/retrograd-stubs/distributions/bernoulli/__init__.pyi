"""Where retrograd.distributions.bernoulli is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.bernoulli import (
    Bernoulli as Bernoulli,
)
