"""Where retrograd.distributions.chi2 is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.chi2 import (
    Chi2 as Chi2,
)
