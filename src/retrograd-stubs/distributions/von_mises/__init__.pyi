"""Where retrograd.distributions.von_mises is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.von_mises import (
    VonMises as VonMises,
)
