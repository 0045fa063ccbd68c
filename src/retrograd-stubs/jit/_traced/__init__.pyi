"""Where retrograd.jit._traced is written.

Written by `make generate`.
"""
from retrograd._small_modules.jit._traced import (
    FORMAT as FORMAT,
    READ as READ,
    ScriptFunction as ScriptFunction,
    TRACING as TRACING,
    TopLevelTracedModule as TopLevelTracedModule,
    _Traced as _Traced,
    check as check,
    copied as copied,
    freeze as freeze,
    load as load,
    optimize_for_inference as optimize_for_inference,
    save as save,
    trace as trace,
    trace_module as trace_module,
    warned as warned,
)
