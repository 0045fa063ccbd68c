"""Where retrograd.distributions.one_hot_categorical is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.one_hot_categorical import (
    OneHotCategorical as OneHotCategorical,
    OneHotCategoricalStraightThrough as OneHotCategoricalStraightThrough,
)
