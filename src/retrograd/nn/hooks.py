"""Calling a module, and the hooks around the call.

    forward-pre hooks -> [boundary] -> forward -> forward hooks -> [boundary] -> legacy backward hooks
    global ones first at every stage; without hooks a call goes straight to forward

The boundary exists when there are full backward (-pre) hooks: see _rules/identity.py.
"""
from __future__ import annotations

import functools
import weakref
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .._engine.modes import modes
from .._engine.tensor import TensorBase
from .._engine.warn import warn
from .._rules.identity import Boundary
from ..utils.hooks import RemovableHandle, look, register
from ._explain import explain

Hook = Callable[..., Any]

# Hooks of every module.  _global_is_full_backward_hook is in modules/module.py, where programs set it.
_global_forward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_forward_hooks_with_kwargs: OrderedDict[int, bool] = OrderedDict()
_global_forward_hooks_always_called: OrderedDict[int, bool] = OrderedDict()
_global_backward_pre_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_backward_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_buffer_registration_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_module_registration_hooks: OrderedDict[int, Hook] = OrderedDict()
_global_parameter_registration_hooks: OrderedDict[int, Hook] = OrderedDict()

MIXED = (
    "Cannot use both regular backward hooks and full backward hooks {}. Please use only one of them."
)
SILENCED = (
    "{}module forward hook with ``always_call=True`` raised an exception that was silenced as another error was raised "
    "in forward: {}"
)
USE_FULL = "Please use register_full_backward_hook to get the documented behavior."
DEPRECATED = "is deprecated and will be removed in future versions. This hook will be missing"


class Calls:
    """The part of Module that is about calls and hooks."""

    __dict__: dict[str, Any]
    _parameters: dict[str, Any]
    _modules: dict[str, Any]
    _forward_hooks: OrderedDict[int, Hook]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _forward_pre_hooks: OrderedDict[int, Hook]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Hook]
    _backward_pre_hooks: OrderedDict[int, Hook]
    _is_full_backward_hook: bool | None

    if TYPE_CHECKING:
        forward: Callable[..., Any]             # each subclass has parameters of its own
    else:
        def forward(self, *input: Any) -> Any:
            """What the module computes: every subclass defines it."""
            raise NotImplementedError(f'Module [{type(self).__name__}] is missing the required "forward" function')

    _compiled_call_impl: Any = None             # Module.compile

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """forward, with the hooks around it."""
        own = self.__dict__
        try:
            if watcher is not None:
                return watcher(self, args, kwargs)
            if (own["_forward_hooks"] or own["_forward_pre_hooks"] or own["_backward_hooks"]
                    or own["_backward_pre_hooks"] or _global_forward_hooks or _global_forward_pre_hooks
                    or _global_backward_hooks or _global_backward_pre_hooks):
                return hooked_call(self, own, args, kwargs)
            if kwargs:
                return self.forward(*args, **kwargs)
            return self.forward(*args)
        except Exception as error:
            if "_forward_hooks" not in own:
                raise AttributeError(
                    f"'{type(self).__name__}' object has no attribute '_forward_hooks'\n"
                    "Call super().__init__() first in its __init__.") from None
            explain(error, self, args)
            raise

    _call_impl = __call__

    def register_forward_pre_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False,
    ) -> RemovableHandle:
        """Call hook(module, args) before forward; what it returns (a tuple, or one value) replaces args.

        with_kwargs  hook(module, args, kwargs), which may return (args, kwargs)
        prepend      before the hooks registered so far; global ones always come first
        https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_pre_hook
        """
        handle = register(self._forward_pre_hooks, hook, "forward_pre", self, self._forward_pre_hooks_with_kwargs)
        if with_kwargs:
            self._forward_pre_hooks_with_kwargs[handle.id] = True
        if prepend:
            self._forward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_forward_hook(
        self, hook: Hook, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False,
    ) -> RemovableHandle:
        """Call hook(module, args, output) after forward; what it returns, unless None, replaces the output.

        with_kwargs  hook(module, args, kwargs, output)
        always_call  also when something raised; output is then None or what there was
        prepend      before the hooks registered so far; global ones always come first
        https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_forward_hook
        """
        handle = register(self._forward_hooks, hook, "forward", self, self._forward_hooks_with_kwargs,
                          self._forward_hooks_always_called)
        if with_kwargs:
            self._forward_hooks_with_kwargs[handle.id] = True
        if always_call:
            self._forward_hooks_always_called[handle.id] = True
        if prepend:
            self._forward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_pre_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_output) when the gradients of the outputs are known.

        grad_output  a tuple, one entry per output, None where no gradient came; a returned tuple replaces it
        prepend      before the hooks registered so far; global ones always come first
        https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_pre_hook
        """
        handle = register(self._backward_pre_hooks, hook, "backward_pre", self)
        if prepend:
            self._backward_pre_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_full_backward_hook(self, hook: Hook, prepend: bool = False) -> RemovableHandle:
        """Call hook(module, grad_input, grad_output) when the gradients of the inputs are known.

        grad_input   a tuple, one entry per positional argument, None for those that are no tensors; a returned tuple
                     replaces it (the gradients of the module's own parameters do not change)
        prepend      before the hooks registered so far; global ones always come first
        RuntimeError when the module has legacy backward hooks.
        https://pytorch.org/docs/stable/generated/torch.nn.Module.html#torch.nn.Module.register_full_backward_hook
        """
        if self._is_full_backward_hook is False:
            raise RuntimeError(MIXED.format("on a single Module"))
        self._is_full_backward_hook = True
        handle = register(self._backward_hooks, hook, "backward", self)
        if prepend:
            self._backward_hooks.move_to_end(handle.id, last=False)
        return handle

    def register_backward_hook(self, hook: Hook) -> RemovableHandle:
        """The legacy hook(module, grad_input, grad_output), whose gradients belong to the last node that forward made.

        Deprecated: use register_full_backward_hook.
        """
        if self._is_full_backward_hook is True:
            raise RuntimeError(MIXED.format("on a single Module"))
        self._is_full_backward_hook = False
        return register(self._backward_hooks, hook, "backward", self)


watcher: Any = None             # the microscope's: it gets every call in place of `unwatched`


def unwatched(module: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a module, hooks and all."""
    own = module.__dict__
    if (own["_forward_hooks"] or own["_forward_pre_hooks"] or own["_backward_hooks"] or own["_backward_pre_hooks"]
            or _global_forward_hooks or _global_forward_pre_hooks or _global_backward_hooks or _global_backward_pre_hooks):
        return hooked_call(module, own, args, kwargs)
    return module.forward(*args, **kwargs)


def hooked_call(module: Any, own: dict[str, Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A call of a module when it, or every module, has hooks.  `own` is module.__dict__."""
    result: Any = None
    called: set[int] = set()                    # the always_call hooks that ran
    try:
        boundary: Boundary | None = None
        legacy: list[Hook] = []
        if (own["_backward_hooks"] or own["_backward_pre_hooks"] or _global_backward_hooks
                or _global_backward_pre_hooks):
            before = list(own["_backward_pre_hooks"].values())
            if _global_backward_pre_hooks:
                before = [*_global_backward_pre_hooks.values(), *before]
            if own["_is_full_backward_hook"] is not False and not _global_backward_hooks:
                full = list(own["_backward_hooks"].values())
            else:
                full, legacy = backward_hooks(own)
            if full or before:
                boundary = Boundary(module, full, before)
        told: Any = modes.outs
        if told is not None and not told.mine():
            told = None
        if told is not None and (_global_forward_pre_hooks or own["_forward_pre_hooks"]):
            args, kwargs = told.before(module, args, kwargs)
        elif _global_forward_pre_hooks or own["_forward_pre_hooks_with_kwargs"]:
            args, kwargs = before_forward(module, args, kwargs)
        elif own["_forward_pre_hooks"]:
            for hook in list(own["_forward_pre_hooks"].values()):
                got = hook(module, args)
                if got is not None:
                    args = got if isinstance(got, tuple) else (got,)
        if boundary is not None:
            if modes.dispatching:
                look(args)
            args = boundary.enter(args)
        result = module.forward(*args, **kwargs)
        if told is not None and (_global_forward_hooks or own["_forward_hooks"]):
            result = told.after(module, args, kwargs, result, called)
        elif _global_forward_hooks or own["_forward_hooks_with_kwargs"] or own["_forward_hooks_always_called"]:
            result = after_forward(module, args, kwargs, result, called)
        elif own["_forward_hooks"]:
            for hook in list(own["_forward_hooks"].values()):
                got = hook(module, args, result)
                if got is not None:
                    result = got
        if boundary is not None:
            if not isinstance(result, (TensorBase, tuple)):
                warn(
                    "For backward hooks to be called, module output should be a Tensor or a tuple of Tensors but "
                    f"received {type(result)}")
            if modes.dispatching:
                look(result if isinstance(result, tuple) else (result,))
            result = boundary.leave(result)
        if legacy:
            add_legacy(module, legacy, args, result)
    except Exception:
        if _global_forward_hooks_always_called or own["_forward_hooks_always_called"]:
            call_always(module, own, args, kwargs, result, called)
        raise
    return result


def everywhere() -> bool:
    """Has every module hooks?"""
    return bool(_global_forward_hooks or _global_forward_pre_hooks or _global_backward_hooks or _global_backward_pre_hooks)


def forward_hooks(own: dict[str, Any]) -> list[tuple[int, Hook, bool, bool]]:
    """(id, hook, with_kwargs, always_call), global ones first."""
    found = [(id, hook, id in _global_forward_hooks_with_kwargs, id in _global_forward_hooks_always_called)
             for id, hook in _global_forward_hooks.items()]
    with_kwargs, always = own["_forward_hooks_with_kwargs"], own["_forward_hooks_always_called"]
    found.extend((id, hook, id in with_kwargs, id in always) for id, hook in own["_forward_hooks"].items())
    return found


def backward_hooks(own: dict[str, Any]) -> tuple[list[Hook], list[Hook]]:
    """Full and legacy backward hooks, global ones first."""
    mine = list(own["_backward_hooks"].values())
    full, legacy = (mine, []) if own["_is_full_backward_hook"] else ([], mine)
    if _global_backward_hooks:
        from .modules import module as home
        everywhere = list(_global_backward_hooks.values())
        if home._global_is_full_backward_hook:
            full = everywhere + full
        else:
            legacy = everywhere + legacy
    return full, legacy


def before_forward(module: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, dict[str, Any]]:
    """args and kwargs after the forward-pre hooks."""
    with_kwargs = module._forward_pre_hooks_with_kwargs
    for id, hook in [*_global_forward_pre_hooks.items(), *module._forward_pre_hooks.items()]:
        if id in with_kwargs:
            got = hook(module, args, kwargs)
            if got is None:
                continue
            if not isinstance(got, tuple) or len(got) != 2:
                raise RuntimeError(
                    f"forward pre-hook must return None or a tuple of (new_args, new_kwargs), but got {got}.")
            args, kwargs = got
        else:
            got = hook(module, args)
            if got is not None:
                args = got if isinstance(got, tuple) else (got,)
    return args, kwargs


def after_forward(module: Any, args: Any, kwargs: Any, result: Any, called: set[int]) -> Any:
    """The result after the forward hooks.  called: gets those that are always called"""
    for id, hook, with_kwargs, always in forward_hooks(module.__dict__):
        if always:
            called.add(id)
        got = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        if got is not None:
            result = got
    return result


def call_always(module: Any, own: Any, args: Any, kwargs: Any, result: Any, called: set[int]) -> None:
    """After an exception: the always_call hooks that did not run yet.  What they raise becomes a warning."""
    for id, hook, with_kwargs, always in forward_hooks(own):
        if not always or id in called:
            continue
        try:
            got = hook(module, args, kwargs, result) if with_kwargs else hook(module, args, result)
        except Exception as error:
            whose = "global " if id in _global_forward_hooks else ""
            warn(SILENCED.format(whose, error))
            continue
        if got is not None:
            result = got


# ---- legacy backward hooks


class Bound:
    """A hook that gets its module as first argument, which it does not keep alive."""

    def __init__(self, hook: Hook, module: Any = None) -> None:
        self.hook = hook
        functools.update_wrapper(self, hook)
        self.module = None if module is None else weakref.ref(module)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if self.module is None:
            return self.hook(*args, **kwargs)
        module = self.module()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return self.hook(module, *args, **kwargs)

    def __getstate__(self) -> Any:
        return {"hook": self.hook, "module": None if self.module is None else self.module()}

    def __setstate__(self, state: Any) -> None:
        self.__init__(state["hook"], state["module"])  # type: ignore[misc]


def add_legacy(module: Any, hooks: list[Hook], args: Any, result: Any) -> None:
    """Put legacy hooks on the node that made the first tensor of the result."""
    first = result
    while not isinstance(first, TensorBase):
        if isinstance(first, dict):
            first = next(v for v in first.values() if isinstance(v, TensorBase))
        else:
            first = first[0]
    node = first.grad_fn                        # type: ignore[attr-defined]
    if node is None:
        return
    for hook in hooks:
        node.register_hook(Bound(hook, module))
    problem = shortcoming(args, result, node)
    if problem:
        warn(problem, FutureWarning)


def shortcoming(args: Any, result: Any, node: Any) -> str | None:
    """What a legacy hook on `node` will not see."""
    if not isinstance(result, TensorBase):
        if not isinstance(result, tuple) or not all(isinstance(r, TensorBase) for r in result):
            return ("Using non-full backward hooks on a Module that does not return a single Tensor or a tuple of "
                    f"Tensors {DEPRECATED} some of the grad_output. {USE_FULL}")
    else:
        result = (result,)
    if not all(isinstance(a, TensorBase) for a in args):
        return ("Using non-full backward hooks on a Module that does not take as input a single Tensor or a tuple of "
                f"Tensors {DEPRECATED} some of the grad_input. {USE_FULL}")
    made_by = {r.grad_fn for r in result if r.grad_fn is not None}
    if not made_by or (len(made_by) == 1 and node not in made_by):
        return (f"Using a non-full backward hook when outputs are nested in python data structure {DEPRECATED} some "
                "grad_output.")
    if len(made_by) > 1:
        return ("Using a non-full backward hook when outputs are generated by different autograd Nodes "
                f"{DEPRECATED} some grad_output. {USE_FULL}")
    if {a.grad_fn for a in args if a.grad_fn is not None} != {to for to, _ in node.next_functions}:
        return ("Using a non-full backward hook when the forward contains multiple autograd Nodes "
                f"{DEPRECATED} some grad_input. {USE_FULL}")
    return None


# ---- hooks of every module


def register_module_forward_pre_hook(hook: Hook) -> RemovableHandle:
    """hook(module, args) before the forward of every module; may return new args."""
    return register(_global_forward_pre_hooks, hook, "forward_pre", None)


def register_module_forward_hook(
    hook: Hook, *, with_kwargs: bool = False, always_call: bool = False,
) -> RemovableHandle:
    """hook(module, args, output) after the forward of every module; may return another output."""
    handle = register(
        _global_forward_hooks, hook, "forward", None, _global_forward_hooks_with_kwargs, _global_forward_hooks_always_called)
    if with_kwargs:
        _global_forward_hooks_with_kwargs[handle.id] = True
    if always_call:
        _global_forward_hooks_always_called[handle.id] = True
    return handle


def register_module_full_backward_pre_hook(hook: Hook) -> RemovableHandle:
    """hook(module, grad_output) for every module; see Module.register_full_backward_pre_hook."""
    return register(_global_backward_pre_hooks, hook, "backward_pre", None)


def register_module_full_backward_hook(hook: Hook) -> RemovableHandle:
    """hook(module, grad_input, grad_output) for every module; see Module.register_full_backward_hook."""
    return add_global_backward(hook, True)


def register_module_backward_hook(hook: Hook) -> RemovableHandle:
    """The legacy kind, for every module.  Deprecated: use register_module_full_backward_hook."""
    return add_global_backward(hook, False)


def add_global_backward(hook: Hook, full: bool) -> RemovableHandle:
    from .modules import module as home
    if home._global_is_full_backward_hook is (not full):
        raise RuntimeError(MIXED.format("as a global Module hook"))
    home._global_is_full_backward_hook = full
    return register(_global_backward_hooks, hook, "backward", None)


def register_module_buffer_registration_hook(hook: Hook) -> RemovableHandle:
    """hook(module, name, buffer) whenever a buffer is registered; may return another."""
    return register(_global_buffer_registration_hooks, hook, "buffer_registration", None)


def register_module_module_registration_hook(hook: Hook) -> RemovableHandle:
    """hook(module, name, submodule) whenever a submodule is registered; may return another."""
    return register(_global_module_registration_hooks, hook, "module_registration", None)


def register_module_parameter_registration_hook(hook: Hook) -> RemovableHandle:
    """hook(module, name, parameter) whenever a parameter is registered; may return another."""
    return register(_global_parameter_registration_hooks, hook, "parameter_registration", None)


def registered(table: Any, module: Any, name: str, value: Any) -> Any:
    """`value`, as the registration hooks in `table` leave it."""
    for hook in list(table.values()):
        got = hook(module, name, value)
        if got is not None:
            value = got
    return value


def call_compiled(self: Calls, *args: Any, **kwargs: Any) -> Any:
    """forward, with the hooks around it."""
    call = self._compiled_call_impl
    return self._call_impl(*args, **kwargs) if call is None else call(*args, **kwargs)


call_compiled.__name__, call_compiled.__qualname__ = "__call__", "Calls.__call__"
