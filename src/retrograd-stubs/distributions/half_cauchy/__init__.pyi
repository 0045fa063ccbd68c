"""Where retrograd.distributions.half_cauchy is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.half_cauchy import (
    HalfCauchy as HalfCauchy,
)
