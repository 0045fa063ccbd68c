"""Where a call of a public function, method or operator is handed on: to a mode, or to a type with __torch_function__.

Every public callable asks one question first: `modes.dispatching` in operators, the same in C for functions
(`_kernels/_fast.c`, Function), which look at the types of their arguments, too, since a type that is no Tensor tells
nobody that it takes part.  The answer is no in almost every program; else `ask` decides for the running thread.
"""
from __future__ import annotations

import weakref
from typing import Any, Final, Optional

from mypy_extensions import i64

from .. import _kernels
from .modes import State, claiming, modes, state

# How a function of PyTorch's tells of a call: which arguments can take it over, what `types`, `args` and `kwargs` are.
PARSED: Final = 0           # C with an argument parser: as called; types that take part, Tensor not among them
SELF: Final = 1             # C without arguments: the type of self, whatever it is
PYTHON: Final = 2           # Python: what has a default goes by its name; Tensor is among the types
FACTORY: Final = 3          # modes alone
FIRST: Final = 4            # as PARSED, but where self takes part nobody else is looked at
OWN: Final = 5              # types alone, and of self only: a mode sees what is called inside

# NOTE [Listener]
# `state().listener` hears every call of a public function, method, operator or property of its thread, after modes and types
# had their turn: listener.call(func, impl, args, kwargs) runs right before the implementation and must return what
# impl(*args, **kwargs) returns (kwargs may be None).  func is what __torch_function__ would be told, args and kwargs are as
# called.  Calls made inside an implementation are not heard, nor those that the listener makes itself; hooks and the user's
# own backward functions are heard, though a pass is an implementation.  Set it, then call `engage(state())`; the same to
# remove it.  A listener may have `aside()`: it is called before what it cannot follow begins, and then it stops listening.


def engage(it: State) -> None:
    """Call after changing the modes or the listener of `it`."""
    on = len(it.functions) > 0 or it.listener is not None
    if on != it.engaged:
        claiming.acquire()
        try:
            it.engaged = on
            modes.engaged += 1 if on else -1
            _refresh()
        finally:
            claiming.release()


def clear_way(it: State) -> None:
    """Function transforms, hooks of saved tensors and the like begin: who only compares calls (torch.compile) steps aside."""
    if it.listener is not None and hasattr(it.listener, "aside"):
        it.listener.aside()
        engage(it)


def _refresh() -> None:
    modes.dispatching = modes.engaged > 0 or modes.kinds > 0
    if _kernels.dispatching is not None:
        _kernels.dispatching(modes.engaged > 0)


_living: Final[dict[Any, Any]] = {}


def _gone(reference: Any) -> None:
    claiming.acquire()
    try:
        if _living.pop(reference, None) is not None:
            modes.kinds -= 1
            _refresh()
    finally:
        claiming.release()


def enrol(cls: Any) -> None:
    """A subclass of Tensor was made."""
    if takes_part(cls):
        claiming.acquire()
        try:
            _living[weakref.ref(cls, _gone)] = True
            modes.kinds += 1
            _refresh()
        finally:
            claiming.release()


class Parts:
    """What the interpreted layers supply."""

    def __init__(self) -> None:
        self.tensor: Any = None
        self.disabled: Any = None               # torch._C._disabled_torch_function_impl
        self.arrange: Any = None                # (func, impl, args, kwargs) -> args, kwargs of PYTHON
        self.plain: Any = None                  # set of types that have no __torch_function__, or Tensor's own
        self.set_grad: Any = None               # torch._C._set_grad_enabled
        self.nowrap: Any = None                 # set of functions whose results keep their type
        self.named: dict[str, Any] = {}         # attributes of Tensor that operators tell of
        self.level: Any = None                  # the mode that is a level of vmap, once there is one


parts: Final = Parts()


def takes_part(kind: Any) -> bool:
    found: Any = getattr(kind, "__torch_function__", None)
    return found is not None and found is not parts.disabled


def func_of(name: str) -> Any:
    """The attribute of Tensor that is told of."""
    found: Any = parts.named.get(name)
    if found is None:
        found = getattr(parts.tensor, name)
        parts.named[name] = found
    return found


def ask(func: Any, impl: Any, how: i64, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]], plain: bool = False) -> Any:
    """The result of the call: of a mode, of a type that takes part, or of `impl`.  plain: no type of an argument takes part."""
    it = state()
    if it.busy:
        return impl(*args) if kwargs is None else impl(*args, **kwargs)
    if it.skip:
        it.skip = False
        return perform(it, func, impl, args, kwargs)
    if plain and len(it.functions) == 0:
        return perform(it, func, impl, args, kwargs)
    if batching(it, how):
        return batched(it, func, args, kwargs)
    found = overloaded(it, how, args, kwargs)
    if found is None:
        return perform(it, func, impl, args, kwargs)
    return hand_over(it, func, impl, how, args, kwargs, found)


def operate(name: str, impl: Any, how: i64, a: Any, b: Any) -> Any:
    """An operator of two operands: who raises TypeError gives the other operand its turn."""
    it = state()
    if it.busy:
        return impl(a, b)
    args = (a, b)
    if it.skip:
        it.skip = False
        return perform(it, func_of(name), impl, args, None)
    if batching(it, how):
        return batched(it, func_of(name), args, None)
    found = overloaded(it, how, args, None)
    if found is None:
        return perform(it, func_of(name), impl, args, None)
    try:
        return hand_over(it, func_of(name), None, how, args, {} if how == PYTHON else None, found)
    except TypeError:
        return NotImplemented


def told(func: Any, relevant: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """ask, for a function in Python that hands on these arguments and looks at `relevant`; func calls it where busy."""
    it = state()
    if not it.skip and batching(it, PYTHON):
        return batched(it, func, args, kwargs)
    found = None if it.skip else overloaded(it, PYTHON, relevant, None)
    it.skip = False
    if found is None:
        return perform(it, func, func, args, kwargs)
    return hand_over(it, func, None, PYTHON, args, kwargs, found)


def alone(name: str, impl: Any, a: Any) -> Any:
    """An operator of one operand."""
    return ask(func_of(name), impl, SELF, (a,), None)


def perform(it: State, func: Any, impl: Any, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]]) -> Any:
    it.busy = True
    try:
        if it.listener is not None:
            return it.listener.call(func, impl, args, kwargs)
        return impl(*args) if kwargs is None else impl(*args, **kwargs)
    finally:
        it.busy = False


def batching(it: State, how: i64) -> bool:
    """Is a level of vmap the innermost mode?"""
    return len(it.functions) > 0 and type(it.functions[-1]) is parts.level and how != OWN and it.closed < 2


def batched(it: State, func: Any, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]]) -> Any:
    """The result of a call as the level of vmap makes it; it is off meanwhile."""
    level = it.functions.pop()
    try:
        return level.call(func, args, {} if kwargs is None else kwargs)
    finally:
        put_back(it, level)


def put_back(it: State, mode: Any) -> None:
    """The mode takes calls over again; one that began and ended meanwhile may have been taken for the last."""
    it.functions.append(mode)
    if not it.engaged:
        engage(it)


def overloaded(it: State, how: i64, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]]) -> Optional[list[Any]]:
    """The arguments whose types may take the call over; None where nobody is asked."""
    mode = len(it.functions) > 0 and it.closed < 2 and how != OWN
    if it.closed > 0 and not mode:
        return None
    found: list[Any] = []
    if how == SELF and mode:
        return list(args[:1])
    if how == SELF or how == FIRST or how == OWN:
        if len(args) > 0:
            consider(found, args[0], False)
        if how == FIRST and len(found) == 0:
            consider(found, args[1], False)
    elif how != FACTORY:
        ours = how == PYTHON
        for x in args:
            consider(found, x, ours)
        if kwargs is not None:
            for x in kwargs.values():
                consider(found, x, ours)
        if ours and not mode and len(found) == 1 and type(found[0]) is parts.tensor:
            return None
    if it.closed > 0 or (not mode and len(found) == 0):
        return [] if mode else None
    return found


def consider(found: list[Any], x: Any, ours: bool) -> None:
    """Put x in its place among `found`: one of each type, subclasses before their bases, else from left to right.

    ours: Tensor is a type like others
    """
    kind: Any = type(x)
    if kind in parts.plain:
        if not ours or kind is not parts.tensor:
            return
    elif kind is list or kind is tuple:
        for y in x:
            if type(y) not in parts.plain and type(y) is not list and type(y) is not tuple:
                consider(found, y, False)
        return
    elif not takes_part(kind):
        return
    at = len(found)
    for i in range(len(found)):
        had: Any = type(found[i])
        if had is kind:
            return
        if at == len(found) and issubclass(kind, had):
            at = i
    found.insert(at, x)


def foreign(x: Any) -> bool:
    """Is it, or has it among its elements, something whose type takes part?"""
    found: list[Any] = []
    consider(found, x, False)
    return len(found) > 0


def hand_over(
    it: State, func: Any, impl: Any, how: i64, args: tuple[Any, ...], kwargs: Optional[dict[str, Any]], found: list[Any],
) -> Any:
    if impl is not None and len(args) > 0 and not isinstance(args[0], parts.tensor) and of_tensor(func):
        raise TypeError(f"descriptor '{func.__name__}' for 'torch._C.TensorBase' objects doesn't apply to a "
                        f"'{type(args[0]).__name__}' object")
    types = tuple([type(x) for x in found])
    if how == PYTHON and impl is not None:
        args, kwargs = parts.arrange(func, impl, args, kwargs)
    elif how == OWN and kwargs is None:
        kwargs = {}
    mode: Any = None
    if len(it.functions) > 0 and it.closed < 2 and how != OWN:
        mode = it.functions.pop()
        try:
            check_mode(mode)
            got: Any = mode.__torch_function__(func, types, args, kwargs)
        finally:
            put_back(it, mode)
        if got is not NotImplemented:
            return got
    for x in found:
        got = x.__torch_function__(func, types, args, kwargs)
        if got is not NotImplemented:
            return got
    raise refusal(func, how, mode, types)


def of_tensor(func: Any) -> bool:
    name: str = getattr(func, "__qualname__", "")
    return name.startswith("Tensor.")


def check_mode(mode: Any) -> None:
    if getattr(mode.__torch_function__, "__self__", None) is type(mode):
        raise RuntimeError(
            "Defining your mode's `__torch_function__` as a classmethod is not supported, please make it a plain method")


def refusal(func: Any, how: i64, mode: Any, types: tuple[Any, ...]) -> Exception:
    """The error where all returned NotImplemented."""
    name = told_name(func, how)
    if how == PYTHON:
        return TypeError(f"no implementation found for '{name}' on types that implement __torch_function__: {list(types)}" + (
            "" if mode is None else f" nor in mode {mode}"))
    lines = [] if mode is None else [f"  - mode object {mode!r}\n"]
    for kind in types:
        lines.append(f"  - tensor subclass {kind!r}\n")
    return TypeError(f"Multiple dispatch failed for '{name}'; all __torch_function__ handlers returned NotImplemented:\n\n"
                     f"{''.join(lines)}\nFor more information, try re-running with TORCH_LOGS=not_implemented")


def told_name(func: Any, how: i64) -> str:
    """'torch.add', 'torch.Tensor.shape.__get__'"""
    owner: Any = getattr(func, "__self__", None)
    if owner is not None and hasattr(owner, "fget"):
        return f"torch.Tensor.{owner.fget.__name__}.{func.__name__}"
    name: str = getattr(func, "__name__", "function")
    module: Any = getattr(func, "__module__", None)
    if module is None or "Tensor" in getattr(func, "__qualname__", ""):
        return f"torch._tensor.{name}" if how == PYTHON else f"torch.Tensor.{name}"
    package, _, place = str(module).partition(".")
    if package not in ("retrograd", "torch"):
        return f"{module}.{name}"
    place = place if how == PYTHON else place.removesuffix(".functional")
    return f"torch.{place}.{name}" if place else f"torch.{name}"


def default(cls: Any, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
    """Tensor.__torch_function__: what `func` gives without it, as a tensor of cls."""
    for kind in types:
        if not issubclass(cls, kind):
            return NotImplemented
    it = state()
    had = it.closed
    it.closed = max(had, 1)
    try:
        got: Any = func(*args) if kwargs is None else func(*args, **kwargs)
        if func in parts.nowrap:
            return got
        return convert(got, cls)
    finally:
        it.closed = had


def convert(got: Any, cls: Any) -> Any:
    if cls is parts.tensor:
        return got
    if isinstance(got, parts.tensor):
        return got if isinstance(got, cls) else got.as_subclass(cls)
    if isinstance(got, (tuple, list)):
        return type(got)([convert(x, cls) for x in got])
    return got
