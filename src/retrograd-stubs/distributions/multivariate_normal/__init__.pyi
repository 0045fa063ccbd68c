"""Where retrograd.distributions.multivariate_normal is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.multivariate_normal import (
    MultivariateNormal as MultivariateNormal,
    _batch_mahalanobis as _batch_mahalanobis,
    _batch_mv as _batch_mv,
    _precision_to_scale_tril as _precision_to_scale_tril,
)
