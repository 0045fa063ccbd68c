"""Where retrograd.multiprocessing.reductions is written.

Written by `make generate`.
"""
from retrograd._small_modules.multiprocessing.reductions import (
    LARGE as LARGE,
    init_reductions as init_reductions,
    rebuild_shared as rebuild_shared,
    reduce_tensor as reduce_tensor,
)
