"""What is replaced while a program is traced, and put back afterwards: Module's calls and attributes, wrapped functions."""
from __future__ import annotations

import builtins
import functools
import inspect
from collections.abc import Callable
from typing import Any

from retrograd.fx.node import map_aggregate
from retrograd.fx.proxy import Proxy

ABSENT = object()
_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
_wrapped_methods_to_patch: list[tuple[type, str]] = []


class Patcher:
    """Replacements in dicts of globals and in classes, for the length of a with block."""

    def __init__(self) -> None:
        self.undo: list[Callable[[], None]] = []
        self.visited: set[int] = set()

    def __enter__(self) -> Patcher:
        return self

    def __exit__(self, *_: Any) -> None:
        while self.undo:
            self.undo.pop()()

    def globals(self, names: dict[str, Any], name: str, new: Any) -> None:
        """names[name] = new, unless that is a wrapper of ours already."""
        before = names.get(name, ABSENT)
        if before is ABSENT and not hasattr(builtins, name):
            raise KeyError(name)
        if getattr(before, "_fx_wrapper", False):
            return
        names[name] = new
        self.undo.append((lambda: names.__delitem__(name)) if before is ABSENT else lambda: names.__setitem__(name, before))

    def method(self, cls: type, name: str, new: Any) -> None:
        """cls.name = new"""
        before = vars(cls).get(name, ABSENT)
        setattr(cls, name, new)
        self.undo.append((lambda: delattr(cls, name)) if before is ABSENT else lambda: setattr(cls, name, before))

    def autowrap(self, names: dict[str, Any], functions: set[int]) -> None:
        """Wrap those of `functions` that these globals hold."""
        if id(names) in self.visited:
            return
        self.visited.add(id(names))
        for name, value in list(names.items()):
            if not name.startswith("_") and callable(value) and id(value) in functions:
                self.globals(names, name, wrapper(value))

    def wrapped(self) -> None:
        """Wrap what programs asked for by wrap()."""
        for (_, name), names in _wrapped_fns_to_patch.items():
            self.globals(names, name, wrapper(names[name] if name in names else getattr(builtins, name)))
        for cls, name in _wrapped_methods_to_patch:
            self.method(cls, name, wrapper(getattr(cls, name), name))


def find_proxy(*values: Any) -> Proxy | None:
    """A Proxy among the values or in their containers."""
    found: list[Proxy] = []
    map_aggregate(values, lambda x: found.append(x) if isinstance(x, Proxy) else None)
    return found[-1] if found else None


def wrapper(function: Any, method: str | None = None) -> Any:
    """A function that becomes a node when it is called with a Proxy, and calls `function` otherwise."""
    @functools.wraps(function)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        proxy = find_proxy(args, kwargs)
        if proxy is None:
            return function(*args, **kwargs)
        if method is not None:
            return proxy.tracer.create_proxy("call_method", method, args, kwargs)
        made = proxy.tracer.create_proxy("call_function", function, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made
    wrapped._fx_wrapper = True  # type: ignore[attr-defined]
    return wrapped


def wrap(fn_or_name: Any) -> Any:
    """Let a global function, or a builtin by its name, become a node as a whole; call it, or decorate, at a module's top level.

    https://pytorch.org/docs/stable/fx.html#torch.fx.wrap
    """
    if not callable(fn_or_name) and not isinstance(fn_or_name, str):
        raise RuntimeError("Unsupported type for global function! Must be either a callable or string name")
    here = inspect.currentframe()
    assert here is not None and here.f_back is not None
    frame = here.f_back
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError("wrap must be called at the top level of a module")
    name = fn_or_name.__name__ if callable(fn_or_name) else fn_or_name
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


wrap.__module__ = "retrograd.fx._symbolic_trace"        # which generated code that has leaves calls
