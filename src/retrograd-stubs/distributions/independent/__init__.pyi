"""Where retrograd.distributions.independent is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.independent import (
    Independent as Independent,
)
