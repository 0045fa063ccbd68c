"""Where retrograd.distributions.lowrank_multivariate_normal is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal as LowRankMultivariateNormal,
    _batch_capacitance_tril as _batch_capacitance_tril,
    _batch_lowrank_logdet as _batch_lowrank_logdet,
    _batch_lowrank_mahalanobis as _batch_lowrank_mahalanobis,
)
