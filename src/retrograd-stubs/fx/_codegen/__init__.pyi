"""Where retrograd.fx._codegen is written.

Written by `make generate`.
"""
from retrograd._packages.fx._codegen import (
    COLORS as COLORS,
    CodeGen as CodeGen,
    OLD_GENERICS as OLD_GENERICS,
    PythonCode as PythonCode,
    _PyTreeCodeGen as _PyTreeCodeGen,
    _PyTreeInfo as _PyTreeInfo,
    _Writer as _Writer,
    accepting as accepting,
    inplace_methods as inplace_methods,
    listed as listed,
    magic_methods as magic_methods,
    path as path,
    reflectable_magic_methods as reflectable_magic_methods,
)
