"""Where retrograd.fx._symbolic_trace is written.

Written by `make generate`.
"""
from retrograd._packages.fx._symbolic_trace import (
    PH as PH,
    PHBase as PHBase,
    PHWithMeta as PHWithMeta,
    ProxyableClassMeta as ProxyableClassMeta,
    Tracer as Tracer,
    VARIADIC as VARIADIC,
    _annotation as _annotation,
    _assert_is_none as _assert_is_none,
    _by_place as _by_place,
    _proxyable_classes as _proxyable_classes,
    _tracing as _tracing,
    _transfer_attrs as _transfer_attrs,
    _wrapped_fns_to_patch as _wrapped_fns_to_patch,
    _wrapped_methods_to_patch as _wrapped_methods_to_patch,
    is_fx_symbolic_tracing as is_fx_symbolic_tracing,
    is_fx_tracing as is_fx_tracing,
    symbolic_trace as symbolic_trace,
    wrap as wrap,
)
