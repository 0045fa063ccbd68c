"""Where retrograd.backends is written.

Written by `make generate`.
"""
from retrograd._small_modules.backends import (
    Backend as Backend,
    absent as absent,
    allow as allow,
    allowed as allowed,
    cpu as cpu,
    cuda as cuda,
    cudnn as cudnn,
    flags as flags,
    mha as mha,
    mkl as mkl,
    mkldnn as mkldnn,
    mps as mps,
    no_version as no_version,
    openmp as openmp,
    opt_einsum as opt_einsum,
    present as present,
)
