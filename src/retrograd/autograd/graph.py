"""Nodes and edges of the graph, and hooks on what it saves.

https://pytorch.org/docs/stable/autograd.html#autograd-graph
"""
from __future__ import annotations

import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from .._engine.modes import state
from .._engine.node import Node
from .._engine.op import edge
from .._engine.scopes import NoSavedHooks, SavedHooks, pop_hooks, push_hooks
from .._engine.tensor import AccumulateGrad, TensorBase, bump, edits, wants_grad
from .._engine.views import address
from .._missing import late_names
from .._rules import create
from ..utils.hooks import RemovableHandle, look
from .function import BackwardCFunction
from .grad_mode import _Mode

_push_hooks, _pop_hooks = push_hooks, pop_hooks

__all__ = [
    "saved_tensors_hooks", "save_on_cpu", "disable_saved_tensors_hooks", "register_multi_grad_hook",
    "allow_mutation_on_saved_tensors", "Node", "GradientEdge", "get_gradient_edge", "increment_version",
]
late_names(__name__)


class _Edge(NamedTuple):
    node: Any
    output_nr: int
    ownership_token: Any = None


class GradientEdge(_Edge):
    """Where a gradient goes: output `output_nr` of `node`.  Usable as root, and in inputs=, of backward and grad.

    ownership_token keeps the graph of a custom Function alive.  An edge from get_gradient_edge knows its tensor's
    shape; as a root, one made by hand needs a gradient.
    """

    like: Any = None                                # an array of the tensor's shape and dtype


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The edge that the gradient of `tensor` arrives on.  RuntimeError when it requires none."""
    look((tensor,))
    if not wants_grad(tensor):
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients")
    node = edge(tensor)
    token = tensor.view_as(tensor).grad_fn if isinstance(node, BackwardCFunction) else None
    found = GradientEdge(node, tensor.nr, token)
    found.like = np.broadcast_to(np.zeros((), tensor.array.dtype), tensor.array.shape)
    return found


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Count an in-place edit that autograd did not see, of `tensor`, one or several."""
    for t in [tensor] if isinstance(tensor, TensorBase) else tensor:
        bump(t)


class saved_tensors_hooks(SavedHooks):
    """Context: what ops save goes through pack_hook(tensor), and comes back through unpack_hook(what pack returned).

    The innermost context alone counts.  pack_hook must not edit its argument.  What unpack_hook returns must have the
    shape and dtype of what was packed; nobody checks, nor whether the tensor was edited in place meanwhile.
    """

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook


class save_on_cpu(saved_tensors_hooks):
    """Context: saved tensors are copied; everything is on the CPU already, whatever device_type and pin_memory say."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(_copied, _itself)


def _copied(t: Any) -> Any:
    return create.clone(t)


def _itself(t: Any) -> Any:
    return t


class disable_saved_tensors_hooks(_Mode, NoSavedHooks):
    """Context: using saved_tensors_hooks raises RuntimeError(error_message)."""

    def __init__(self, error_message: str) -> None:
        self.message = error_message

    def clone(self) -> Any:
        return type(self)(str(self.message))


# Hooks of several tensors


class _MultiHandle(RemovableHandle):
    """The handles of a register_multi_grad_hook as one."""

    handles: tuple[RemovableHandle, ...]

    def __init__(self, handles: tuple[RemovableHandle, ...]) -> None:
        self.handles = handles

    def remove(self) -> None:
        """Take the hook off every tensor."""
        for handle in self.handles:
            handle.remove()

    def __getstate__(self) -> Any:
        return self.handles

    def __setstate__(self, state: Any) -> None:
        self.handles = state


def register_multi_grad_hook(
    tensors: Sequence[Any], fn: Callable[..., Any], *, mode: str = "all",
) -> RemovableHandle:
    """Call fn once per backward for several tensors.

    mode "all"  fn(list of gradients, None where none comes), when the last of them is there
         "any"  fn(gradient), when the first is there
    Its result is ignored.  Refused under autograd.grad() with a leaf among the tensors, as in PyTorch.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    look(tensors)
    if mode == "any":
        once = _Any(fn)
        return _MultiHandle(tuple(t.register_hook(once) for t in tensors if wants_grad(t)))
    nodes = [edge(t) if wants_grad(t) else None for t in tensors]
    if None in nodes:
        raise AssertionError("Expected gradient function to be set")
    whole = _All(fn, nodes)
    return _MultiHandle(tuple(t.register_hook(_One(whole, i)) for i, t in enumerate(tensors)))


class _Any:
    """The first gradient of each pass."""

    of_several = True

    def __init__(self, fn: Callable[[Any], Any]) -> None:
        self.fn = fn
        self.lock = threading.Lock()
        self.seen: list[Any] = []                   # passes that had their call

    def __call__(self, g: Any) -> None:
        task = state().task
        with self.lock:
            self.seen = [t for t in self.seen if not t.done]
            if task in self.seen:
                return
            self.seen.append(task)
        self.fn(g)


class _All:
    """Collects the gradients of each pass."""

    def __init__(self, fn: Callable[[Any], Any], nodes: list[Any]) -> None:
        self.fn = fn
        self.nodes = nodes
        self.lock = threading.Lock()
        self.passes: dict[Any, list[Any]] = {}      # pass -> [how many come, how many still to come, those that came]

    def take(self, i: int, g: Any) -> None:
        task = state().task
        with self.lock:
            for old in [t for t in self.passes if t.done]:
                del self.passes[old]
            found = self.passes.get(task)
            if found is None:
                count = sum(_will_run(task, node, node is self.nodes[i]) for node in self.nodes)
                found = self.passes[task] = [count, count, [None] * len(self.nodes)]
            found[1] -= 1
            found[2][i] = g
            if found[1]:
                return
            values = found[2]
            found[1:] = [found[0], [None] * len(self.nodes)]
        self.fn(values)


class _One:
    """The hook of one of the tensors."""

    of_several = True

    def __init__(self, whole: _All, i: int) -> None:
        self.whole = whole
        self.i = i

    def __call__(self, g: Any) -> None:
        self.whole.take(self.i, g)


_replaying: set[int] = set()                    # threads that run a recorded backward() again: it accumulates nowhere


def _will_run(task: Any, node: Any, now: bool) -> bool:
    """Will `node` run in this pass, or is it running `now`?"""
    if node is task.root:
        return False                                # the only root of a pass does not count in PyTorch
    if task.needed is None:
        return now or bool(task.knows(node))
    if node not in task.needed:
        return False
    if isinstance(node, AccumulateGrad) and task.captures is not None and node in task.captures \
            and threading.get_ident() not in _replaying:
        raise RuntimeError(
            "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). This is "
            "currently not supported.")
    return True


# Editing what is saved

OUTSIDE = (
    "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the graph was originally "
    "recorded."
)


class _Handle:
    """Stands for one saved tensor."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """Saved tensors by handle: `original` as they were saved, `cloned` those that were edited since."""

    def __init__(self) -> None:
        self.cloned: weakref.WeakKeyDictionary[_Handle, Any] = weakref.WeakKeyDictionary()
        self.original: weakref.WeakKeyDictionary[_Handle, Any] = weakref.WeakKeyDictionary()
        self.handles: weakref.WeakValueDictionary[Any, _Handle] = weakref.WeakValueDictionary()

    def clear(self) -> None:
        """Forget everything."""
        self.cloned.clear()
        self.original.clear()
        self.handles.clear()

    def pack(self, t: Any) -> _Handle:
        x = t.array
        key = address(x), x.shape, x.strides, x.dtype, edits(t)
        handle = self.handles.get(key)
        if handle is None:
            handle = self.handles[key] = _Handle()
            self.original[handle] = _alias(t)
        return handle

    def unpack(self, handle: _Handle) -> Any:
        if state().mutation is None:
            raise AssertionError(OUTSIDE)
        found = self.cloned.get(handle)
        if found is None:
            found = self.original.get(handle)
        if found is None:
            raise AssertionError(OUTSIDE)
        return found

    def before_edit(self, t: Any) -> None:
        """Copy every saved tensor that shares memory with t, which is about to be edited."""
        for handle, saved in list(self.original.items()):
            if np.may_share_memory(saved.array, t.array):
                self.cloned[handle] = saved.clone()
                del self.original[handle]


def _alias(t: Any) -> Any:
    from .._engine.saved import bare
    return bare(t)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[_AllowMutationOnSavedContext]:
    """Context: tensors saved for backward may be edited in place; the old values are copied first.  Not nestable."""
    it = state()
    if it.mutation is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack):
        it.mutation = context.before_edit
        try:
            yield context
        finally:
            it.mutation = None
            context.clear()


Node.__module__ = __name__
