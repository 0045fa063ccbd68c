"""Where retrograd.distributions.pareto is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.pareto import (
    Pareto as Pareto,
)
