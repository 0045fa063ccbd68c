"""Where retrograd.multiprocessing.reductions is written.

Written by `make generate`.
"""
from retrograd._packages.multiprocessing.reductions import (
    LARGE as LARGE,
    init_reductions as init_reductions,
    rebuild_shared as rebuild_shared,
    reduce_tensor as reduce_tensor,
)
