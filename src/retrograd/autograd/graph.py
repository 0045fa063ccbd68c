"""Nodes and edges of the graph, and hooks on what it saves.  https://pytorch.org/docs/stable/autograd.html#autograd-graph"""
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from .._engine.modes import settle, state
from .._engine.node import Node
from .._engine.op import edge
from .._engine.tensor import TensorBase, bump, wants_grad

__all__ = [
    "Node", "GradientEdge", "get_gradient_edge", "increment_version", "saved_tensors_hooks", "save_on_cpu",
    "disable_saved_tensors_hooks",
]


class GradientEdge(NamedTuple):
    """Where a gradient goes: output `output_nr` of `node`.  Usable as root, and in inputs=, of backward and grad."""

    node: Any
    output_nr: int
    ownership_token: Any = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """The edge that the gradient of `tensor` arrives on.  RuntimeError when it requires none."""
    if not wants_grad(tensor):
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients")
    return GradientEdge(edge(tensor), tensor.nr)


def increment_version(tensor: TensorBase | Iterable[TensorBase]) -> None:
    """Count an in-place edit of one or several tensors that autograd did not see."""
    for t in [tensor] if isinstance(tensor, TensorBase) else tensor:
        bump(t)


class saved_tensors_hooks:
    """Context: what ops save goes through pack_hook(tensor), and comes back through unpack_hook(what pack returned)."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        it = state()
        if it.pack_disabled is not None:
            raise RuntimeError(it.pack_disabled)
        it.pack_hooks.append((self.pack_hook, self.unpack_hook))
        settle(it)

    def __exit__(self, *args: object) -> None:
        it = state()
        it.pack_hooks.pop()
        settle(it)


class save_on_cpu(saved_tensors_hooks):
    """Context: saved tensors are copied; everything is on the CPU already."""

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        super().__init__(lambda t: t.clone(), lambda t: t)


class disable_saved_tensors_hooks:
    """Context: using saved_tensors_hooks raises RuntimeError(error_message)."""

    def __init__(self, error_message: str) -> None:
        self.error_message = error_message

    def __enter__(self) -> None:
        it = state()
        if it.pack_hooks:
            raise RuntimeError(self.error_message)
        self.prev = it.pack_disabled
        it.pack_disabled = self.error_message
        settle(it)

    def __exit__(self, *args: object) -> None:
        it = state()
        it.pack_disabled = self.prev
        settle(it)
