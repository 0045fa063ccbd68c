"""The few names of torch._C that programs about autograd use."""
from __future__ import annotations

import sys
from functools import partial
from importlib import import_module
from typing import Any

from retrograd._C import _autograd as _autograd
from retrograd._C import _functions as _functions
from retrograd._engine.dispatch import parts
from retrograd._engine.modes import state
from retrograd._engine.node import Node
from retrograd._engine.tensor import TensorBase as TensorBase
from retrograd._functions.parsing import StorageBase as StorageBase
from retrograd._missing import late_names
from retrograd._tensor import DisableTorchFunction as DisableTorchFunction
from retrograd._tensor import DisableTorchFunctionSubclass as DisableTorchFunctionSubclass
from retrograd._tensor import Tensor
from retrograd._tensor import _disabled_torch_function_impl as _disabled_torch_function_impl
from retrograd._tensor.dtypes import device as device
from retrograd._tensor.dtypes import dtype as dtype
from retrograd._tensor.dtypes import layout as layout
from retrograd._tensor.dtypes import memory_format as memory_format
from retrograd._tensor.size import Size as Size
from retrograd.autograd import grad_mode
from retrograd.autograd.grad_mode import is_grad_enabled as is_grad_enabled
from retrograd.autograd.grad_mode import is_inference_mode_enabled as is_inference_mode_enabled
from retrograd.autograd.graph import _will_run
from retrograd.random import Generator as Generator


def _of(module: str, name: str) -> Any:
    return getattr(import_module(module), name)


late_names(__name__, lazy=("_functorch", "_linalg", "_nn", "_special"), also={
    "PyTorchFileReader": partial(_of, "retrograd._C._files", "PyTorchFileReader"),
    **{name: partial(_of, "retrograd._C._dispatch", name)
       for name in ("DispatchKey", "DispatchKeySet", "_ExcludeDispatchKeyGuard")},
    "_AutoDispatchBelowAutograd": lambda: import_module("retrograd._ops").below_autograd})
_set_grad_enabled = parts.set_grad
_is_multithreading_enabled = grad_mode.is_multithreading_enabled
_set_multithreading_enabled = grad_mode.set_multithreading_enabled
_TensorMeta = type(Tensor)
_has_cuda = _has_mps = _has_xpu = _has_mkldnn = False


def _current_graph_task_id() -> int:
    """The number of the backward pass going on; -1 outside."""
    task = state().task
    return -1 if task is None else int(task.number)


def _current_autograd_node() -> Any:
    """The node that runs, as far as hooks and custom Functions can ask; None outside a pass."""
    task = state().task
    return None if task is None else task.running


def _will_engine_execute_node(node: Any) -> bool:
    """Will `node` run in the backward pass going on?"""
    task = state().task
    if task is None:
        raise RuntimeError("_get_should_execute_nodes should only be called during the backward pass")
    if not isinstance(node, Node):
        raise TypeError("_will_engine_execute_node expects an grad_fn")
    return _will_run(task, node, node is task.running)


def _is_torch_function_enabled() -> bool:
    """Is __torch_function__ of types asked?"""
    return state().closed == 0


def _is_torch_function_all_disabled() -> bool:
    """Is nobody asked, not even modes?"""
    return state().closed == 2


def _is_torch_function_mode_enabled() -> bool:
    """Is there a mode that is asked?"""
    return bool(state().functions) and state().closed < 2


def _len_torch_function_stack() -> int:
    """How many modes the thread is in."""
    return len(state().functions)


def _get_function_stack_at(level: int) -> Any:
    """The mode at this place, from the outermost."""
    return state().functions[level]


def _are_functorch_transforms_active() -> bool:
    """Does a function of torch.func run?"""
    if state().lenient:
        return True
    return any(type(mode) is parts.level for mode in state().functions)


def _get_default_device() -> str:
    """The kind of device of new tensors' type, which set_default_device does not change: "cpu"."""
    return "cpu"


def _get_privateuse1_backend_name() -> str:
    """What a device of somebody's own would be called."""
    return "privateuseone"


def _get_accelerator(check: Any = None) -> device:
    """The CPU: there is no accelerator."""
    return device("cpu")


def _cuda_isInBadFork() -> bool:
    """False: nothing of CUDA began before a fork."""
    return False


def _log_api_usage_once(event: str) -> None:
    """Nothing is reported to anybody; torchvision's models call it."""


def _get_tracing_state() -> Any:
    """What a trace of torch.jit keeps of scopes; None while there is none."""
    traced = sys.modules.get("retrograd.jit._traced")
    return getattr(traced.TRACING, "state", None) if traced is not None else None


class Graph:
    """A captured program, for annotations and isinstance: there are none."""


class Value:
    """A value of a captured program: there are none."""


class ScriptMethod:
    """A compiled method: there are none."""


class ScriptFunction:
    """A compiled function: there are none."""
