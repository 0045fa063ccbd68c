"""Names of torch's that are about its compilers, devices and build, with what they mean on numbers and on a CPU."""
from __future__ import annotations

import math
from importlib import import_module
from typing import Any

from .._engine.modes import set_anomaly
from . import dtypes

__all__ = [
    "AcceleratorError", "OutOfMemoryError", "SymBool", "SymFloat", "SymInt", "compiled_with_cxx11_abi", "get_device_module",
    "has_lapack", "has_mkl", "has_openmp", "has_spectral", "init_num_threads", "is_vulkan_available", "set_anomaly_enabled",
    "sym_constrain_range", "sym_constrain_range_for_size", "sym_float", "sym_fresh_size", "sym_int", "sym_ite", "sym_max",
    "sym_min", "sym_not", "sym_sqrt", "sym_sum",
]
has_lapack = has_openmp = has_spectral = True
has_mkl = False


class SymInt:
    """An integer that a compiler does not know yet: nothing here gives one, and programs ask whether a size is one."""

    __module__ = "retrograd"


class SymFloat:
    """The same of a float."""

    __module__ = "retrograd"


class SymBool:
    """The same of a bool."""

    __module__ = "retrograd"


class OutOfMemoryError(RuntimeError):
    """What PyTorch raises where a GPU has no memory left: programs catch it."""

    __module__ = "retrograd"


class AcceleratorError(RuntimeError):
    """What PyTorch raises for an error of a GPU: programs catch it."""

    __module__ = "retrograd"


def sym_int(a: Any) -> int:
    """int(a)"""
    return int(a)


def sym_float(a: Any) -> float:
    """float(a)"""
    return float(a)


def sym_not(a: Any) -> bool:
    """not a"""
    return not a


def _common(a: Any, b: Any, found: Any) -> Any:
    """found, a float if one of both is."""
    return float(found) if isinstance(a, float) or isinstance(b, float) else found


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers a and b, of the wider of their types."""
    return _common(a, b, max(a, b))


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers a and b, of the wider of their types."""
    return _common(a, b, min(a, b))


def sym_sqrt(a: Any) -> float:
    """The square root of a number."""
    return math.sqrt(a)


def sym_sum(args: Any) -> Any:
    """The sum of numbers."""
    return sum(args)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """t if b else f, which are of one type."""
    if not isinstance(b, bool):
        raise AssertionError(f"expected SymBool or bool, got {type(b)}")
    if type(t) is not type(f):
        raise AssertionError(f"type mismatch: {type(t)} vs {type(f)}")
    return t if b else f


def sym_fresh_size(expr: Any) -> Any:
    """expr itself."""
    return expr


def sym_constrain_range(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """RuntimeError for a number, size, outside [min, max]."""
    low, high = -2**63 if min is None else min, 2**63 - 1 if max is None else max
    if not low <= size <= high:
        raise RuntimeError(f"Invalid value range for {size} between [{low}, {high}].")


def sym_constrain_range_for_size(size: Any, *, min: int | None = None, max: int | None = None) -> None:
    """sym_constrain_range(size, min=, max=) of a length."""
    sym_constrain_range(size, min=0 if min is None else min, max=max)


def set_anomaly_enabled(enabled: bool, check_nan: bool = True) -> None:
    """torch.autograd.set_detect_anomaly(enabled, check_nan)."""
    set_anomaly(enabled, check_nan)


def init_num_threads() -> None:
    """Nothing: the number of threads is what set_num_threads made it."""


def is_vulkan_available() -> bool:
    """False."""
    return False


def compiled_with_cxx11_abi() -> bool:
    """True, as PyTorch's own wheels."""
    return True


def get_device_module(device: Any = None) -> Any:
    """torch.cpu, or the module of another device that there is a module of."""
    kind = "cpu" if device is None else dtypes.device(device).type
    try:
        return import_module(f"{__name__.partition('.')[0]}.{kind}")
    except ImportError:
        raise RuntimeError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.") from None
