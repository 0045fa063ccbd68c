"""Where retrograd._functorch.vmap is written.

Written by `make generate`.
"""
from retrograd._packages._functorch.vmap import (
    _add_batch_dim as _add_batch_dim,
    _maybe_remove_batch_dim as _maybe_remove_batch_dim,
    _remove_batch_dim as _remove_batch_dim,
    is_batchedtensor as is_batchedtensor,
    tree_flatten as tree_flatten,
    tree_unflatten as tree_unflatten,
    vmap as vmap,
)
