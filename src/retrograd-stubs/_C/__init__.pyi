"""Where retrograd._C is written.

Written by `make generate`.
"""
from retrograd._small_modules._C import (
    DisableTorchFunction as DisableTorchFunction,
    DisableTorchFunctionSubclass as DisableTorchFunctionSubclass,
    Generator as Generator,
    Graph as Graph,
    ScriptFunction as ScriptFunction,
    ScriptMethod as ScriptMethod,
    Size as Size,
    StorageBase as StorageBase,
    TensorBase as TensorBase,
    Value as Value,
    _current_autograd_node as _current_autograd_node,
    _current_graph_task_id as _current_graph_task_id,
    _disabled_torch_function_impl as _disabled_torch_function_impl,
    _get_function_stack_at as _get_function_stack_at,
    _get_tracing_state as _get_tracing_state,
    _is_torch_function_all_disabled as _is_torch_function_all_disabled,
    _is_torch_function_enabled as _is_torch_function_enabled,
    _is_torch_function_mode_enabled as _is_torch_function_mode_enabled,
    _len_torch_function_stack as _len_torch_function_stack,
    _log_api_usage_once as _log_api_usage_once,
    _set_grad_enabled as _set_grad_enabled,
    _will_engine_execute_node as _will_engine_execute_node,
    device as device,
    dtype as dtype,
    is_grad_enabled as is_grad_enabled,
    is_inference_mode_enabled as is_inference_mode_enabled,
    layout as layout,
    memory_format as memory_format,
)
