"""Where retrograd.distributions.cauchy is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.cauchy import (
    Cauchy as Cauchy,
)
