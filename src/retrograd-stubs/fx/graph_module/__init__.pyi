"""Where retrograd.fx.graph_module is written.

Written by `make generate`.
"""
from retrograd._packages.fx.graph_module import (
    GraphModule as GraphModule,
    HOOKS as HOOKS,
    PLAIN_LAYERS as PLAIN_LAYERS,
    _Call as _Call,
    _CodeOnlyModule as _CodeOnlyModule,
    _call_wrapped as _call_wrapped,
    _copy_attr as _copy_attr,
    _forward_of as _forward_of,
    _imports as _imports,
    _indented as _indented,
    _keys as _keys,
    _make_graph_module as _make_graph_module,
    _parent as _parent,
    _put as _put,
    _traced_again as _traced_again,
    reduce_graph_module as reduce_graph_module,
)
