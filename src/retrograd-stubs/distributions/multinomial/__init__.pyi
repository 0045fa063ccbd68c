"""Where retrograd.distributions.multinomial is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.multinomial import (
    Multinomial as Multinomial,
)
