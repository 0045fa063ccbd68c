"""torch.histogram and torch.histogramdd: counts (or sums of weights) in bins; without derivatives, as in PyTorch."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names
from .._engine.tensor import TensorBase
from .._rules import order
from .arguments import finish
from .results import named

ONE = named("histogram", "hist", "bin_edges")
ONE_OUT = named("histogram_out", "hist", "bin_edges")
MANY = named("histogramdd", "hist", "bin_edges")


def histogram(
    input: Any, bins: Any = 100, *, range: Any = None, weight: Any = None, density: bool = False, out: Any = None,
) -> Any:
    """(counts, edges) of all elements in `bins` equal parts of range (that of the data), or between the edges given.

    A bin holds its left edge, the last one both.  density: counts over their sum and the widths.
    """
    rows = input.array.reshape(-1, 1)
    w = None if weight is None else weight.array
    if w is not None and w.shape != input.array.shape:
        raise weight_error(rows.shape, w.shape)
    counts, edges = counted(rows, [bins], range, None if w is None else w.reshape(-1), density)
    found = [derived(y, input, "histogram") for y in (counts, edges[0])]
    if out is None:
        return ONE(found)
    return ONE_OUT([finish(y, into, "histogram", input) for y, into in zip(found, out, strict=True)])


def histogramdd(input: Any, bins: Any, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """(counts, edges of every dim) of the points in input's last dim.

    bins: how many in every dim, a list of how many, or the edges of every dim.   range: (low, high) of every dim, in a row
    """
    if input.array.ndim < 2:
        raise RuntimeError("torch.histogramdd: input tensor should have at least 2 dimensions")
    dims = input.array.shape[-1]
    if isinstance(bins, int):
        bins = [bins] * dims
    if len(bins) != dims:
        raise RuntimeError("histogramdd: The size of bins must be equal to the innermost dimension of the input.")
    w = None if weight is None else weight.array
    if w is not None and w.shape != input.array.shape[:-1]:
        raise weight_error(input.array.shape, w.shape)
    counts, edges = counted(input.array.reshape(-1, dims), list(bins), range, None if w is None else w.reshape(-1),
                            density)
    return MANY((derived(counts, input, "histogramdd"), tuple(derived(e, input, "histogramdd") for e in edges)))


def weight_error(have: Any, want: Any) -> Exception:
    return RuntimeError(
        "torch.histogramdd: if weight tensor is provided it should have the same shape as the input tensor excluding its "
        f"innermost dimension, but got input with shape {list(have)} and weight with shape {list(want)}")


def derived(y: Any, x: Any, name: str) -> Any:
    op = order.NotImplemented_(y)
    op.what = name
    return op.run(x)


def counted(rows: Any, bins: list[Any], range: Any, w: Any, density: bool) -> Any:
    """rows (N, D) -> counts and the edges of each dim, in rows' dtype"""
    dtype = rows.dtype
    if dtype.kind != "f" or dtype.itemsize < 4:
        raise NotImplementedError(f"\"histogramdd\" not implemented for '{names.SCALAR[dtype.name]}'")
    if w is not None and w.dtype != dtype:
        raise RuntimeError(
            "torch.histogramdd: if weight tensor is provided, input tensor and weight tensor should have the same dtype, but got "
            f"input(dtype={plain(dtype)}), and weight(dtype={plain(w.dtype)})")
    if range is not None and len(range) != 2 * len(bins):
        raise RuntimeError(f"torch.histogramdd: for a {len(bins)}-dimensional histogram range should have {2 * len(bins)} "
                           f"elements, but got {len(range)}")
    edges = [edges_of(rows[:, d], given, None if range is None else range[2 * d:2 * d + 2], d)
             for d, given in enumerate(bins)]
    inside = np.ones(len(rows), bool)
    at = []
    for d, e in enumerate(edges):
        v = rows[:, d]
        fits = (v >= e[0]) & (v <= e[-1])
        inside &= fits
        at.append(np.minimum(np.searchsorted(e, np.where(fits, v, e[0]), "right") - 1, len(e) - 2))
    sizes = tuple(len(e) - 1 for e in edges)
    counts = np.zeros(sizes, np.float64)
    np.add.at(counts, tuple(a[inside] for a in at), 1.0 if w is None else w[inside])
    if density:
        counts = counts / counts.sum()
        for d, e in enumerate(edges):
            counts = counts / np.diff(e).reshape([-1 if i == d else 1 for i in np.arange(len(edges))])
    return counts.astype(dtype), edges


def plain(dtype: Any) -> str:
    return {"float32": "float", "float64": "double"}.get(dtype.name, dtype.name)


def edges_of(values: Any, given: Any, span: Any, d: int) -> Any:
    dtype = values.dtype
    if isinstance(given, TensorBase):
        e = given.array
        if e.ndim != 1:
            raise RuntimeError("torch.histogramdd: bins tensor should have one dimension, but got "
                               f"{e.ndim} dimensions in the bins tensor for dimension {d}")
        if e.dtype != dtype:
            raise RuntimeError(
                "torch.histogramdd: input tensor and bins tensors should have the same dtype, but got input with dtype "
                f"{plain(dtype)} and bins for dimension {d} with dtype {plain(e.dtype)}")
        if not e.size:
            raise RuntimeError("torch.histogramdd: bins tensor should have at least 1 element, but got 0 elements in the bins "
                               f"tensor for dimension {d}")
        return np.array(e)
    if given <= 0:
        raise RuntimeError(f"torch.histogram(): bins must be > 0, but got {given} for dimension {d}")
    if span is not None:
        low, high = (float(v) for v in span)
    elif values.size:
        low, high = float(values.min()), float(values.max())
    else:
        low, high = 0.0, 1.0
    if not (np.isfinite(low) and np.isfinite(high)):
        raise RuntimeError(f"torch.histogramdd: dimension {d}'s range [{low:g}, {high:g}] is not finite")
    if low > high:
        raise RuntimeError(f"torch.histogramdd: min should not exceed max, but got min {low:g} max {high:g} for dimension {d}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, given + 1).astype(dtype)
