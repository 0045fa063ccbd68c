"""Where retrograd.fx.experimental.optimization is written.

Written by `make generate`.
"""
from retrograd._packages.fx.experimental.optimization import (
    extract_subgraph as extract_subgraph,
    fuse as fuse,
    matches_module_pattern as matches_module_pattern,
    remove_dropout as remove_dropout,
    replace_node_module as replace_node_module,
)
