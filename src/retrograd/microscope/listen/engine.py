"""What the adapters of both engines have in common.

Both engines have the same names (that is what retrograd is for), so an engine is mostly its namespace: `engine.torch.einsum`,
`engine.torch.autograd.grad`.
"""
from __future__ import annotations

import sys
from contextlib import nullcontext
from importlib import import_module
from typing import Any

from .sizes import Sizes

NOTHING = nullcontext()
GETTER: Any = type(int.real.__get__)               # what is reported for a property of a tensor
TENSORS = ("T", "mT", "H", "mH", "real", "imag", "data")        # properties that are tensors


class Engine(Sizes):
    """One engine: its namespace and its classes."""

    name: str
    torch: Any                                  # the namespace: retrograd or torch
    Tensor: type[Any]
    Module: type[Any]
    passes: Any                                 # functions that run backward: inside() calls them
    composites: Any                             # functions made of others that take parameters: inside() calls them

    def __init__(self) -> None:
        self.names: dict[Any, str] = {}

    def optimizers(self) -> Any:
        """The module with register_optimizer_step_pre_hook."""
        return loaded(f"{self.torch.__name__}.optim.optimizer")

    def modules(self) -> Any:
        """The module with register_module_forward_hook."""
        return loaded(f"{self.torch.__name__}.nn.modules.module")

    def is_tensor(self, x: Any) -> bool:
        """Is x a tensor of this engine?"""
        return isinstance(x, self.Tensor)

    def name_of(self, func: Any) -> str:
        """'linear', 'mul', 'view', ... of a function that is heard, without underscores around it."""
        name = self.names.get(func)
        if name is None:
            self.names[func] = name = canonical(self.plain_name(func))
        return name

    def plain_name(self, func: Any) -> str:
        """The same as it is written: '__rmul__'; of a property's functions the property's."""
        if type(func) is GETTER:
            its = func.__self__
            return str(getattr(its, "__name__", None) or its.fget.__name__)
        return str(getattr(func, "__name__", type(func).__name__))

    def says(self, func: Any) -> bool:
        """Is a property heard that gives a tensor, and not a shape, a dtype, ...?"""
        return self.name_of(func) in TENSORS

    def calls(self, ear: Any, had: Any = None) -> Any:
        """Context: ear.call(func, impl, args, kwargs) is called in place of every function of the engine on this thread.

        What it calls itself is not heard, but for what inside() calls.  had: a context of this ear that is over; it begins
        again, unless another has become necessary.
        """
        raise NotImplementedError

    def inside(self, heard: Any, func: Any, impl: Any, args: Any, kwargs: Any) -> Any:
        """Of passes and composites, in a call that the context `heard` hands on: func(*args, **kwargs), its own calls heard."""
        raise NotImplementedError

    def within(self, ear: Any) -> Any:
        """Context for an ear in a call that it was told of: calls made in it are heard, too."""
        return self.calls(ear)

    def look(self) -> None:
        """Some function is heard for the first time: is it one of `passes` or `composites`, wrapped by somebody?"""

    def foremost(self, heard: Any) -> bool:
        """May the context `heard` end now, though others may have begun after it?"""
        return True

    def seeds(self, args: Any, kwargs: Any) -> Any:
        """The gradients that a pass, called with these, begins with."""
        return args[1] if len(args) > 1 else kwargs.get("gradient", kwargs.get("grad_tensors"))

    def unseen(self) -> Any:
        """Context in which no function is heard."""
        return NOTHING

    def in_backward(self) -> bool:
        """Is a backward pass going on, on this thread?"""
        raise NotImplementedError

    def eager(self, hook: Any) -> Any:
        """hook, which a compiler leaves as it is."""
        return hook

    def transformed(self, x: Any) -> bool:
        """Is x a tensor of a function transform, which is of no use after it?"""
        return False

    def random_state(self) -> Any:
        """torch.get_rng_state()"""
        return self.torch.get_rng_state()

    def no_grad(self) -> Any:
        """Context without recording."""
        return self.torch.no_grad()


def loaded(name: str) -> Any:
    """A module of an engine, imported when it is asked for first."""
    return sys.modules.get(name) or import_module(name)


def canonical(name: str) -> str:
    """'__rmul__' -> 'mul', '__iadd__' -> 'add_', 'linear' -> 'linear'"""
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
    return SPECIAL.get(name, name)


SPECIAL = {
    "radd": "add", "rmul": "mul", "iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_", "truediv": "div",
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
}
