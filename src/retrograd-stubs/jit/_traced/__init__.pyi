"""Where retrograd.jit._traced is written.

Written by `make generate`.
"""
from retrograd._packages.jit._traced import (
    FORMAT as FORMAT,
    OUTPUTS as OUTPUTS,
    READ as READ,
    ScriptFunction as ScriptFunction,
    TRACING as TRACING,
    TopLevelTracedModule as TopLevelTracedModule,
    TracedModule as TracedModule,
    _Traced as _Traced,
    check as check,
    check_results as check_results,
    copied as copied,
    foreign as foreign,
    freeze as freeze,
    load as load,
    optimize_for_inference as optimize_for_inference,
    parts as parts,
    save as save,
    trace as trace,
    trace_module as trace_module,
    traced as traced,
    tuple_of as tuple_of,
    type_of as type_of,
    warned as warned,
)
