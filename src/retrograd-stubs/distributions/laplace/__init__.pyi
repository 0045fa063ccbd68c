"""Where retrograd.distributions.laplace is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.laplace import (
    Laplace as Laplace,
)
