"""torch.jit, as far as it marks functions: there is no compiler, so what it marks runs as Python runs it.

What gives a program as data (trace, freeze, save, load) is not there.
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NoReturn

from retrograd._missing import late_names
from retrograd.nn.module import Module

__all__ = [
    "Final", "ScriptModule", "TracerWarning", "annotate", "export", "ignore", "is_scripting", "is_tracing", "script",
    "script_if_tracing", "unused",
]
late_names(__name__, lazy=("annotations",))


class ScriptModule(Module):
    """A Module, as in PyTorch with PYTORCH_JIT=0: what script() gives back is none, but a program may derive from it."""

    def __init__(self, arg: Any = None) -> None:
        super().__init__()


class TracerWarning(Warning):
    """For programs that filter it: nothing is traced, so it never comes."""


def script(obj: Any, optimize: None = None, _frames_up: int = 0, _rcb: Any = None, example_inputs: Any = None) -> Any:
    """obj itself: a function, a class or a module."""
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
    if not isinstance(drop, bool):
        raise RuntimeError(f"Argument to @torch.jit.ignore must be a bool or a function but got {drop}")
    return lambda fn: fn


def annotate(the_type: Any, the_value: Any) -> Any:
    """the_value."""
    return the_value


def is_scripting() -> bool:
    """False."""
    return False


def is_tracing() -> bool:
    """False."""
    return False


def _get_trace_graph(f: Any, args: Any = (), kwargs: Any = None, strict: bool = True, _force_outplace: bool = False,
                     return_inputs: bool = False, _return_inputs_states: bool = False) -> NoReturn:
    """NotImplementedError: torch.fx traces, and torch.utils.flop_counter counts."""
    raise NotImplementedError("torch.jit._get_trace_graph: functions run in Python, so there is no graph of TorchScript; "
                              "torch.fx.symbolic_trace makes graphs, torch.utils.flop_counter.FlopCounterMode counts operations")
