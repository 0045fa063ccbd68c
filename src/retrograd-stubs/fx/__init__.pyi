"""Where retrograd.fx is written.

Written by `make generate`.
"""
from retrograd._packages.fx import (
    CodeGen as CodeGen,
    Graph as Graph,
    GraphModule as GraphModule,
    Interpreter as Interpreter,
    Node as Node,
    PH as PH,
    Proxy as Proxy,
    ProxyableClassMeta as ProxyableClassMeta,
    Tracer as Tracer,
    Transformer as Transformer,
    has_side_effect as has_side_effect,
    map_arg as map_arg,
    replace_pattern as replace_pattern,
    symbolic_trace as symbolic_trace,
    wrap as wrap,
)
