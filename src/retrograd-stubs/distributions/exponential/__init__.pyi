"""Where retrograd.distributions.exponential is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.exponential import (
    Exponential as Exponential,
)
