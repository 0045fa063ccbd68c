"""Where retrograd.distributions.geometric is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.geometric import (
    Geometric as Geometric,
)
