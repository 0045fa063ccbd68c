"""Where retrograd.func._batching.indices is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.indices import (
    MASK as MASK,
    MASKED as MASKED,
    RULES as RULES,
    _chosen as _chosen,
    along as along,
    getitem as getitem,
    index_add as index_add,
    index_select as index_select,
    masked_select as masked_select,
    one_hot as one_hot,
    setitem as setitem,
    slice_scatter as slice_scatter,
)
