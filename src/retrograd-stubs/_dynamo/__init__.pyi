"""Where retrograd._dynamo is written.

Written by `make generate`.
"""
from retrograd._packages._dynamo import (
    ExplainOutput as ExplainOutput,
    OptimizedModule as OptimizedModule,
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    config as config,
    disable as disable,
    disallow_in_graph as disallow_in_graph,
    exc as exc,
    explain as explain,
    forbid_in_graph as forbid_in_graph,
    graph_break as graph_break,
    is_compiling as is_compiling,
    list_backends as list_backends,
    lookup_backend as lookup_backend,
    mark_dynamic as mark_dynamic,
    mark_static as mark_static,
    mark_static_address as mark_static_address,
    maybe_mark_dynamic as maybe_mark_dynamic,
    nonstrict_trace as nonstrict_trace,
    optimize as optimize,
    optimize_assert as optimize_assert,
    register_backend as register_backend,
    reset as reset,
    reset_code_caches as reset_code_caches,
    run as run,
    set_stance as set_stance,
    substitute_in_graph as substitute_in_graph,
)
