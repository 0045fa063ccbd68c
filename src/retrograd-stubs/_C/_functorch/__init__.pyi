"""Where retrograd._C._functorch is written.

Written by `make generate`.
"""
from retrograd._packages._C._functorch import (
    _add_batch_dim as _add_batch_dim,
    _at as _at,
    _remove_batch_dim as _remove_batch_dim,
    get_unwrapped as get_unwrapped,
    is_batchedtensor as is_batchedtensor,
    maybe_get_bdim as maybe_get_bdim,
    maybe_get_level as maybe_get_level,
)
