"""Where retrograd.distributions.log_normal is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.log_normal import (
    LogNormal as LogNormal,
)
