"""Where retrograd.distributions.transformed_distribution is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.transformed_distribution import (
    TransformedDistribution as TransformedDistribution,
)
