"""The arguments of to(): of a tensor, of a module, of a packed sequence."""
from __future__ import annotations

from typing import Any

from .._engine.tensor import TensorBase
from . import dtypes

TO = (
    "(torch.device device = None, torch.dtype dtype = None, bool non_blocking = False, bool copy = False, *, "
    "torch.memory_format memory_format = None)",
    "(torch.dtype dtype, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)",
    "(Tensor tensor, bool non_blocking = False, bool copy = False, *, torch.memory_format memory_format = None)")


def conversion(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Any, bool]:
    """(dtype or None, copy) of a call of to().  TypeError for arguments that fit none of its forms."""
    first = args[0] if args else None
    if len(args) == 1 and not kwargs:
        if isinstance(first, dtypes.dtype):
            return first, False
        if isinstance(first, (str, dtypes.device)):
            dtypes.check_device(first)
            return None, False
    if isinstance(first, TensorBase) or "tensor" in kwargs:
        names = ["tensor", "non_blocking", "copy"]
    elif isinstance(first, (dtypes.dtype, type)):
        names = ["dtype", "non_blocking", "copy"]
    else:
        names = ["device", "dtype", "non_blocking", "copy"]
    given = dict(zip(names, args))
    fits = len(args) <= len(names) and not given.keys() & kwargs.keys()
    for name, value in [*given.items(), *kwargs.items()]:
        if name == "tensor":
            fits = fits and isinstance(value, TensorBase)
        elif name == "dtype":
            fits = fits and (value is None or isinstance(value, dtypes.dtype) or value in (float, int, bool))
        elif name == "device":
            fits = fits and (value is None or isinstance(value, (str, int, dtypes.device)))
        elif name in ("non_blocking", "copy"):
            fits = fits and isinstance(value, bool)
        else:
            fits = fits and name == "memory_format"
    if not fits:
        named = ", ".join(f"{name}={dtypes.typename(value)}" for name, value in kwargs.items())
        got = ", ".join([*(dtypes.typename(a) for a in args), *([named] if named else [])])
        if named and not args:
            got += ", "                         # as PyTorch prints it
        raise TypeError(
            f"to() received an invalid combination of arguments - got ({got}), but expected one of:\n"
            + "".join(f" * {form}\n" for form in TO))
    given.update(kwargs)
    if isinstance(given.get("device"), int):
        raise RuntimeError("Cannot access accelerator device when none is available.")
    dtypes.check_device(given.get("device"))
    dtype = given["tensor"].dtype if "tensor" in given else given.get("dtype")
    return dtype, given.get("copy", False)
