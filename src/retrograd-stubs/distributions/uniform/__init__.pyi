"""Where retrograd.distributions.uniform is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.uniform import (
    Uniform as Uniform,
)
