"""Two engines behind one adapter: retrograd and torch.

Both have the same names (that is what retrograd is for), so an engine is mostly its namespace: `engine.torch.einsum`,
`engine.torch.autograd.grad`.  What differs is here: whose tensor is it, and how function calls are seen.

torch is never imported: an object of it can only come in when somebody has imported it already (NOTE [No import]).
"""
from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any

Handler = Callable[[Any, tuple[Any, ...], dict[str, Any]], Any]


retrograd = sys.modules[__name__.partition(".")[0]]     # the namespace, which is above us: imports point one way


class Engine:
    """One engine: its namespace and its classes."""

    name: str
    torch: Any                                  # the namespace: retrograd or torch
    Tensor: type
    Module: type
    composites: dict[Any, Any]                  # see TorchEngine
    passes: dict[Any, Any]                      # functions that run backward -> what to call with the mode on

    def is_tensor(self, x: Any) -> bool:
        """Is x a tensor of this engine?"""
        return isinstance(x, self.Tensor)

    def name_of(self, func: Any) -> str:
        """'linear', 'mul', 'view', ... of an intercepted function, without underscores around it."""
        raise NotImplementedError

    def intercept(self, handler: Handler) -> Any:
        """Context: handler(func, args, kwargs) is called in place of every function of the engine on this thread.

        What handler itself calls is not intercepted, unless it says so with `reopened`.
        """
        raise NotImplementedError

    def unseen(self) -> Any:
        """Context in which no function is intercepted."""
        return nullcontext()

    def in_backward(self) -> bool:
        """Is a backward pass going on, on this thread?"""
        raise NotImplementedError

    def eager(self, hook: Any) -> Any:
        """hook, which a compiler leaves as it is."""
        return hook

    def transformed(self, x: Any) -> bool:
        """Is x a tensor of a function transform, which is of no use after it?"""
        return False

    def no_grad(self) -> Any:
        """Context without recording."""
        return self.torch.no_grad()

    def accumulator(self, leaf: Any) -> Any:
        """The AccumulateGrad node of a leaf that requires grad."""
        with self.torch.enable_grad():
            return leaf.view_as(leaf).grad_fn.next_functions[0][0]


class RetrogradEngine(Engine):
    """retrograd: the public functions are replaced, while somebody watches, by ones that tell the handler."""

    name = "retrograd"

    def __init__(self) -> None:
        self.torch = retrograd
        self.Tensor = retrograd.Tensor
        self.Module = retrograd.nn.Module
        self.composites = {}
        self.passes = {retrograd.Tensor.backward: retrograd.Tensor.backward}

    def name_of(self, func: Any) -> str:
        name: str = _names.get(func) or func.__name__
        return canonical(name)

    def in_backward(self) -> bool:
        from .._engine.modes import state
        return state().task is not None

    def intercept(self, handler: Handler) -> Any:
        return _Replaced(handler)


class TorchEngine(Engine):
    """torch: a TorchFunctionMode.

    composites  Python functions of torch made of others that take parameters: what to call instead, with the mode on,
                so that the parts are seen (the same code, but for its question whether a mode is on)
    """

    name = "torch"

    def __init__(self) -> None:
        torch = sys.modules["torch"]
        self.torch = torch
        self.Tensor = torch.Tensor
        self.Module = torch.nn.Module
        F = torch.nn.functional
        attention = F.multi_head_attention_forward
        self.composites = {attention: transparent(attention)}
        backward = transparent(torch.autograd.backward)

        def of_tensor(self: Any, gradient: Any = None, retain_graph: Any = None, create_graph: bool = False,
                      inputs: Any = None) -> None:
            backward(self, gradient, retain_graph, create_graph, inputs=inputs)
        self.passes = {torch.Tensor.backward: of_tensor, torch.autograd.backward: backward}
        self.names: dict[Any, str] = {}
        from torch.overrides import TorchFunctionMode

        class Watching(TorchFunctionMode):  # type: ignore[misc]
            def __init__(self, handler: Handler) -> None:
                super().__init__()
                self.handler = handler

            def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
                if type(func) is GETTER and func.__self__.__name__ not in TENSORS:     # shape, dtype, requires_grad, ...
                    return func(*args)
                return self.handler(func, args, kwargs or {})

        self.watching = Watching
        self.uncompiled: Any = None             # the same, which a compiler leaves as it is

    def name_of(self, func: Any) -> str:
        name = self.names.get(func)
        if name is None:
            name = getattr(func, "__name__", type(func).__name__)
            if name == "__get__":               # a property: Tensor.T, Tensor.grad
                name = getattr(func.__self__, "__name__", "__get__")
            name = canonical(name)
            self.names[func] = name
        return name

    def unseen(self) -> Any:
        return self.torch._C.DisableTorchFunction()

    def eager(self, hook: Any) -> Any:
        dynamo = sys.modules.get("torch._dynamo")       # there when something was compiled
        return hook if dynamo is None else dynamo.disable(hook)

    def transformed(self, x: Any) -> bool:
        return bool(self.torch._C._functorch.is_functorch_wrapped_tensor(x))

    def in_backward(self) -> bool:
        return bool(self.torch._C._current_graph_task_id() != -1)

    def intercept(self, handler: Handler) -> Any:
        if "torch._dynamo" not in sys.modules:          # nothing was compiled
            return self.watching(handler)
        if self.uncompiled is None:
            self.uncompiled = type("Watching", (self.watching,), {
                "__torch_function__": self.eager(self.watching.__torch_function__)})
        return self.uncompiled(handler)


GETTER = type(int.real.__get__)                 # what a mode gets for a property of a tensor
TENSORS = ("T", "mT", "H", "mH", "real", "data")        # properties that are tensors


def canonical(name: str) -> str:
    """'__rmul__' -> 'mul', '__iadd__' -> 'add_', 'linear' -> 'linear'"""
    if name.startswith("__") and name.endswith("__"):
        name = name[2:-2]
        return SPECIAL.get(name, name)
    return SPECIAL.get(name, name)


SPECIAL = {
    "radd": "add", "rmul": "mul", "iadd": "add_", "isub": "sub_", "imul": "mul_", "itruediv": "div_", "truediv": "div",
    "subtract": "sub", "multiply": "mul", "divide": "div", "true_divide": "div",
}


def transparent(function: Any) -> Any:
    """The same function, which does not ask whether a function mode is on."""
    import types
    scope = dict(function.__globals__)
    scope["has_torch_function"] = _never
    clone = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, function.__closure__)
    clone.__kwdefaults__ = function.__kwdefaults__
    return clone


def _never(*_: Any) -> bool:
    return False


# retrograd's own means of seeing calls

OPERATORS = (
    "__add__", "__radd__", "__iadd__", "__sub__", "__rsub__", "__isub__", "__mul__", "__rmul__", "__imul__",
    "__truediv__", "__rtruediv__", "__itruediv__", "__neg__", "__pow__", "__rpow__", "__matmul__", "__rmatmul__",
    "__getitem__", "__setitem__", "__iter__", "__reversed__", "__abs__", "__pos__", "__invert__", "__mod__", "__rmod__",
    "__imod__",
    "__floordiv__", "__rfloordiv__", "__ifloordiv__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__",
    "__imatmul__", "__ipow__", "__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__",
)
METHODS = ("backward", "detach", "where")


class _Replaced:
    """Context: the names of the namespace, of nn.functional and of Tensor lead to the handler."""

    lock = threading.RLock()
    active: list[_Replaced] = []                # innermost last
    undo: list[tuple[Any, str, Any]] = []

    def __init__(self, handler: Handler) -> None:
        self.handler = handler
        self.thread = 0
        self.busy = False

    def __enter__(self) -> _Replaced:
        self.thread = threading.get_ident()
        with self.lock:
            if not self.active:
                _replace(self.undo)
            self.active.append(self)
        return self

    def __exit__(self, *_: object) -> None:
        with self.lock:
            self.active.remove(self)
            if not self.active:
                for owner, name, old in reversed(self.undo):
                    if old is _ABSENT:
                        delattr(owner, name)
                    else:
                        setattr(owner, name, old)
                self.undo.clear()


_ABSENT = object()


def _replace(undo: list[tuple[Any, str, Any]]) -> None:
    from .._functions import FAMILIES
    from ..nn import functional

    table = _stand_ins()
    for owner in (retrograd, functional, *FAMILIES):
        for name, value in list(vars(owner).items()):
            stand_in = table.get(value) if callable(value) and getattr(value, "__hash__", None) else None
            if stand_in is not None:
                undo.append((owner, name, value))
                setattr(owner, name, stand_in)
    for owner in (retrograd.linalg, retrograd.special):
        for name, value in list(vars(owner).items()):
            if callable(value) and not isinstance(value, type) and not name.startswith("_") and name != "module_getattr":
                if value not in table:
                    table[value] = _watched(value)
                undo.append((owner, name, value))
                setattr(owner, name, table[value])
    for name in _tensor_names():
        own = vars(retrograd.Tensor).get(name, _ABSENT)
        now = getattr(retrograd.Tensor, name) if own is _ABSENT else own
        undo.append((retrograd.Tensor, name, own))
        setattr(retrograd.Tensor, name, _watched(now, name))


_table: dict[Any, Any] = {}
_names: dict[Any, str] = {}                     # of properties' functions, which are called otherwise


def _stand_ins() -> dict[Any, Any]:
    """function -> the one to call instead; made once."""
    if not _table:
        from .._functions import FAMILIES
        from ..nn import functional
        for family in FAMILIES:
            for name in (*family.__all__, *getattr(family, "FUNCTIONAL", ())):
                own = getattr(family, name.partition(" as ")[0])
                if callable(own) and not isinstance(own, type) and own not in _table:
                    _table[own] = _watched(own)
        for owner in (retrograd, functional):
            for public in list(vars(owner).values()):
                if hasattr(public, "unchecked") and public not in _table:       # a family's, behind checks of its arguments
                    _table[public] = _watched(public)
    return _table


def _tensor_names() -> Iterator[str]:
    from .._functions import FAMILIES
    for family in FAMILIES:
        yield from (name.rpartition(" as ")[2] for name in getattr(family, "METHODS", ()))
    for name in (*OPERATORS, *METHODS):
        if hasattr(retrograd.Tensor, name):
            yield name


def _watched(value: Any, name: str = "") -> Any:
    """value, a function or a property, telling the innermost handler of this thread."""
    if isinstance(value, property):
        return property(_watched(value.fget, name), value.fset, value.fdel, value.__doc__)
    if not callable(value):
        return value
    if name:
        _names.setdefault(value, name)
    active = _Replaced.active
    ident = threading.get_ident

    def stand_in(*args: Any, **kwargs: Any) -> Any:
        for watcher in reversed(active):
            if watcher.thread == ident():
                if watcher.busy:
                    break
                watcher.busy = True
                try:
                    return watcher.handler(value, args, kwargs)
                finally:
                    watcher.busy = False
        return value(*args, **kwargs)

    stand_in.__name__ = getattr(value, "__name__", "function")
    stand_in.__doc__ = value.__doc__
    return stand_in


# NOTE [No import]
# The type of a torch object was defined in a module named torch...; if `torch` is in sys.modules, isinstance against its
# Tensor and Module decides (subclasses live in modules of any name).  Nothing here imports it.
_engines: dict[str, Engine] = {}


def engine_named(name: str) -> Engine:
    """The engine 'retrograd' or 'torch' (which must have been imported)."""
    engine = _engines.get(name)
    if engine is None:
        engine = _engines[name] = RetrogradEngine() if name == "retrograd" else TorchEngine()
    return engine


def engine_of(x: Any) -> Engine:
    """The engine of a tensor or module.  TypeError for anything else."""
    if isinstance(x, (retrograd.Tensor, retrograd.nn.Module)):
        return engine_named("retrograd")
    torch = sys.modules.get("torch")
    if torch is not None and torch is not retrograd and hasattr(torch, "nn"):
        if isinstance(x, (torch.Tensor, torch.nn.Module)):
            return engine_named("torch")
    raise TypeError(
        f"microscope: expected a module or tensor of retrograd or of torch, got {type(x).__module__}."
        f"{type(x).__qualname__}")


@contextmanager
def reopened(watcher: Any) -> Iterator[None]:
    """Inside a handler: function calls are intercepted again."""
    if isinstance(watcher, _Replaced):
        watcher.busy = False
        try:
            yield
        finally:
            watcher.busy = True
    else:
        with watcher:
            yield
