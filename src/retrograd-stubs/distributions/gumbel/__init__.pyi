"""Where retrograd.distributions.gumbel is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.gumbel import (
    Gumbel as Gumbel,
)
