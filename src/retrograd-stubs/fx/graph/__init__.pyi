"""Where retrograd.fx.graph is written.

Written by `make generate`.
"""
from retrograd._packages.fx.graph import (
    CodeGen as CodeGen,
    Graph as Graph,
    PythonCode as PythonCode,
    _InsertPoint as _InsertPoint,
    _PyTreeCodeGen as _PyTreeCodeGen,
    _PyTreeInfo as _PyTreeInfo,
    _node_list as _node_list,
    _register_custom_builtin as _register_custom_builtin,
    inplace_methods as inplace_methods,
    magic_methods as magic_methods,
    reflectable_magic_methods as reflectable_magic_methods,
)
