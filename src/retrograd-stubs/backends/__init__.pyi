"""Where retrograd.backends is written.

Written by `make generate`.
"""
from retrograd._packages.backends import (
    Backend as Backend,
    absent as absent,
    allow as allow,
    allowed as allowed,
    cpu as cpu,
    cuda as cuda,
    cudnn as cudnn,
    cudnn_flags as cudnn_flags,
    held as held,
    mha as mha,
    mkl as mkl,
    mkldnn as mkldnn,
    mkldnn_flags as mkldnn_flags,
    mps as mps,
    no_version as no_version,
    openmp as openmp,
    opt_einsum as opt_einsum,
    present as present,
)
