"""Switches that programs set at their start.  Those that would change nothing here are kept, so that they can be read back.

Nothing in retrograd is nondeterministic on one machine, and one device computes everything.
"""
from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

from .._engine.warn import said, warn_once
from . import dtypes

__all__ = [
    "are_deterministic_algorithms_enabled", "compile", "get_default_device", "get_deterministic_debug_mode",
    "get_float32_matmul_precision", "get_num_interop_threads", "is_deterministic_algorithms_warn_only_enabled",
    "is_warn_always_enabled", "set_default_device", "set_default_tensor_type", "set_deterministic_debug_mode",
    "set_float32_matmul_precision", "set_flush_denormal", "set_num_interop_threads", "set_warn_always",
    "use_deterministic_algorithms",
]


class Settings:
    """What was set."""

    interop = 1
    deterministic = warn_only = False
    precision = "highest"


class Devices(threading.local):
    """What set_default_device entered in this thread."""

    def __init__(self) -> None:
        self.entered: list[Any] = []


chosen = Devices()


def positive(n: Any, function: str) -> int:
    if isinstance(n, bool) or not hasattr(n, "__index__"):
        raise TypeError(f"{function} expects an int, but got {dtypes.typename(n)}")
    if int(n) <= 0:
        raise RuntimeError(f"{function} expects a positive integer")
    return int(n)


def set_num_interop_threads(int: Any) -> None:
    """int is kept; operations run one after the other."""
    Settings.interop = positive(int, "set_num_interop_threads")


def get_num_interop_threads() -> int:
    """What set_num_interop_threads was given."""
    return Settings.interop


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """mode and warn_only are kept: there are no other algorithms."""
    if not isinstance(mode, bool):
        raise TypeError(f"_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}")
    Settings.deterministic, Settings.warn_only = mode, bool(warn_only)


def are_deterministic_algorithms_enabled() -> bool:
    """What use_deterministic_algorithms was given."""
    return Settings.deterministic


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """What use_deterministic_algorithms was given as warn_only."""
    return Settings.warn_only


DEBUG = ("default", "warn", "error")


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """use_deterministic_algorithms by debug_mode, a number or name: 0 "default", 1 "warn", 2 "error"."""
    if isinstance(debug_mode, str):
        if debug_mode not in DEBUG:
            raise RuntimeError("invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got "
                               f"{debug_mode}")
        debug_mode = DEBUG.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    use_deterministic_algorithms(debug_mode > 0, warn_only=debug_mode == 1)


def get_deterministic_debug_mode() -> int:
    """0, 1 or 2: see set_deterministic_debug_mode."""
    return (1 if Settings.warn_only else 2) if Settings.deterministic else 0


def set_float32_matmul_precision(precision: str) -> None:
    """precision is kept: matrix products of float32 are always computed in float32."""
    if precision not in ("highest", "high", "medium"):
        raise RuntimeError(f"{precision} is not one of 'highest', 'high', or 'medium'")
    Settings.precision = precision


def get_float32_matmul_precision() -> str:
    """What set_float32_matmul_precision was given."""
    return Settings.precision


def set_flush_denormal(mode: bool) -> bool:
    """False, whatever mode is: tiny numbers cannot be flushed to zero here."""
    return False


def set_warn_always(b: bool) -> None:
    """b is kept: our warnings come as often as Python's filters let them."""
    said.always = bool(b)


def is_warn_always_enabled() -> bool:
    """What set_warn_always was given."""
    return said.always


def set_default_device(device: Any) -> None:
    """Where factories make their tensors from here on: the CPU, which None means, too, or "meta".  RuntimeError for another."""
    on_meta = dtypes.on_meta(device)
    if not on_meta:
        dtypes.check_device(device)
    while chosen.entered:
        chosen.entered.pop().__exit__(None, None, None)
    if on_meta:
        chosen.entered.append(dtypes.device(device).__enter__())


def get_default_device() -> dtypes.device:
    """That of the innermost `with torch.device(...)`, else what was set, else the CPU."""
    return dtypes.entered()


def set_default_tensor_type(t: Any) -> None:
    """Old form of set_default_dtype: t is torch.FloatTensor, torch.DoubleTensor, ... or the name of one."""
    warn_once(
        "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() and "
        "torch.set_default_device() as alternatives.")
    kinds = {"Float": dtypes.float32, "Double": dtypes.float64, "Half": dtypes.float16, "BFloat16": dtypes.bfloat16}
    name = t.rpartition(".")[2] if isinstance(t, str) else getattr(t, "__name__", "")
    found = kinds.get(name.removesuffix("Tensor"))
    if ".cuda" in (t if isinstance(t, str) else getattr(t, "__module__", "")):
        raise TypeError(f"type torch.cuda.{name} not available. Torch not compiled with CUDA enabled.")
    if found is None:
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    dtypes.set_default_dtype(found)


def compile(model: Callable[..., Any] | None = None, *, fullgraph: bool = False, dynamic: bool | None = None,
            backend: Any = None, mode: str | None = None, options: Any = None, name: str | None = None,
            disable: bool = False, recompile_limit: int | None = None, isolate_recompiles: bool = False,
            shapes_spec: Any = None) -> Any:
    """model, whose calls do what a recorded one did: docs/compile.md.

    mode       "reduce-overhead": calls are replayed without Python wherever that gives the same
    options    python   "skip": the same
               check    replays that run eagerly, too, and are compared: every n-th, 0 for none (by default 1, 2, 4, 8, ...)
               plans    how many variants are kept (8)
    fullgraph  RuntimeError, with the reason, instead of an eager run

    Usable as a decorator, with or without arguments.  `explain()` of the result says what it does.  disable=True gives
    model itself; recompile_limit is another name of the option plans.  dynamic, backend (one that is known), name,
    isolate_recompiles and shapes_spec change nothing.
    """
    if mode is not None and options is not None:
        raise RuntimeError("Either mode or options can be specified, but both can't be specified at the same time.")
    if options is not None and not isinstance(options, dict):
        raise TypeError(f"compile(): argument 'options' must be dict, not {type(options).__name__}")
    from ..compiler import maker
    made = (lambda f: f) if disable else maker(backend, mode, options, fullgraph, dynamic, recompile_limit)
    return made if model is None else made(model)
