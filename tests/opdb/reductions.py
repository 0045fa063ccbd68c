"""Rows of reductions."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .shared import (
    along,
    axis_of,
    dims,
    extreme,
    norm,
    reduced,
    reductions,
    softmax,
    softmaxes,
    two,
    whole_prod,
    whole_sum,
)
from .table import ALL, FLOATS, INTS, WIDE, Make, Op, S, Samples, b8, f16, f32, i64


def plain_or(more: Samples, **kw: Any) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        yield from reductions(m)
        yield from more(m)

    return samples


def sums(m: Make) -> Iterator[S]:
    yield from reductions(m)
    yield S(m.x(0, 3))
    yield S(m.x(0, 3), 0)
    yield S(m.x(0, 3), 1)
    yield from dims(m)


def prods(m: Make) -> Iterator[S]:
    yield from reductions(m)
    yield S(m.x(0, 3))
    yield from along(m)
    if m.floats:
        zeros = m.x(2, 3)
        zeros[0, 1] = 0
        yield S(zeros)
        yield S(zeros, 1)
        both = m.x(2, 3)
        both[0, :2] = 0
        yield S(both, 1)
        yield S(both)


def norms(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.x())
    yield S(m.x(3, 4), 2, 0)
    yield S(m.x(3, 4), 3, -1, True)
    yield S(m.x(2, 3, 2), 2, (0, 2))
    yield S(m.x(3, 4), 1)
    yield S(m.x(3, 4), 1.5, 1)
    yield S(m.e(3, 4), 2, 1)
    yield S(m.x(3, 4), math.inf, 1)
    yield S(m.x(3, 4), -math.inf, 1)
    yield S(m.x(3, 4), 0, 1)


def reduced_by(name: str, ref: Any, samples: Samples = sums, **kw: Any) -> Op:
    return Op(name, samples, ref, **kw)


def variances(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.x(3, 4), 0)
    yield S(m.x(3, 4), -1, keepdim=True)
    yield S(m.x(2, 3, 2), (0, 2))
    yield S(m.x(3, 4), 1, correction=0)
    yield S(m.x(3, 4), 1, correction=0.5)
    yield S(m.e(3, 4), 1, unbiased=False)


def spread(root: bool) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: float = 1) -> Any:
        v = np.var(x, axis=axis_of(dim, x), ddof=correction if unbiased else 0, keepdims=keepdim)
        return np.sqrt(v) if root else v

    return ref


def logsumexp(x: Any, dim: Any, keepdim: bool = False) -> Any:
    return np.log(np.sum(np.exp(x), axis=axis_of(dim, x), keepdims=keepdim))


def lower_median(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    if dim is None:
        return np.sort(x.ravel())[(x.size - 1) // 2]
    if x.ndim == 0:
        return x, np.zeros((), np.int64)
    order = np.argsort(x, axis=dim, kind="stable")
    at = np.take(order, [(x.shape[dim] - 1) // 2], axis=dim)
    y = np.take_along_axis(x, at, dim)
    return (y, at) if keepdim else (np.squeeze(y, dim), np.squeeze(at, dim))


def running(f: Any) -> Callable[..., Any]:
    def ref(x: Any, dim: int) -> Any:
        if x.ndim == 0:
            return (x, np.zeros((), np.int64)) if f in (np.maximum, np.minimum) else x
        if f in (np.maximum, np.minimum):
            y = f.accumulate(x, axis=dim)
            at = np.zeros(x.shape, np.int64)
            for where in np.ndindex(*x.shape):
                line = x[tuple(slice(None) if i == dim % x.ndim else w for i, w in enumerate(where))][: where[dim] + 1]
                at[where] = int(np.flatnonzero(line == y[where])[-1])
            return y, at
        return f.accumulate(x, axis=dim, dtype=np.int64 if x.dtype.kind in "iub" else None)

    return ref


def running_samples(m: Make) -> Iterator[S]:
    for s in softmaxes(m):
        if s.args[0].size:
            yield s


REDUCTIONS = [
    Op("sum", sums, whole_sum, dtypes=ALL, result="sum", out=False, twice=True),
    Op("mean", plain_or(dims), reduced(np.mean), dtypes=FLOATS, twice=True),
    Op("prod", prods, whole_prod, dtypes=ALL, result="sum", node=None),
    Op("max", reductions, np.max, node="MaxBackward1", dtypes=ALL, exact=True),
    Op("max_dim", along, extreme(np.max, np.argmax), path="max", result=("first", "int64"), node="MaxBackward0",
       dtypes=WIDE + (f16,), exact=True),
    Op("max_other", two, np.maximum, path="max", node="MaximumBackward0", dtypes=WIDE, exact=True),
    Op("min", reductions, np.min, node="MinBackward1", dtypes=ALL, exact=True),
    Op("min_dim", along, extreme(np.min, np.argmin), path="min", result=("first", "int64"), node="MinBackward0",
       dtypes=WIDE + (f16,), exact=True),
    Op("min_other", two, np.minimum, path="min", node="MinimumBackward0", dtypes=WIDE, exact=True),
    Op("norm", norms, norm, node="LinalgVectorNormBackward0", dtypes=FLOATS, kinks=(0.0,)),
    Op("linalg.vector_norm", lambda m: iter([S(m.x(3, 4)), S(m.x(3, 4), 3), S(m.t(3, 4), 2, 0, True)]), norm,
       node="LinalgVectorNormBackward0",
       dtypes=FLOATS, kinks=(0.0,)),
    Op("amax", plain_or(dims), reduced(np.max), node="AmaxBackward0", result="first", dtypes=ALL, exact=True, out=True),
    Op("amin", plain_or(dims), reduced(np.min), node="AminBackward0", result="first", dtypes=ALL, exact=True, out=True),
    Op("argmax", plain_or(along), reduced(np.argmax), grad=False, result="int64", dtypes=WIDE + (f16,), exact=True),
    Op("argmin", plain_or(along), reduced(np.argmin), grad=False, result="int64", dtypes=WIDE + (f16,), exact=True),
    Op("all", plain_or(along), reduced(np.all), grad=False, result="bool", dtypes=(f32, i64, b8), exact=True),
    Op("any", plain_or(along), reduced(np.any), grad=False, result="bool", dtypes=(f32, i64, b8), exact=True),
    Op("var", variances, spread(False), node="VarBackward0", dtypes=FLOATS),
    Op("std", variances, spread(True), node="StdBackward0", dtypes=FLOATS),
    Op("logsumexp", dims, logsumexp, node="LogsumexpBackward0", dtypes=FLOATS, out=True),
    Op("median", reductions, lower_median, node="MedianBackward0", dtypes=WIDE + INTS, exact=True),
    Op("median_dim", along, lower_median, path="median", result=("first", "int64"), node="MedianBackward1",
       dtypes=WIDE, exact=True, oracle=False),
    Op("cumsum", running_samples, running(np.add), node="CumsumBackward0", dtypes=ALL, result="sum", out=True,
       inplace=None, twice=True),
    Op("cumprod", running_samples, running(np.multiply), node="CumprodBackward0", dtypes=WIDE + INTS, result="sum",
       out=True, kinks=(0.0,)),
    Op("cummax", running_samples, running(np.maximum), node="CummaxBackward0", dtypes=WIDE, result=("first", "int64"),
       exact=True),
    Op("cummin", running_samples, running(np.minimum), node="CumminBackward0", dtypes=WIDE, result=("first", "int64"),
       exact=True),
    Op("logcumsumexp", running_samples, lambda x, dim: np.log(np.cumsum(np.exp(x), axis=dim)) if x.ndim else x,
       node="LogcumsumexpBackward0", dtypes=WIDE),
    Op("softmax", softmaxes, softmax, node="SoftmaxBackward0"),
    Op("log_softmax", softmaxes, lambda x, dim: np.log(softmax(x, dim)), node="LogSoftmaxBackward0"),
]
