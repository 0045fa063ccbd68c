"""Where retrograd.fx.traceback is written.

Written by `make generate`.
"""
from retrograd._packages.fx.traceback import (
    COPIED as COPIED,
    _meta as _meta,
    _preserving as _preserving,
    annotate as annotate,
    format_stack as format_stack,
    get_current_meta as get_current_meta,
    has_preserved_node_meta as has_preserved_node_meta,
    preserve_node_meta as preserve_node_meta,
    set_current_meta as set_current_meta,
    set_stack_trace as set_stack_trace,
)
