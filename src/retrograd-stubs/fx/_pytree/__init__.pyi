"""Where retrograd.fx._pytree is written.

Written by `make generate`.
"""
from retrograd._packages.fx._pytree import (
    SUPPORTED_NODES as SUPPORTED_NODES,
    SUPPORTED_NODES_EXACT_MATCH as SUPPORTED_NODES_EXACT_MATCH,
    _as_many as _as_many,
    _by_place as _by_place,
    register_pytree_flatten_spec as register_pytree_flatten_spec,
    tree_flatten_spec as tree_flatten_spec,
)
