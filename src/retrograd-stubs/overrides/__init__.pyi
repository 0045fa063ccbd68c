"""Where retrograd.overrides is written.

Written by `make generate`.
"""
from retrograd._packages.overrides import (
    BaseTorchFunctionMode as BaseTorchFunctionMode,
    IGNORED as IGNORED,
    TorchFunctionMode as TorchFunctionMode,
    _dummy as _dummy,
    _enable_torch_function as _enable_torch_function,
    _get_current_function_mode as _get_current_function_mode,
    _get_current_function_mode_stack as _get_current_function_mode_stack,
    _get_overloaded_args as _get_overloaded_args,
    _others_ask as _others_ask,
    _overridable as _overridable,
    _pop_mode as _pop_mode,
    _pop_mode_temporarily as _pop_mode_temporarily,
    _push_mode as _push_mode,
    _tensor_methods as _tensor_methods,
    get_default_nowrap_functions as get_default_nowrap_functions,
    get_ignored_functions as get_ignored_functions,
    get_overridable_functions as get_overridable_functions,
    get_testing_overrides as get_testing_overrides,
    handle_torch_function as handle_torch_function,
    has_torch_function as has_torch_function,
    has_torch_function_unary as has_torch_function_unary,
    has_torch_function_variadic as has_torch_function_variadic,
    is_tensor_like as is_tensor_like,
    is_tensor_method_or_property as is_tensor_method_or_property,
    redispatch_function as redispatch_function,
    resolve_name as resolve_name,
    wrap_torch_function as wrap_torch_function,
)
