"""Where retrograd.distributions.generalized_pareto is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.generalized_pareto import (
    GeneralizedPareto as GeneralizedPareto,
)
