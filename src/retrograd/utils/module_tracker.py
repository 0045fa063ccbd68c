"""ModuleTracker: which modules are running, forward or backward.  https://pytorch.org/docs/stable/module_tracker.html"""
from __future__ import annotations

import functools
import weakref
from typing import Any

from .._engine.modes import state
from .._engine.tensor import TensorBase, wants_grad
from ..autograd.graph import register_multi_grad_hook
from ..autograd.variable import Variable
from ._pytree import tree_leaves
from .hooks import look

__all__ = ["ModuleTracker"]


class ModuleTracker:
    """A context whose `parents` are the names of the modules that run now: "Global", and paths that begin with a class's name.

    In a backward pass a module runs from the gradients of its outputs to those of its inputs.
    """

    parents: set[str]

    def __init__(self) -> None:
        self.parents = {"Global"}
        self._names: Any = weakref.WeakKeyDictionary()
        self._seen: Any = weakref.WeakSet()
        self._ends = False                              # is the end of a pass awaited?
        self._hooks: list[Any] = []

    @property
    def is_bw(self) -> bool:
        """Is a backward pass going on?"""
        return state().task is not None

    def __enter__(self) -> ModuleTracker:
        from ..nn.modules.module import register_module_forward_hook, register_module_forward_pre_hook

        self._hooks += [register_module_forward_pre_hook(self._before), register_module_forward_hook(self._after)]
        return self

    def __exit__(self, *error: object) -> None:
        while self._hooks:
            self._hooks.pop().remove()

    def _name(self, module: Any) -> str:
        name: str = self._names.setdefault(module, type(module).__name__)
        if module not in self._seen:
            self._seen.add(module)
            for own, child in module.named_children():
                self._names[child] = f"{name}.{own}"
                self._name(child)
        return name

    def _before(self, module: Any, args: Any) -> None:
        name = self._name(module)
        self.parents.add(name)
        self._hook(args, functools.partial(self._left, name))

    def _after(self, module: Any, args: Any, output: Any) -> None:
        name = self._name(module)
        self.parents.discard(name)
        self._hook(output, functools.partial(self._entered, name))

    def _hook(self, values: Any, hook: Any) -> None:
        found = tree_leaves(values)
        look(found)
        tensors = [t for t in found if isinstance(t, TensorBase) and wants_grad(t)]
        if tensors:
            self._hooks.append(register_multi_grad_hook(tensors, hook))

    def _entered(self, name: str, grads: Any) -> None:
        if not self._ends:
            self._ends = True
            Variable._execution_engine.queue_callback(self._end)
        self.parents.add(name)

    def _left(self, name: str, grads: Any) -> None:
        self.parents.discard(name)

    def _end(self) -> None:
        self.parents = {"Global"}
        self._ends = False
