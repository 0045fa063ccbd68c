"""Where retrograd.distributions.logistic_normal is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.logistic_normal import (
    LogisticNormal as LogisticNormal,
)
