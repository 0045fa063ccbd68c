"""Where retrograd.jit._graph is written.

Written by `make generate`.
"""
from retrograd._packages.jit._graph import (
    FORMS as FORMS,
    Graph as Graph,
    Listener as Listener,
    Node as Node,
    OPERATORS as OPERATORS,
    QUIET as QUIET,
    SETTINGS as SETTINGS,
    State as State,
    Type as Type,
    Value as Value,
    _get_trace_graph as _get_trace_graph,
    batch_norm as batch_norm,
    conv as conv,
    conv_transpose as conv_transpose,
    einsum as einsum,
    group_norm as group_norm,
    instance_norm as instance_norm,
    interpolate as interpolate,
    layer_norm as layer_norm,
)
