"""Where retrograd.compiler is written.

Written by `make generate`.
"""
from retrograd._packages.compiler import (
    OPTIONS as OPTIONS,
    allow_in_graph as allow_in_graph,
    assume_constant_result as assume_constant_result,
    check_options as check_options,
    compile as compile,
    compiled as compiled,
    cudagraph_mark_step_begin as cudagraph_mark_step_begin,
    disable as disable,
    get_default_backend as get_default_backend,
    is_compiling as is_compiling,
    is_dynamo_compiling as is_dynamo_compiling,
    is_exporting as is_exporting,
    list_backends as list_backends,
    make as make,
    maker as maker,
    reset as reset,
    set_default_backend as set_default_backend,
    set_stance as set_stance,
    substitute_in_graph as substitute_in_graph,
    types_of_pytorchs as types_of_pytorchs,
    wrapped as wrapped,
)
