"""Where retrograd.fx.proxy is written.

Written by `make generate`.
"""
from retrograd._packages.fx.proxy import (
    Attribute as Attribute,
    GraphAppendingTracer as GraphAppendingTracer,
    ParameterProxy as ParameterProxy,
    Proxy as Proxy,
    Scope as Scope,
    ScopeContextManager as ScopeContextManager,
    TraceError as TraceError,
    TracerBase as TracerBase,
    _instruction as _instruction,
    _operator as _operator,
    _plain as _plain,
    assert_fn as assert_fn,
    log as log,
)
