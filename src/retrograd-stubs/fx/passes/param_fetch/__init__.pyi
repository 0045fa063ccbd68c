"""Where retrograd.fx.passes.param_fetch is written.

Written by `make generate`.
"""
from retrograd._packages.fx.passes.param_fetch import (
    LAYERS as LAYERS,
    default_matching as default_matching,
    extract_attrs_for_lowering as extract_attrs_for_lowering,
    lift_lowering_attrs_to_nodes as lift_lowering_attrs_to_nodes,
)
