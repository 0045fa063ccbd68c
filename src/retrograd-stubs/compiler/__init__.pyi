"""Where retrograd.compiler is written.

Written by `make generate`.
"""
from retrograd._small_modules.compiler import (
    OptimizedModule as OptimizedModule,
    allow_in_graph as allow_in_graph,
    check_options as check_options,
    compile as compile,
    compiled as compiled,
    disable as disable,
    is_compiling as is_compiling,
    is_dynamo_compiling as is_dynamo_compiling,
    reset as reset,
    set_stance as set_stance,
    skipping as skipping,
)
