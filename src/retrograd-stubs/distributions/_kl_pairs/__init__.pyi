"""Where retrograd.distributions._kl_pairs is written.

Written by `make generate`.
"""
from retrograd._packages.distributions._kl_pairs import (
    OUTSIDE as OUTSIDE,
    _ as _,
    infinite as infinite,
    into_continuous_bernoulli as into_continuous_bernoulli,
    mean_log as mean_log,
    square as square,
    to_continuous_bernoulli as to_continuous_bernoulli,
    to_exponential as to_exponential,
    to_gamma as to_gamma,
    to_gumbel as to_gumbel,
    to_normal as to_normal,
)
