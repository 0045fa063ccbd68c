"""torch.jit: trace makes graphs, which can be saved and loaded; what script marks runs as Python runs it, without a compiler."""
from __future__ import annotations

import builtins
import sys
import warnings
from collections.abc import Callable
from functools import partial
from types import UnionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Union, get_args, get_origin

from retrograd._missing import late_names
from retrograd._missing.forwarded import found
from retrograd.futures import Future
from retrograd.nn.module import Module

__all__ = [
    "Attribute", "Error", "Final", "Future", "ScriptFunction", "ScriptModule", "TopLevelTracedModule", "TracedModule",
    "TracerWarning", "annotate", "enable_onednn_fusion", "export", "fork", "freeze", "ignore", "interface", "is_scripting",
    "is_tracing", "isinstance", "load", "onednn_fusion_enabled", "optimize_for_inference", "save", "script",
    "script_if_tracing", "set_fusion_strategy", "strict_fusion", "trace", "trace_module", "unused", "wait",
]
if TYPE_CHECKING:
    from retrograd._packages.jit._traced import (
        ScriptFunction,
        TopLevelTracedModule,
        TracedModule,
        freeze,
        load,
        optimize_for_inference,
        save,
        trace,
        trace_module,
    )
STRATEGY = [("STATIC", 2), ("DYNAMIC", 10)]
TRACED = "ScriptFunction TopLevelTracedModule TracedModule freeze load optimize_for_inference save trace trace_module".split()
late_names(__name__, lazy=("annotations",), also={name: partial(found, "retrograd.jit._traced", name) for name in TRACED})


def _get_trace_graph(*args: Any, **kwargs: Any) -> Any:
    """(a graph of calls, the result), for counters of operations."""
    return found("retrograd.jit._graph", "_get_trace_graph")(*args, **kwargs)


def deprecated(name: str, instead: str = "torch.compile` or `torch.export") -> None:
    """PyTorch's warning, which, as there, Python shows only to those who ask for warnings about libraries."""
    text = f"Please switch to `{instead}`." if instead else "Please use `torch.compile` instead."
    warnings.warn(f"`torch.jit.{name}` is deprecated. {text}", DeprecationWarning, stacklevel=2)


class ScriptModule(Module):
    """A Module, as in PyTorch with PYTORCH_JIT=0: what script() gives back is none, but a program may derive from it."""

    def __init__(self, arg: Any = None) -> None:
        super().__init__()


class TracerWarning(Warning):
    """A trace fixes a value that the program computed."""


class TracingCheckError(Exception):
    """A program does something else when it is traced again."""


class Error(RuntimeError):
    """For programs that catch it: nothing is compiled, so it never comes."""


def script(obj: Any, optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """obj itself: a function, a class or a module."""
    deprecated("script")
    return obj


def interface(obj: Any) -> Any:
    """obj itself, a class.  RuntimeError for something else, and for a class derived from another than Module."""
    deprecated("interface", "")
    if not builtins.isinstance(obj, type):
        raise RuntimeError("interface must be applied to a class")
    if len(obj.mro()) > 2 and obj.__bases__ != (Module,):
        raise RuntimeError(
            "TorchScript interface does not support inheritance yet. Please directly inherit from 'object' or 'nn.Module'.")
    return obj


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """fn itself."""
    return fn


_script_if_tracing = script_if_tracing             # by these names torchvision and its like call them


def _overload_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """fn itself: the last definition of its name stays."""
    return fn


_overload = _overload_method


def export(fn: Callable[..., Any]) -> Callable[..., Any]:
    """fn itself."""
    return fn


def unused(fn: Callable[..., Any]) -> Callable[..., Any]:
    """fn itself."""
    return fn


def ignore(drop: Any = False, **kwargs: Any) -> Any:
    """The function that it decorates, itself; with `drop` or without.  RuntimeError for another argument."""
    if callable(drop):
        return drop
    if type(drop) is not bool:
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: fn


def annotate(the_type: Any, the_value: Any) -> Any:
    """the_value."""
    return the_value


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """Is torch.jit.trace running?"""
    traced = sys.modules.get("retrograd.jit._traced")
    return traced is not None and getattr(traced.TRACING, "on", False)


class Attribute(NamedTuple):
    """A value and its type, for a compiler; `value` is what counts here."""

    value: Any
    type: Any


def isinstance(obj: Any, target_type: Any) -> bool:
    """builtins.isinstance, in which a generic stands for its class, and a tuple for one of them."""
    kinds = target_type if type(target_type) in (tuple, list) else (target_type,)
    return any(_is(obj, get_origin(kind) or kind, get_args(kind)) for kind in kinds)


def _is(obj: Any, kind: Any, inside: tuple[Any, ...]) -> bool:
    if kind in (Union, UnionType):
        return isinstance(obj, inside)
    if not builtins.isinstance(obj, kind):
        return False
    if kind is dict and inside:
        return all(isinstance(k, inside[0]) and isinstance(v, inside[1]) for k, v in obj.items())
    if kind is tuple and inside and inside[-1] is not Ellipsis:
        return len(obj) == len(inside) and all(map(isinstance, obj, inside))
    return not inside or all(isinstance(x, inside[0]) for x in obj)


def fork(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Future[Any]:
    """func's result as a Future that is done: it runs at once."""
    deprecated("fork", "")
    done: Future[Any] = Future()
    done.set_result(func(*args, **kwargs))
    return done


def wait(future: Future[Any]) -> Any:
    """The result of fork."""
    deprecated("wait", "")
    return future.wait()


class strict_fusion:
    """Context without effect: nothing is fused by a compiler."""

    def __enter__(self) -> None:
        pass

    def __exit__(self, *_: Any) -> None:
        pass


def set_fusion_strategy(strategy: list[tuple[str, int]]) -> list[tuple[str, int]]:
    """The one before: nothing is fused by a compiler."""
    deprecated("set_fusion_strategy", "")
    before, STRATEGY[:] = list(STRATEGY), strategy
    return before


def enable_onednn_fusion(enabled: bool) -> None:
    """Accepted: nothing is fused by a compiler."""


def onednn_fusion_enabled() -> bool:
    """False."""
    return False
