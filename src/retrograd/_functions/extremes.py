"""What order decides: torch.max, torch.argmin, torch.median, torch.quantile, ... and the methods of the same names.

q               shares of the elements, in [0, 1]: a number or a 1-dim tensor
interpolation   what lies between two elements: 'linear', 'lower', 'higher', 'midpoint' or 'nearest'
"""
from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wrap
from .._rules import choose, extremes, gather, order, scan, shape
from .._rules.binary import LerpBackward1
from .arguments import aliased, dim_in, dim_of, dims_in, finish, kernel, real_only, refused, tensor
from .results import AMINMAX, pair


def some(x: TensorBase, dim: int, function: str) -> int:
    """dim, checked; IndexError when there is nothing to choose from along it."""
    at = dim_in(dim, x, function)
    if x.array.ndim and x.array.shape[at] == 0:
        raise IndexError(f"{function}(): Expected reduction dim {dim} to have non-zero size.")
    return at


# Extremes

def specified(x: TensorBase, name: str) -> None:
    """RuntimeError where all of nothing is to be reduced."""
    if not x.array.size:
        raise RuntimeError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim "
                           "with the 'dim' argument.")


def extreme(name: str, op: Any, whole: Callable[[Any], Any], two: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def f(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
        other = dim if isinstance(dim, TensorBase) else other
        if other is not None:
            if input.array.dtype.kind == "c" or other.array.dtype.kind == "c":
                raise RuntimeError(f"{name}imum not implemented for complex tensors.")
            return two(input, other)
        if dim is not None:
            made = op(some(input, dim_of(dim, input.array.ndim), name), keepdim)
            if input.array.dtype.kind == "c":
                raise RuntimeError(f"{name}(): does not support complex input")
            values = made.run(input)
            return pair(name, values, made)
        specified(input, name)
        real_only(input, f"{name}_all")
        return whole(input)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = (
        f"{name}(input): the {name}imum of all elements, ties sharing the gradient.\n\n"
        f"    {name}(input, dim, keepdim=False): named tuple (values, indices).   {name}(input, other): elementwise.\n"
        f"    https://pytorch.org/docs/stable/generated/torch.{name}.html")
    return aliased(f)


max = extreme("max", extremes.MaxBackward0, extremes.max_all, choose.maximum)
min = extreme("min", extremes.MinBackward0, extremes.min_all, choose.minimum)


def extreme_dims(name: str, op: Callable[..., Any]) -> Callable[..., Any]:
    def f(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Any:
        if not input.array.size:
            if dim is None or (isinstance(dim, (tuple, list)) and not dim):
                specified(input, name)
            for d in (dim,) if isinstance(dim, int) else dim:
                some(input, d, name)
        return op(input, dims_in(dim, input, name), keepdim)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The {name[1:]}imum over dims (all when empty); ties share the gradient."
    return aliased(f)


amax = extreme_dims("amax", extremes.amax)
amin = extreme_dims("amin", extremes.amin)


def aminmax(input: Any, *, dim: Any = None, keepdim: bool = False, out: Any = None) -> Any:
    """Named tuple (min, max), of all elements or along one dim."""
    if dim is None and not input.array.size:
        raise RuntimeError(
            "aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    if dim is not None:
        at = dim_of(dim, input.array.ndim)
        if input.array.ndim and not input.array.shape[at]:
            raise IndexError(f"aminmax: Expected reduction dim {at} to have non-zero size.")
        dim = at
    return AMINMAX(extremes.AminmaxBackward0(dim, keepdim).run(input))


def arg_extreme(name: str, how: Any) -> Callable[..., Any]:
    def f(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
        x = tensor(input, name)
        a = x.array
        if a.dtype.kind == "b":
            raise RuntimeError(f"{name}(): does not support bool input")
        if dim is None:
            if not a.size:
                raise IndexError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
            found = np.asarray(how(a), np.int64)
            return wrap(found.reshape((1,) * a.ndim) if keepdim else found)
        at = some(x, dim_of(dim, a.ndim), name)
        return wrap(np.asarray(how(a, at, keepdims=keepdim), np.int64) if a.ndim else np.zeros((), np.int64))
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"Index (int64) of the {name[3:]}imum, the first at a tie: into the flattened input, or along dim."
    return aliased(f)


argmax = arg_extreme("argmax", np.argmax)
argmin = arg_extreme("argmin", np.argmin)


def choice(name: str, op: Any, whole: Any, doc: str) -> Callable[..., Any]:
    def f(input: Any, dim: Any = None, keepdim: bool = False, *, out: Any = None) -> Any:
        x = tensor(input, name)
        if dim is None:
            if not x.array.size and x.array.dtype.kind == "b":         # nan as a bool
                return wrap(np.ones((), bool))
            kernel("median_cpu", x, "b")
            return whole(x)
        at = some(x, dim_in(dim, x, name), "median")
        kernel("median_out", x, "b")
        made = op(at, keepdim)
        values = made.run(x)
        return pair(name, values, made)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return aliased(f)


median = choice("median", extremes.MedianBackward1, extremes.median_all,
                "The lower of the two middle elements; with dim, named tuple (values, indices).  NaN when there "
                "is one.")
nanmedian = choice("nanmedian", extremes.NanmedianBackward1, extremes.nanmedian_all, "median of what is not NaN.")


@aliased
def mode(input: Any, dim: int = -1, keepdim: bool = False, *, out: Any = None) -> Any:
    """Named tuple (values, indices): the most frequent element along dim, the smallest at a tie, and where it is
    last.
    """
    made = extremes.ModeBackward0(some(input, dim_in(dim, input, "mode"), "mode"), keepdim)
    values = made.run(input)
    return pair("mode", values, made)


def record(name: str, op: Any, doc: str) -> Callable[..., Any]:
    def f(input: Any, dim: int, *, out: Any = None) -> Any:
        x = tensor(input, name)
        if not x.array.ndim and dim not in (0, -1):
            raise IndexError(f"{name}(): Expected reduction dim -1 or 0 for scalar but got {dim}")
        made = op(dim_in(dim, x, name) if x.array.size else 0)       # no dim counts where there is nothing
        values = made.run(x)
        return pair(name, values, made)
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return aliased(f)


cummax = record("cummax", scan.CummaxBackward0, "Named tuple (values, indices): the greatest so far along dim.")
cummin = record("cummin", scan.CumminBackward0, "Named tuple (values, indices): the smallest so far along dim.")


# Quantiles

def quantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear",
             out: Any = None) -> Any:
    """The q-quantiles (q in 0..1, a number or 1-dim tensor) of all elements or along dim; a tensor q adds a first
    dim.
    """
    return quantiles("quantile", input, q, dim, keepdim, interpolation, out)


def nanquantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear",
                out: Any = None) -> Any:
    """quantile of what is not NaN."""
    return quantiles("nanquantile", input, q, dim, keepdim, interpolation, out)


def quantiles(name: str, input: Any, q: Any, dim: Any, keepdim: bool, how: str, out: Any) -> Any:
    x = tensor(input, name)
    if not isinstance(q, (TensorBase, float, int)):
        form = 'int dim = None, bool keepdim = False, *, str interpolation = "linear")'
        raise refused(name, (x, q), f"(Tensor input, Tensor q, {form}", f"(Tensor input, float q, {form}")
    if isinstance(q, (float, int)) and not 0 <= q <= 1:
        raise RuntimeError(f"quantile() q must be in the range [0, 1] but got {q:g}")
    a = x.array
    if not a.size:
        raise RuntimeError("quantile() input tensor must be non-empty")
    if isinstance(q, TensorBase) and q.array.ndim > 1:
        raise RuntimeError("quantile() q must be a scalar or 1D tensor")
    if a.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise RuntimeError("quantile() input tensor must be either float or double dtype")
    if isinstance(q, TensorBase) and q.array.dtype != a.dtype:
        raise RuntimeError("quantile() q tensor must be same dtype as the input tensor")
    if how not in ("linear", "lower", "higher", "midpoint", "nearest"):
        raise RuntimeError(
            f"quantile() interpolation must be one of linear, lower, higher, midpoint or nearest, but got {how}")
    at = None if dim is None else dim_of(dim, a.ndim)
    qs = q.array.reshape(-1) if isinstance(q, TensorBase) else np.array([q], a.dtype)
    if builtins.any(not 0 <= v <= 1 for v in qs.tolist()):
        raise RuntimeError("quantile() q values must be in the range [0, 1]")
    rows = shape.flat(x) if at is None else x
    if at is not None and a.ndim > 1:
        rows = shape.transpose(shape.unsqueeze(x, a.ndim), at, a.ndim)
    if not rows.array.ndim:
        rows = shape.reshape(rows, (1,))
    ranked = order.SortBackward0(rows.array.ndim - 1).run(rows)
    n = ranked.array.shape[-1]
    fine = (~np.isnan(ranked.array)).sum(-1, keepdims=True)
    if name == "nanquantile":
        rank = np.maximum(qs * (fine - 1).astype(a.dtype), 0)
    else:
        rank = np.where(fine < n, a.dtype.type(n - 1), qs * a.dtype.type(n - 1))
    rank = rank.astype(a.dtype)
    weighed = None                                                  # q as what the weights are made of
    if how == "linear" and isinstance(q, TensorBase) and q.rg:
        weighed = shape.reshape(q, (1,)) if not q.array.ndim else q
        if name == "nanquantile":
            weighed = choose.masked_fill(weighed * np.asarray(fine - 1, a.dtype), qs * (fine - 1) < 0, 0)
        else:
            weighed = choose.masked_fill(weighed * float(n - 1) + np.zeros(rank.shape, a.dtype), fine < n, n - 1)
    if how == "lower":
        rank = np.floor(rank)
    elif how == "higher":
        rank = np.ceil(rank)
    elif how == "nearest":
        rank = np.rint(rank)
    last = ranked.array.ndim - 1
    below = rank.astype(np.int64)
    y = gather.gather(ranked, last, below)
    if how in ("linear", "midpoint"):
        above = gather.gather(ranked, last, np.ceil(rank).astype(np.int64))
        part: Any = np.full_like(rank, 0.5) if how == "midpoint" else rank - np.floor(rank)
        y = LerpBackward1().run([y, above, part if weighed is None else weighed - np.floor(rank)])
    if at is None or a.ndim < 2:
        y = shape.reshape(y, ((1,) * a.ndim if keepdim else ()) + qs.shape)
    elif not keepdim:                                               # (..., 1 at `at`, ..., q)
        y = shape.SqueezeBackward4(at).run(y)
    last = y.array.ndim - 1
    if isinstance(q, TensorBase) and q.array.ndim:
        y = shape.transpose(shape.unsqueeze(y, 0), 0, last + 1)     # (q, ..., 1)
        last += 1
    y = shape.SqueezeBackward4(last).run(y)
    return finish(y, out, name, x)
