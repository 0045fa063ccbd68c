"""torch.compiler: functions stay what they are, unless torch.compile is asked to replay them without Python."""
from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

from retrograd._compile.reach import refusing
from retrograd._compile.run import LIMIT, Compiled, disabled
from retrograd._missing import late_names
from retrograd._tensor.settings import compile
from retrograd.nn.module import Module

__all__ = ["allow_in_graph", "compile", "disable", "is_compiling", "is_dynamo_compiling", "reset", "set_stance"]
late_names(__name__)

compiled: weakref.WeakSet[Compiled] = weakref.WeakSet()


def check_options(options: dict[str, Any]) -> None:
    """RuntimeError or ValueError for options that torch.compile does not know beside "python"."""
    for name, value in options.items():
        if name == "python":
            fits, wanted = value == "skip", '"skip"'
        elif name in ("check", "plans"):
            least = 0 if name == "check" else 1
            fits = type(value) is int and value >= least or (name == "check" and value is None)
            wanted = f"an int of at least {least}"
        else:
            raise RuntimeError(f"Unexpected optimization option {name}, known options are ['python', 'check', 'plans']")
        if not fits:
            raise ValueError(f"torch.compile: the option {name!r} must be {wanted}, got {value!r}")


def skipping(f: Any, options: dict[str, Any], full: bool) -> Any:
    """f, or a module, whose calls are replayed without Python."""
    if not callable(f):
        raise TypeError(f"torch.compile: expected a function or a module, got {type(f).__name__}")
    call = Compiled(f, options.get("check"), options.get("plans", LIMIT), full)
    compiled.add(call)
    return OptimizedModule(f, call) if isinstance(f, Module) else call


class OptimizedModule(Module):
    """A module whose calls are replayed; all else is that of the module itself."""

    def __init__(self, mod: Module, call: Compiled) -> None:
        super().__init__()
        self._orig_mod = mod
        object.__setattr__(self, "explain", call.explain)
        object.__setattr__(self, "_call", call)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The module's call."""
        return self.__dict__["_call"](*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        """That of the module."""
        return self._modules["_orig_mod"] if name == "_orig_mod" else getattr(self._modules["_orig_mod"], name)


def is_compiling() -> bool:
    """False: what is recorded runs as it does eagerly."""
    return False


def is_dynamo_compiling() -> bool:
    """False."""
    return False


def disable(fn: Callable[..., Any] | None = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """fn itself, which no plan contains: what calls it runs eagerly."""
    def marked(f: Any) -> Any:
        if isinstance(f, Compiled):
            return f.f
        refusing.add(f)
        return f
    return marked if fn is None else marked(fn)


def allow_in_graph(fn: Any) -> Any:
    """fn itself."""
    return fn


def reset() -> None:
    """Forget all plans."""
    for call in list(compiled):
        call.reset()


def set_stance(stance: str = "default", **kwargs: Any) -> None:
    """"force_eager": nothing is replayed; any other stance ends that."""
    disabled.on = stance == "force_eager"
