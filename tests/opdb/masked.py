"""Rows of torch.masked: the same operations on NumPy's masked arrays, or on what a mask leaves."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .table import WIDE, Make, Op, S


def masks(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 1, mask=m.mask(3, 4) | (np.arange(4) < 2))
    yield S(m.t(3, 4), 0, mask=m.mask(3, 4) | (np.arange(3) < 2)[:, None])
    yield S(m.x(2, 3, 2), -1, mask=np.array([True, True]))
    yield S(m.x(3, 4), 1)


def whole(m: Make) -> Iterator[S]:
    yield from masks(m)
    yield S(m.x(3, 4), mask=m.mask(3, 4) | (np.arange(4) < 2))
    yield S(m.x(2, 3, 4), (0, 2), keepdim=True, mask=m.mask(3, 4) | (np.arange(4) < 2))


def left(f: Callable[..., Any]) -> Callable[..., Any]:
    """f of what the mask leaves of every slice along dim."""

    def ref(x: Any, dim: Any = None, *rest: Any, mask: Any = None, keepdim: bool = False) -> Any:
        mask = np.broadcast_to(True if mask is None else mask, x.shape)
        dims = tuple(range(x.ndim)) if dim is None else tuple(d % x.ndim for d in np.atleast_1d(dim))
        kept = [d for d in range(x.ndim) if d not in dims]
        out = np.empty([x.shape[d] for d in kept])
        for at in np.ndindex(*out.shape):
            where = tuple(at[kept.index(d)] if d in kept else slice(None) for d in range(x.ndim))
            out[at] = f(x[where][mask[where]].astype(np.float64), *rest)
        return out.reshape([1 if d in dims else n for d, n in enumerate(x.shape)]) if keepdim else out

    return ref


def softened(sign: float, log: bool) -> Callable[..., Any]:
    def ref(x: Any, dim: int, mask: Any = None) -> Any:
        mask = np.broadcast_to(True if mask is None else mask, x.shape)
        e = np.where(mask, np.exp(sign * x), 0.0)
        y = e / e.sum(dim, keepdims=True)
        with np.errstate(divide="ignore"):
            return np.log(y) if log else y

    return ref


def running(f: Any, identity: float) -> Callable[..., Any]:
    return lambda x, dim, mask=None: f(x if mask is None else np.where(mask, x, identity), dim)


def normalized(x: Any, ord: float, dim: int, mask: Any = None) -> Any:
    kept = x if mask is None else np.where(mask, x, 0.0)
    return kept / (np.abs(kept) ** ord).sum(dim, keepdims=True) ** (1 / ord)


def ordered(m: Make) -> Iterator[S]:
    for s in masks(m):
        yield S(s.args[0], 2.0, s.args[1], **s.kwargs)


def row(name: str, samples: Any, ref: Any, **kw: Any) -> Op:
    return Op(f"masked.{name}", samples, ref, **({"dtypes": WIDE, "method": None, "twice": None, "result": "first"} | kw))


MASKED = [
    row("sum", whole, left(np.sum)),
    row("prod", whole, left(np.prod), low=0.5),
    row("mean", whole, left(np.mean)),
    row("amax", whole, left(np.max), picks=True),
    row("amin", whole, left(np.min), picks=True),
    row("var", whole, left(lambda v: v.var(ddof=1)), tol=10),
    row("std", whole, left(lambda v: v.std(ddof=1)), tol=10),
    row("logsumexp", whole, left(lambda v: np.log(np.exp(v).sum()))),
    row("median", masks, left(lambda v: np.sort(v)[(v.size - 1) // 2]), picks=True),
    row("norm", ordered, lambda x, ord, dim, mask=None: left(lambda v: np.sqrt((v * v).sum()))(x, dim, mask=mask)),
    row("cumsum", masks, running(np.cumsum, 0.0)),
    row("cumprod", masks, running(np.cumprod, 1.0), low=0.5),
    row("softmax", masks, softened(1.0, False)),
    row("softmin", masks, softened(-1.0, False)),
    row("log_softmax", lambda m: iter([S(m.x(3, 4), 1), S(m.x(2, 3), 0, mask=np.array([True, True, True]))]),
        softened(1.0, True)),
    row("normalize", ordered, normalized),
    row("logaddexp", lambda m: iter([S(m.x(3, 4), m.x(3, 4)), S(m.x(3), m.x(3),
        input_mask=np.array([True, False, True])).plain()]),
        lambda a, b, input_mask=None: np.log((1.0 if input_mask is None else input_mask) * np.exp(a) + np.exp(b))),
    row("argmax", masks, lambda x, dim, mask=None: np.argmax(
        x if mask is None else np.where(mask, x, -np.inf), dim).astype(float), grad=False),
    row("argmin", masks, lambda x, dim, mask=None: np.argmin(
        x if mask is None else np.where(mask, x, np.inf), dim).astype(float), grad=False),
]
