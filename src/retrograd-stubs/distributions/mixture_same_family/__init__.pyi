"""Where retrograd.distributions.mixture_same_family is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.mixture_same_family import (
    MixtureSameFamily as MixtureSameFamily,
)
