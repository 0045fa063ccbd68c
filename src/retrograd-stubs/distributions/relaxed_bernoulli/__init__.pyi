"""Where retrograd.distributions.relaxed_bernoulli is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.relaxed_bernoulli import (
    LogitRelaxedBernoulli as LogitRelaxedBernoulli,
    RelaxedBernoulli as RelaxedBernoulli,
)
