"""Where retrograd.distributions.wishart is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.wishart import (
    LOG_2 as LOG_2,
    TRIES as TRIES,
    Wishart as Wishart,
)
