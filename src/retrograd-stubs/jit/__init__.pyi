"""Where retrograd.jit is written.

Written by `make generate`.
"""
from retrograd._small_modules.jit import (
    Final as Final,
    ScriptModule as ScriptModule,
    TracerWarning as TracerWarning,
    _get_trace_graph as _get_trace_graph,
    _overload as _overload,
    _overload_method as _overload_method,
    _script_if_tracing as _script_if_tracing,
    annotate as annotate,
    export as export,
    ignore as ignore,
    is_scripting as is_scripting,
    is_tracing as is_tracing,
    script as script,
    script_if_tracing as script_if_tracing,
    unused as unused,
)
