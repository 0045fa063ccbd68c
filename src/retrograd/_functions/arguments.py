"""Arguments of the public functions: checks in PyTorch's words, dims, out=."""
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names, promote, views
from .._engine.op import recording
from .._engine.tensor import TensorBase, wrap
from .._engine.views import OVERLAP, overlaps
from .._engine.warn import warn_discarded
from .._rules.index import check_number
from .._tensor import dtypes
from .outs import write_out as write_out

OPERANDS = (TensorBase, bool, int, float, complex, np.ndarray, np.generic)


def tensor(value: Any, function: str, name: str = "input", position: int = 1) -> TensorBase:
    """value, if it is a Tensor; else TypeError as PyTorch words it."""
    if isinstance(value, TensorBase):
        return value
    raise TypeError(
        f"{function}(): argument '{name}' (position {position}) must be Tensor, not {dtypes.typename(value)}")


def real_only(x: TensorBase, kernel: str) -> None:
    """NotImplementedError, as PyTorch's kernel words it, where x is complex."""
    if x.array.dtype.kind == "c":
        raise NotImplementedError(f"\"{kernel}\" not implemented for '{names.SCALAR[x.array.dtype.name]}'")


def operand(value: Any, function: str, name: str = "other", position: int = 2) -> Any:
    """A Tensor, a number, or a NumPy array, which counts as a Tensor."""
    if isinstance(value, (TensorBase, bool, int, float, complex)):
        return value
    if isinstance(value, np.generic):
        return promote.plain(value)
    if isinstance(value, np.ndarray):
        return wrap(dtypes.canonical(value))
    raise TypeError(
        f"{function}(): argument '{name}' (position {position}) must be Tensor, not {dtypes.typename(value)}")


def operands(input: Any, other: Any, function: str) -> tuple[Any, Any]:
    """Both operands of a function that takes a number for either; two numbers make a 0-dim Tensor of the first."""
    a, b = operand(input, function, "input", 1), operand(other, function)
    if not isinstance(a, TensorBase) and not isinstance(b, TensorBase):
        a = wrap(np.asarray(a, promote.number_dtype(a)))
    return a, b


def whole(value: Any, function: str, name: str, position: int = 1) -> int:
    """value, if it is an int; else TypeError."""
    if not isinstance(value, bool) and hasattr(value, "__index__"):
        return int(value)
    raise TypeError(
        f"{function}(): argument '{name}' (position {position}) must be int, not {dtypes.typename(value)}")


def flag(value: Any, function: str, name: str, position: int = 0) -> bool:
    """value, if it is a bool; else TypeError."""
    if isinstance(value, bool):
        return value
    place = f" (position {position})" if position else ""
    raise TypeError(f"{function}(): argument '{name}'{place} must be bool, not {dtypes.typename(value)}")


def refused(function: str, args: tuple[Any, ...], *forms: str) -> TypeError:
    """The error for arguments that fit none of a function's signatures."""
    got = ", ".join(dtypes.typename(a) for a in args)
    head = f"{function}() received an invalid combination of arguments - got ({got}), but expected "
    return TypeError(head + (forms[0] if len(forms) == 1 else "one of:\n" + "".join(f" * {f}\n" for f in forms)))


def kernel(name: str, x: TensorBase, kinds: str = "iub", but: Any = None) -> None:
    """NotImplementedError when x is of a kind of dtype (b, u, i) that PyTorch's kernel of that name does not take."""
    if x.array.dtype.kind in kinds and x.array.dtype != but:
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(x)}'")


def sized(x: TensorBase, dim: int) -> int:
    """The size of a dim that must be there: IndexError for a tensor of none."""
    if not x.array.ndim:
        raise IndexError(f"Dimension specified as {dim} but tensor has no dimensions")
    n: int = x.array.shape[dim_of(dim, x.array.ndim)]
    return n


def long(n: Any) -> int:
    """n; ValueError when it takes more than 64 bits."""
    if not -2**63 <= n < 2**63:
        raise ValueError("Overflow when unpacking long long")
    return int(n)                               # compiled code takes no NumPy ints


def dim_of(dim: Any, ndim: int) -> int:
    """One dim as a non-negative number; IndexError out of range.  A 0-dim tensor has dims -1 and 0."""
    n = ndim or 1
    if not -n <= dim < n:
        if not -2**63 <= dim < 2**63:
            raise ValueError("Overflow when unpacking long long")
        raise IndexError(f"Dimension out of range (expected to be in range of [{-n}, {n - 1}], but got {dim})")
    at = dim + n if dim < 0 else dim
    return int(at)


def dims_of(dim: Any, ndim: int) -> tuple[int, ...]:
    """None (all dims), a number or several, as sorted non-negative numbers; RuntimeError when one comes twice."""
    if dim is None:
        return tuple(range(ndim))
    if isinstance(dim, (int, np.integer)):
        at = dim_of(dim, ndim)
        return (at,) if ndim else ()
    found = [dim_of(d, ndim) for d in dim]
    if len(set(found)) < len(found):
        twice = next(d for d in found if found.count(d) > 1)
        raise RuntimeError(f"dim {twice} appears multiple times in the list of dims")
    if not ndim:
        return ()
    return tuple(sorted(found)) or tuple(range(ndim))


def aliased(f: Callable[..., Any]) -> Callable[..., Any]:
    """Accept NumPy's axis= and keepdims= for dim= and keepdim=, as PyTorch does."""
    @functools.wraps(f)
    def call(*args: Any, **kwargs: Any) -> Any:
        if kwargs:
            if "axis" in kwargs:
                kwargs["dim"] = kwargs.pop("axis")
            if "keepdims" in kwargs:
                kwargs["keepdim"] = kwargs.pop("keepdims")
        return f(*args, **kwargs)
    return call


def scalar_name(x: TensorBase) -> str:
    """Float, Long, ... as PyTorch's errors say."""
    return dtypes.of(x.array.dtype).scalar


def is_float(x: TensorBase) -> bool:
    return x.array.dtype.kind in "fcV"


def in_dtype(x: TensorBase, dtype: Any, function: str) -> Any:
    """The NumPy dtype asked for, or None when it is x's own."""
    if dtype is None:
        return None
    want = dtypes.to_numpy(dtype, function)
    if want.kind in "iub" and recording(x):
        raise RuntimeError(f"Autograd not support dtype: {names.SCALAR[want.name]}")
    warn_discarded(x.array.dtype, want)
    return None if want == x.array.dtype and x.array.dtype.kind in "fcV" else want


DOUBLE = np.dtype(np.float64)


def real_number(value: Any, dtype: Any) -> Any:
    """value; its real part where it is complex and dtype is not.  RuntimeError where that is not all of it."""
    if not isinstance(value, complex) or dtype.kind in "cb":
        return value
    check_number(value, dtype)
    return value.real


def is_int(value: Any, kinds: str = "iu") -> bool:
    """May it stand for an int?  A tensor of one int, a NumPy int, a 0-dim array of one; no bool."""
    if isinstance(value, (bool, np.bool_)):
        return False
    if isinstance(value, TensorBase):
        return value.array.dtype.kind in kinds and value.array.size == 1
    if isinstance(value, np.ndarray):
        return not value.ndim and value.dtype.kind in "iu"
    return hasattr(type(value), "__index__")


def integer(value: Any, function: str, name: str = "dim", position: int = 0) -> int:
    """value as an int; TypeError for anything else.  `position`: 0 where it is usually given by name."""
    if not is_int(value):
        place = f" (position {position})" if position else ""
        raise TypeError(f"{function}(): argument '{name}'{place} must be int, not {dtypes.typename(value)}")
    return int(value)


def dim_in(dim: Any, x: TensorBase, function: str, name: str = "dim", position: int = 0, more: int = 0) -> int:
    """dim as a non-negative number, checked against x (with `more` dims)."""
    return dim_of(dim if type(dim) is int else integer(dim, function, name, position), x.array.ndim + more)


def dims_in(dim: Any, x: TensorBase, function: str) -> tuple[int, ...]:
    """dim, a number or several or None for all, as sorted non-negative numbers."""
    if dim is not None and not isinstance(dim, (tuple, list)) and not is_int(dim):
        raise TypeError(f"{function}(): argument 'dim' must be tuple of ints, not {dtypes.typename(dim)}")
    return dims_of(dim, x.array.ndim)


def separate(x: TensorBase, *others: Any, once: bool = False) -> None:
    """RuntimeError when one of the others, which an edit of x reads, is x or shows some of its memory (both without gaps).

    once: and when x shows an element several times.
    """
    a = x.array
    if once and 0 in a.strides and a.size and overlaps(a.shape, a.strides):
        raise RuntimeError(OVERLAP)
    for y in others:
        if isinstance(y, TensorBase):
            views.separate(x, y)


def read_first(x: TensorBase, value: Any) -> Any:
    """value, or a copy of it where it shows memory of x: for edits of x that read all of it before they write."""
    shares = isinstance(value, TensorBase) and value is not x and x.version is not None and value.version is x.version
    return value.clone() if shares else value


def shape_of(sizes: tuple[Any, ...]) -> tuple[int, ...]:
    """`f(2, 3)`, `f((2, 3))`, `f([2, 3])`, `f(torch.Size(..))` -> (2, 3)"""
    if len(sizes) == 1 and isinstance(sizes[0], (tuple, list)):
        sizes = tuple(sizes[0])
    return tuple(int(n) for n in sizes)


def finish(y: Any, out: Any, function: str, *inputs: Any) -> Any:
    """y, or `out` with y written into it (out= of PyTorch: resized if need be, no gradients)."""
    return y if out is None else write_out(y, out, function, *inputs)
