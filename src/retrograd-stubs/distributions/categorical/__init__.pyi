"""Where retrograd.distributions.categorical is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.categorical import (
    Categorical as Categorical,
)
