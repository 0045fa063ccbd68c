"""Where retrograd.distributions.poisson is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.poisson import (
    Poisson as Poisson,
)
