"""Where retrograd.distributions.kl is written.

Written by `make generate`.
"""
from retrograd._packages.distributions.kl import (
    F as F,
    INF as INF,
    Pair as Pair,
    _ as _,
    _KL_MEMOIZE as _KL_MEMOIZE,
    _KL_REGISTRY as _KL_REGISTRY,
    distance as distance,
    found as found,
    gaussians as gaussians,
    half_logdet as half_logdet,
    kl_divergence as kl_divergence,
    lowrank_solved as lowrank_solved,
    nearer as nearer,
    normals as normals,
    register_kl as register_kl,
    roots as roots,
    solved as solved,
    vectors as vectors,
)
