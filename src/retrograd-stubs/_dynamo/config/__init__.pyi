"""Where retrograd._dynamo.config is written.

Written by `make generate`.
"""
from retrograd._packages._dynamo.config import (
    Config as Config,
    accumulated_cache_size_limit as accumulated_cache_size_limit,
    accumulated_recompile_limit as accumulated_recompile_limit,
    allow_unspec_int_on_nn_module as allow_unspec_int_on_nn_module,
    assume_static_by_default as assume_static_by_default,
    automatic_dynamic_shapes as automatic_dynamic_shapes,
    cache_size_limit as cache_size_limit,
    capture_dynamic_output_shape_ops as capture_dynamic_output_shape_ops,
    capture_func_transforms as capture_func_transforms,
    capture_scalar_outputs as capture_scalar_outputs,
    compiled_autograd as compiled_autograd,
    disable as disable,
    dynamic_shapes as dynamic_shapes,
    error_on_recompile as error_on_recompile,
    fail_on_recompile_limit_hit as fail_on_recompile_limit_hit,
    force_parameter_static_shapes as force_parameter_static_shapes,
    guard_nn_modules as guard_nn_modules,
    inline_inbuilt_nn_modules as inline_inbuilt_nn_modules,
    log_level as log_level,
    optimize_ddp as optimize_ddp,
    recompile_limit as recompile_limit,
    skip_nnmodule_hook_guards as skip_nnmodule_hook_guards,
    specialize_float as specialize_float,
    specialize_int as specialize_int,
    suppress_errors as suppress_errors,
    traceable_tensor_subclasses as traceable_tensor_subclasses,
    verbose as verbose,
)
