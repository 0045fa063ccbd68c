"""Where retrograd.fx.node is written.

Written by `make generate`.
"""
from retrograd._packages.fx.node import (
    Argument as Argument,
    BY_NAME as BY_NAME,
    Node as Node,
    OPS as OPS,
    Target as Target,
    _format_arg as _format_arg,
    _side_effectful_functions as _side_effectful_functions,
    base_types as base_types,
    has_side_effect as has_side_effect,
    map_aggregate as map_aggregate,
    map_arg as map_arg,
)
