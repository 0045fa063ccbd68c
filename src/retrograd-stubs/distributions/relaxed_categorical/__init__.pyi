"""Where retrograd.distributions.relaxed_categorical is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.relaxed_categorical import (
    ExpRelaxedCategorical as ExpRelaxedCategorical,
    RelaxedOneHotCategorical as RelaxedOneHotCategorical,
)
