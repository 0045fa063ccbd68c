"""The few names of torch._C that programs about autograd use."""
from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from ._engine.modes import state
from ._engine.node import Node
from ._nodes import SavedTensor
from .autograd.graph import _pop_hooks, _push_hooks, _will_run


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


_autograd = SimpleNamespace(
    SavedTensor=SavedTensor,
    _push_saved_tensors_default_hooks=_push_hooks,
    _pop_saved_tensors_default_hooks=_pop_hooks,
)


def _log_api_usage_once(event: str) -> None:
    """Nothing is reported to anybody; torchvision's models call it."""
