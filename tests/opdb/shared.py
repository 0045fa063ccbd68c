"""Samples and references that many rows share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .table import Make, S


def one(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.e(3, 4))
    yield S(m.s(2, 3))
    yield S(m.x())
    yield S(m.x(1))
    yield S(m.x(0, 3))
    yield S(m.x(2, 1, 2))


def two(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), m.x(3, 4))
    yield S(m.x(3, 4), m.x(4))
    yield S(m.x(3, 1), m.t(3, 4))
    yield S(m.x(2, 1, 3), m.x(4, 1))
    yield S(m.t(3, 4), m.e(3, 4))
    yield S(m.s(2, 3), m.x())
    yield S(m.x(), m.x(2))
    yield S(m.x(), m.x())
    yield S(m.x(0, 3), m.x(1, 3))
    yield S(m.x(1), m.x(1))


def two_or_number(m: Make) -> Iterator[S]:
    yield from two(m)
    yield S(m.x(3, 4), 2)
    yield S(m.t(3, 4), 1.5)
    yield S(m.x(), 2)


def number_first(m: Make) -> Iterator[S]:
    yield S(2, m.x(3, 4))
    yield S(1.5, m.t(3, 4))
    yield S(2, m.x())
    yield S(2, m.x(0))


def int_twos(m: Make) -> Iterator[S]:
    yield from two(m)
    yield S(m.x(3, 4), 2 if m.dtype.kind != "b" else True)


def reductions(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.e(3, 2))
    yield S(m.x())
    yield S(m.x(1))


def along(m: Make) -> Iterator[S]:
    """x, dim, keepdim"""
    yield S(m.x(3, 4), 0)
    yield S(m.x(3, 4), -1)
    yield S(m.t(3, 4), 1, True)
    yield S(m.x(2, 3, 2), 1)
    yield S(m.e(3, 4), dim=0, keepdim=True)
    yield S(m.x(5), -1)
    yield S(m.x(1, 3), 0)


def dims(m: Make) -> Iterator[S]:
    """x, several dims"""
    yield from along(m)
    yield S(m.x(2, 3, 2), (0, 2))
    yield S(m.x(2, 3, 2), (-1, 1), True)
    yield S(m.x(), 0)
    yield S(m.x(), -1, True)


def softmaxes(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0)
    yield S(m.x(3, 4), -1)
    yield S(m.t(3, 4), 1)
    yield S(m.x(2, 3, 2), 1)
    yield S(m.e(3, 4), dim=0)
    yield S(m.x(5), 0)
    yield S(m.x(), 0)
    yield S(m.x(0, 3), 1)


def vector(f: Callable[[float], float]) -> Callable[[Any], Any]:
    def on_array(x: Any) -> Any:
        return np.array([f(float(v)) for v in np.asarray(x).ravel()], np.float64).reshape(np.shape(x))

    return on_array


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def axis_of(dim: Any, x: Any) -> Any:
    return None if x.ndim == 0 else tuple(dim) if isinstance(dim, (list, tuple)) else dim


def reduced(f: Callable[..., Any]) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, keepdim: bool = False, **kw: Any) -> Any:
        return f(x, axis=axis_of(dim, x), keepdims=keepdim, **kw)

    return ref


def whole_sum(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return np.sum(x, axis=axis_of(dim, x), keepdims=keepdim, dtype=np.int64 if x.dtype.kind in "iub" else None)


def whole_prod(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
    return np.prod(x, axis=axis_of(dim, x), keepdims=keepdim, dtype=np.int64 if x.dtype.kind in "iub" else None)


def extreme(pick: Callable[..., Any], where: Callable[..., Any]) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        if isinstance(dim, np.ndarray):
            return (np.maximum if pick is np.max else np.minimum)(x, dim)
        if dim is None:
            return pick(x)
        if x.ndim == 0:
            return x, np.zeros((), np.int64)
        return pick(x, axis=dim, keepdims=keepdim), where(x, axis=dim, keepdims=keepdim)

    return ref


def softmax(x: Any, dim: int) -> Any:
    e = np.exp(x)
    return e / e.sum(axis=dim if x.ndim else None, keepdims=True)


def norm(x: Any, p: Any = 2.0, dim: Any = None, keepdim: bool = False) -> Any:
    axis = None if dim is None else tuple(np.atleast_1d(dim).tolist())
    a = np.abs(x)
    if p == "fro":
        p = 2.0
    if p == math.inf:
        return a.max(axis=axis, keepdims=keepdim)
    if p == -math.inf:
        return a.min(axis=axis, keepdims=keepdim)
    if p == 0:
        return (a != 0).sum(axis=axis, keepdims=keepdim).astype(np.float64)
    return (a**p).sum(axis=axis, keepdims=keepdim) ** (1 / p)


def split(x: Any, size: Any, dim: int = 0) -> Any:
    n = x.shape[dim]
    sizes = [min(size, n - i) for i in range(0, n, size)] or [0] if isinstance(size, int) else list(size)
    out, at = [], 0
    for s in sizes:
        out.append(np.take(x, range(at, at + s), axis=dim))
        at += s
    return tuple(out)


def chunk(x: Any, chunks: int, dim: int = 0) -> Any:
    return split(x, max(-(-x.shape[dim] // chunks), 1), dim)


def unbind(x: Any, dim: int = 0) -> Any:
    return tuple(np.moveaxis(x, dim, 0))


def squeeze(x: Any, dim: Any = None) -> Any:
    if dim is None:
        return np.squeeze(x)
    axes = tuple(d for d in np.atleast_1d(dim).tolist() if x.ndim and x.shape[d] == 1)
    return np.squeeze(x, axis=axes)


def flat(x: Any, start_dim: int = 0, end_dim: int = -1) -> Any:
    if x.ndim == 0:
        return x.reshape(1)
    a, b = start_dim % x.ndim, end_dim % x.ndim
    return x.reshape(x.shape[:a] + (-1 if x.size else math.prod(x.shape[a : b + 1]),) + x.shape[b + 1 :])


def expand(x: Any, *sizes: Any) -> Any:
    to = sizes[0] if isinstance(sizes[0], (list, tuple)) else sizes
    lead = len(to) - x.ndim
    return np.broadcast_to(x, [x.shape[i - lead] if n == -1 else n for i, n in enumerate(to)])


def view_sizes(x: Any, *sizes: Any) -> Any:
    return x.reshape(sizes[0] if isinstance(sizes[0], (list, tuple)) else sizes)


def permuted(x: Any, *d: Any) -> Any:
    return x.transpose(d[0] if isinstance(d[0], (list, tuple)) else d)


def written(x: Any, where: Any, value: Any) -> Any:
    out = x.copy()
    out[where] = value
    return out


def clamp(x: Any, min: Any = None, max: Any = None) -> Any:
    if min is not None:
        x = np.maximum(x, min)
    return x if max is None else np.minimum(x, max)


def matmul(a: Any, b: Any) -> Any:
    return np.einsum("...ij,...jk->...ik", a, b) if a.ndim > 1 and b.ndim > 1 else np.matmul(a, b)


def addmm(c: Any, a: Any, b: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    return beta * c + alpha * np.einsum("ij,jk->ik", a, b)


def linear(x: Any, w: Any, bias: Any = None) -> Any:
    y = np.einsum("...i,oi->...o", x, w) if w.ndim == 2 else np.einsum("...i,i->...", x, w)
    return y if bias is None else y + bias


def reduction_of(loss: Any, reduction: str) -> Any:
    return loss if reduction == "none" else loss.sum() if reduction == "sum" else loss.mean()


def nll(x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean") -> Any:
    """x (N, C, ...) or (C,)"""
    if x.ndim == 1:
        return nll(x[None], target[None], weight, ignore_index, reduction)[0] if reduction == "none" else nll(
            x[None], target[None], weight, ignore_index, reduction)
    w = np.ones(x.shape[1]) if weight is None else weight
    out, total = np.zeros(target.shape), 0.0
    for at in np.ndindex(*target.shape):
        c = int(target[at])
        if c != ignore_index:
            out[at] = -w[c] * x[(at[0], c, *at[1:])]
            total += w[c]
    return out if reduction == "none" else out.sum() if reduction == "sum" else out.sum() / total


def cross_entropy(
    x: Any, target: Any, weight: Any = None, ignore_index: int = -100, reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> Any:
    dim = 0 if x.ndim == 1 else 1
    logp = np.log(softmax(x, dim))
    n = x.shape[dim]
    if target.dtype.kind == "f":
        t = target * (1 - label_smoothing) + label_smoothing / n
        w = np.ones(n) if weight is None else weight
        loss = -(t * logp * w.reshape([-1 if i == dim else 1 for i in range(x.ndim)])).sum(dim)
        if reduction == "mean":
            return loss.sum() / (x.size / n)
        return reduction_of(loss, reduction)
    sharp = nll(logp, target, weight, ignore_index, reduction)
    if not label_smoothing:
        return sharp
    w = np.ones(n) if weight is None else weight
    keep = (target != ignore_index).astype(float)
    smooth = -(logp * w.reshape([-1 if i == dim else 1 for i in range(x.ndim)])).sum(dim) * keep
    if reduction == "mean":
        mass = (w[np.where(keep > 0, target, 0)] * keep).sum()
        smooth = smooth.sum() / mass
    else:
        smooth = reduction_of(smooth, reduction)
    return (1 - label_smoothing) * sharp + label_smoothing / n * smooth
