"""torch._dynamo, as far as programs name it: what torch.compiler has, under older names, and marks that change nothing."""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from retrograd._compile import backends
from retrograd._compile.wrapper import Wrapper
from retrograd._missing import late_names
from retrograd.compiler import (
    allow_in_graph,
    assume_constant_result,
    compile,
    disable,
    is_compiling,
    list_backends,
    reset,
    set_stance,
    substitute_in_graph,
)

from . import config, exc
from .eval_frame import OptimizedModule

__all__ = [
    "ExplainOutput", "OptimizedModule", "allow_in_graph", "assume_constant_result", "config", "disable",
    "disallow_in_graph", "exc", "explain", "forbid_in_graph", "graph_break", "is_compiling", "list_backends",
    "lookup_backend", "mark_dynamic", "mark_static", "mark_static_address", "maybe_mark_dynamic", "nonstrict_trace",
    "optimize", "optimize_assert", "register_backend", "reset", "reset_code_caches", "run", "set_stance",
    "substitute_in_graph",
]
late_names(__name__)


def optimize(backend: Any = "inductor", *, nopython: bool = False, error_on_graph_break: bool | None = None, guards: Any = None,
             disable: bool = False, dynamic: bool | None = None, **kwargs: Any) -> Callable[[Any], Any]:
    """A decorator: torch.compile, as it was called before."""
    return compile(backend=backend, fullgraph=nopython, dynamic=dynamic, disable=disable)


def optimize_assert(backend: Any, **kwargs: Any) -> Callable[[Any], Any]:
    """optimize(nopython=True)."""
    return optimize(backend, nopython=True)


def run(fn: Any = None) -> Any:
    """fn itself: what is compiled stays so."""
    return fn


class ExplainOutput:
    """What explain() found.

    compiled   explain() of the compiled function
    break_reasons, graph_break_count   why calls ran eagerly, and how many reasons
    """

    def __init__(self, compiled: str, reasons: list[str]) -> None:
        self.compiled, self.break_reasons = compiled, reasons
        self.graph_break_count = len(reasons)

    def __str__(self) -> str:
        return self.compiled


def explain(f: Callable[..., Any], *extra_args: Any, **extra_kwargs: Any) -> Any:
    """explain(f)(*args): call it, compiled, and say what that does."""
    def inner(*args: Any, **kwargs: Any) -> ExplainOutput:
        made = compile(f)
        for _ in range(3):
            made(*args, **kwargs)
        call: Wrapper = made.__dict__["forward"] if isinstance(made, OptimizedModule) else made
        return ExplainOutput(call.explain(), list(call.reasons))
    return inner(*extra_args, **extra_kwargs) if extra_args or extra_kwargs else inner


def lookup_backend(backend: Any) -> Any:
    """backend itself; InvalidBackend for a name that nobody knows."""
    if not backends.known(backend):
        raise exc.InvalidBackend(backend)
    return backend


def register_backend(compiler_fn: Any = None, name: str | None = None, tags: tuple[str, ...] = ()) -> Any:
    """compiler_fn itself, known by its name, too."""
    if compiler_fn is None:
        return lambda fn: register_backend(fn, name, tags)
    backends.names.add(name or compiler_fn.__name__)
    return compiler_fn


def disallow_in_graph(fn: Any) -> Any:
    """fn itself."""
    return fn


forbid_in_graph = nonstrict_trace = disallow_in_graph


def graph_break(msg: str = "") -> None:
    """Nothing."""


def mark_dynamic(t: Any, index: Any, **kwargs: Any) -> None:
    """Nothing: there is a plan for each size."""


mark_static = mark_static_address = maybe_mark_dynamic = mark_dynamic


def reset_code_caches() -> None:
    """Forget all plans."""
    reset()
