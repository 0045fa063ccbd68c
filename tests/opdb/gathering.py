"""Rows of reading and writing along a dim, and of sorting."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .table import ALL, INTS, WIDE, Make, Op, S, f32


def gathers(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, m.i(3, 2, 4))
    yield S(m.t(3, 4), 1, m.i(4, 3, 2))
    yield S(m.x(3, 4), -1, m.i(4, 2, 5))
    yield S(m.x(5), 0, m.i(5, 7))
    yield S(m.e(3, 4), 0, m.i(3, 1, 3))


def gathered(x: Any, dim: int, index: Any) -> Any:
    out = np.zeros(index.shape, x.dtype)
    for at in np.ndindex(*index.shape):
        where = list(at)
        where[dim] = index[at]
        out[at] = x[tuple(where)]
    return out


def scattered(mode: str) -> Callable[..., Any]:
    def ref(x: Any, dim: int, index: Any, src: Any, reduce: Any = None) -> Any:
        out = x.copy()
        for at in np.ndindex(*index.shape):
            where: Any = list(at)
            where[dim] = index[at]
            where = tuple(where)
            value = src[at] if isinstance(src, np.ndarray) else src
            how = reduce or mode
            out[where] = {"put": value, "add": out[where] + value, "sum": out[where] + value,
                "prod": out[where] * value,
                          "amax": max(out[where], value), "amin": min(out[where], value)}[how]
        return out

    return ref


def unique_rows(m: Make, n: int, k: int, columns: int) -> Any:
    return np.stack([m.distinct(n, k) for _ in range(columns)], 1)


def scatters(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, unique_rows(m, 3, 2, 4), m.x(2, 4))
    yield S(m.t(3, 4), 0, unique_rows(m, 3, 2, 3), m.x(2, 3))
    yield S(m.x(5), 0, m.distinct(5, 3), m.x(3))
    yield S(m.x(3, 4), 1, unique_rows(m, 4, 3, 2).T.copy(), m.t(2, 3))


def number_scatters(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, unique_rows(m, 3, 2, 4), 2)
    yield S(m.t(3, 4), -1, m.i(4, 3, 2), 1)


def adding_scatters(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, m.i(3, 2, 4), m.x(2, 4))
    yield S(m.t(3, 4), 1, m.i(4, 3, 6), m.x(3, 6))
    yield S(m.x(5), 0, m.i(5, 3), m.x(3))


def reducing_scatters(m: Make) -> Iterator[S]:
    for how in ("sum", "prod", "amax", "amin"):
        yield S(m.x(3, 4), 0, m.i(3, 2, 4), m.x(2, 4), reduce=how).by("ScatterReduceBackward0")


def index_refs(how: str) -> Callable[..., Any]:
    def ref(x: Any, dim: int, index: Any, src: Any, alpha: Any = 1) -> Any:
        out = np.moveaxis(x.copy(), dim, 0)
        part = np.moveaxis(src, dim, 0) if isinstance(src, np.ndarray) and src.ndim else src
        for k, at in enumerate(np.atleast_1d(index)):
            value = part[k] if isinstance(part, np.ndarray) and part.ndim else part
            out[at] = out[at] + alpha * value if how == "add" else value
        return np.moveaxis(out, 0, dim)

    return ref


def index_writes(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0, m.distinct(3, 2), m.x(2, 4))
    yield S(m.t(3, 4), -1, m.distinct(4, 2), m.x(3, 2))


def taken(x: Any, index: Any) -> Any:
    return x.reshape(-1)[index]


def put(x: Any, index: Any, src: Any, accumulate: bool = False) -> Any:
    out = x.copy()
    line = out.reshape(-1)
    for k, at in enumerate(index.ravel()):
        line[at] = line[at] + src.ravel()[k] if accumulate else src.ravel()[k]
    return line.reshape(x.shape)


def masked_scatter(x: Any, mask: Any, src: Any) -> Any:
    out = x.copy()
    at = np.broadcast_to(mask, x.shape)
    out[at] = src.ravel()[: at.sum()]
    return out


def placed(x: Any, b: Any, part: Any) -> Any:
    """x with b in the part of it that a view shows."""
    out = x.copy()
    part(out)[...] = b
    return out


def index_reduce(x: Any, d: int, index: Any, b: Any, how: str) -> Any:
    out = x.copy()
    for i in range(x.shape[0]):
        rows = np.concatenate([x[i:i + 1], b[index == i]])
        out[i] = {"prod": np.prod, "mean": np.mean, "amax": np.max, "amin": np.min}[how](rows, axis=0)
    return out


GATHERING = [
    Op("gather", gathers, gathered, node="GatherBackward0", dtypes=ALL, result="first", exact=True),
    Op("scatter", scatters, scattered("put"), node="ScatterBackward0", dtypes=WIDE + INTS, result="first",
       inplace=True, exact=True),
    Op("scatter_number", number_scatters, scattered("put"), path="scatter", node="ScatterBackward1",
       dtypes=WIDE + INTS, result="first", inplace=True,
       exact=True),
    Op("scatter_add", adding_scatters, scattered("add"), node="ScatterAddBackward0", dtypes=WIDE + INTS,
       result="first", inplace=True),
    Op("scatter_reduce", reducing_scatters, lambda x, d, i, s, reduce: scattered("")(x, d, i, s, reduce), dtypes=WIDE,
       result="first", inplace=True),
    Op("index_select", lambda m: iter([S(m.x(3, 4), 0, m.i(3, 5)), S(m.t(3, 4), -1, m.i(4, 2)),
       S(m.x(3), 0, m.i(3, 1))]),
       lambda x, d, i: np.take(x, i, d), node="IndexSelectBackward0", dtypes=ALL, result="first", out=True, exact=True),
    Op("index_add", lambda m: iter([*index_writes(m), S(m.x(3, 4), 0, np.array([1, 1]), m.x(2, 4), alpha=2)]),
       index_refs("add"),
       node="IndexAddBackward0", dtypes=WIDE + INTS, result="first", inplace=True, out=True),
    Op("index_copy", index_writes, index_refs("put"), node="IndexCopyBackward0", dtypes=WIDE + INTS, result="first",
       inplace=True, out=True, exact=True),
    Op("index_fill", lambda m: iter([S(m.x(3, 4), 0, m.i(3, 2), 2).by("IndexFillBackward0"),
       S(m.t(3, 4), 1, m.i(4, 2), m.x()).by("IndexFillBackward1")]),
       index_refs("put"), dtypes=WIDE + INTS, result="first", inplace=True, exact=True),
    Op("take", lambda m: iter([S(m.x(3, 4), m.i(12, 2, 3)), S(m.t(3, 4), m.i(12, 5))]), taken, node="TakeBackward0",
       dtypes=ALL, result="first",
       exact=True),
    Op("put", lambda m: iter([S(m.x(3, 4), m.distinct(12, 3), m.x(3)), S(m.t(3, 4), np.array([1, 1]), m.x(2), True)]),
       put, node="PutBackward0",
       dtypes=WIDE, result="first", inplace=True),
    Op("masked_select", lambda m: iter([S(m.x(3, 4), m.mask(3, 4)), S(m.t(3, 4), m.mask(4)), S(m.x(4), m.mask(3, 1))]),
       lambda x, k: np.broadcast_arrays(x, k)[0][np.broadcast_arrays(x,
           k)[1]], node="MaskedSelectBackward0", dtypes=ALL, result="first", out=True, exact=True),
    Op("masked_scatter", lambda m: iter([S(m.x(3, 4), m.mask(3, 4), m.x(12)), S(m.t(3, 4), m.mask(4), m.x(4, 3))]),
       masked_scatter,
       node="MaskedScatterBackward0", dtypes=WIDE + INTS, result="first", inplace=True, exact=True),
    Op("masked_fill_tensor", lambda m: iter([S(m.x(3, 4), m.mask(3, 4), m.x()), S(m.t(3, 4), m.mask(4), m.x())]),
       lambda x, mask, v: np.where(mask, v,
           x), path="masked_fill", inplace=True, node="MaskedFillBackward1", dtypes=WIDE, result="first", exact=True),
    Op("select_scatter", lambda m: iter([S(m.x(3, 4), m.x(4), 0, 1), S(m.t(3, 4), m.x(3), -1, -2)]),
       lambda x, b, d, i: placed(x, b, lambda out: np.moveaxis(out, d, 0)[i, ...]), node="SelectScatterBackward0",
       dtypes=ALL, result="first", twice=True, exact=True),
    Op("slice_scatter", lambda m: iter([S(m.x(3, 4), m.x(2, 4), 0, 1), S(m.t(3, 4), m.x(3, 2), 1, 0, 4, 2)]),
       lambda x, b, d=0, *part: placed(x, b, lambda out: np.moveaxis(np.moveaxis(out, d, 0)[slice(*part, *[None] * (
           2 - len(part)))], 0, d)), node="SliceScatterBackward0", dtypes=ALL, result="first", twice=True,
       exact=True),
    Op("diagonal_scatter", lambda m: iter([S(m.x(3, 4), m.x(3)), S(m.t(3, 4), m.x(2), -1)]),
       lambda x, b, k=0: placed(x, b, lambda out: np.einsum("ii->i", out[max(-k, 0):, max(k, 0):][:b.size, :b.size])),
       node="DiagonalScatterBackward0", dtypes=ALL, result="first", twice=True, exact=True),
    Op("narrow_copy", lambda m: iter([S(m.x(3, 4), 0, 1, 2), S(m.t(3, 4), 1, 0, 3)]),
       lambda x, d, start, n: np.take(x, range(start, start + n), d), node="NarrowCopyBackward0", dtypes=ALL,
       result="first", twice=True, exact=True),
    Op("index_reduce", lambda m: iter([S(m.x(3, 4), 0, np.array([0, 2, 0]), m.x(3, 4), how)
                                       for how in ("prod", "mean", "amax", "amin")]),
       index_reduce, node="IndexReduceBackward0", dtypes=WIDE, result="first", order2=False),
    Op("renorm", lambda m: iter([S(m.x(3, 4), 2, 0, 1.0), S(m.t(3, 4), 1, 1, 0.5), S(m.x(2, 3, 2), 3, 1, 0.1)]),
       lambda x, p, d, top: x * np.minimum(1, top / ((np.abs(x.astype(np.float64)) ** p).sum(tuple(
           i for i in range(x.ndim) if i != d), keepdims=True) ** (1 / p) + 1e-7)),
       node="RenormBackward0", dtypes=WIDE, result="first", tol=10),
]


def sorts(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.x(3, 4), 0)
    yield S(m.t(3, 4), -1, True)
    yield S(m.x(5))
    yield S(m.x())


def sort(x: Any, dim: int = -1, descending: bool = False) -> Any:
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    at = np.argsort(-x if descending else x, axis=dim, kind="stable")
    return np.take_along_axis(x, at, dim), at


def topk(x: Any, k: int, dim: int = -1, largest: bool = True) -> Any:
    y, at = sort(x, dim, largest)
    return np.take(y, range(k), dim), np.take(at, range(k), dim)


def kthvalue(x: Any, k: int, dim: int = -1, keepdim: bool = False) -> Any:
    y, at = sort(x, dim)
    pick = (lambda v: np.take(v, [k - 1], dim)) if keepdim else (lambda v: np.take(v, k - 1, dim))
    return pick(y), pick(at)


ORDERS = [
    Op("sort", sorts, sort, node="SortBackward0", dtypes=WIDE, result=("first", "int64"), exact=True),
    Op("argsort", sorts, lambda *a: sort(*a)[1], dtypes=WIDE, result="int64", grad=False, exact=True),
    Op("topk", lambda m: iter([S(m.x(3, 4), 2), S(m.t(3, 4), 1, 0), S(m.x(5), 3, 0, False)]), topk,
       node="TopkBackward0", dtypes=WIDE,
       result=("first", "int64"), exact=True),
    Op("kthvalue", lambda m: iter([S(m.x(3, 4), 2), S(m.t(3, 4), 1, 0, True)]), kthvalue, node="KthvalueBackward0",
       dtypes=WIDE,
       result=("first", "int64"), exact=True),
    Op("msort", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4))]), lambda x: np.sort(x, 0), dtypes=WIDE, exact=True),
    Op("bincount", lambda m: iter([S(m.i(4, 9))]), np.bincount, dtypes=(f32,), grad=False, result="int64", exact=True),
]
