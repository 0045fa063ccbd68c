"""Where retrograd.distributions._gaussian is written.

Written by `make generate`.
"""
from retrograd._packages.distributions._gaussian import (
    capacitance as capacitance,
    log_diagonal as log_diagonal,
    lower_of_precision as lower_of_precision,
    lowrank_logdet as lowrank_logdet,
    lowrank_mahalanobis as lowrank_mahalanobis,
    mahalanobis as mahalanobis,
    times as times,
    trace_square as trace_square,
)
