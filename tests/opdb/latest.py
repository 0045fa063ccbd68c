"""Rows of pools at fractional steps, the loss of a linear layer, and where elements are not zero, up to a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .layers import F
from .shared import softmax
from .table import ALL, WIDE, Make, Op, S, Samples


def windows(sample: float, n: int, m: int, k: int) -> list[int]:
    """Where m windows of k begin in n numbers (Graham 2014, as PyTorch computes it)."""
    step = (n - k) / (m - 1) if m > 1 else 0
    return [int((i + sample) * step) - int(sample * step) for i in range(m - 1)] + [n - k]


def fractional(dims: int) -> Callable[..., Any]:
    def ref(x: Any, kernel: Any, size: Any, _random_samples: Any) -> Any:
        kernel, size = ((v,) * dims if isinstance(v, int) else v for v in (kernel, size))
        planes = x.reshape(-1, *x.shape[-dims:])
        drawn = _random_samples.reshape(-1, dims)[:, ::-1 if dims == 2 else 1]
        out = np.empty((len(planes), *size))
        for n, plane in enumerate(planes):
            starts = [windows(drawn[n, i], plane.shape[i], size[i], kernel[i]) for i in range(dims)]
            for at in np.ndindex(*size):
                out[(n, *at)] = plane[tuple(slice(s[i], s[i] + k) for s, i, k in zip(starts, at, kernel))].max()
        return out.reshape(*x.shape[:-dims], *size)

    return ref


def fractional_samples(dims: int) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        space = {2: (6, 7), 3: (5, 6, 5)}[dims]
        for shape, kernel, size in (((2, 2, *space), 2, 3), ((1, 2, *space), (3, 2, 1)[:dims], (2, 4, 3)[:dims])):
            yield S(m.x(*shape), kernel, size, _random_samples=m.x(*shape[:2], dims, low=0.02, high=0.98))
        yield S(m.t(2, *space), 2, 1, _random_samples=m.x(1, 2, dims, low=0.02, high=0.98))

    return samples


def classified(m: Make) -> Iterator[S]:
    yield S(m.x(4, 3), m.x(5, 3), m.i(5, 4))
    yield S(m.t(4, 3), m.x(5, 3), np.array([1, 4, 1, 0]), linear_bias=m.x(5), ignore_index=1, reduction="sum")
    yield S(m.x(3), m.x(4, 3), np.array(2), linear_bias=m.x(4), reduction="none")
    yield S(m.x(4, 3), m.x(5, 2, 3), m.i(5, 4, 2), linear_bias=m.x(5, 2))


def linear_loss(x: Any, w: Any, target: Any, linear_bias: Any = 0.0, ignore_index: int = -1, reduction: str = "mean") -> Any:
    logs = np.log(softmax(np.tensordot(x, np.moveaxis(w, -1, 0), 1) + linear_bias, x.ndim - 1))
    picked = -np.take_along_axis(logs, np.expand_dims(target, x.ndim - 1), x.ndim - 1).squeeze(x.ndim - 1)
    if reduction == "none":
        return picked
    kept = picked[target != ignore_index]
    return kept.sum() if reduction == "sum" else kept.mean()


def some_zeros(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), size=5)
    yield S(m.x(3, low=0), size=9, fill_value=7)
    yield S(m.x(2, 0), size=2)


def first_places(x: Any, size: int, fill_value: int = -1) -> Any:
    found = np.argwhere(x)[:size]
    return np.concatenate([found, np.full((size - len(found), x.ndim), fill_value)])




def reflected(a: Any, tau: Any) -> Any:
    """H1 ... Hk of one matrix, by multiplying them out."""
    q = np.eye(len(a))
    for i, t in enumerate(tau):
        v = np.concatenate([np.zeros(i), [1.0], a[i + 1:, i]])
        q = q @ (np.eye(len(a)) - t * np.outer(v, v))
    return q


def each_reflected(a: Any, tau: Any) -> Any:
    flat = [reflected(one, t) for one, t in zip(a.reshape(-1, *a.shape[-2:]), tau.reshape(-1, tau.shape[-1]))]
    return np.stack(flat).reshape(*a.shape[:-1], a.shape[-2])


def reflections(m: Make) -> Iterator[S]:
    yield S(m.x(4, 3), m.x(3))
    yield S(m.t(4, 3), m.x(2))
    yield S(m.x(2, 3, 2), m.x(2, 2))
    yield S(m.x(3, 3), m.x(3))


def reflections_of(m: Make) -> Iterator[S]:
    for left, transpose in ((True, False), (True, True), (False, False), (False, True)):
        yield S(m.x(4, 3), m.x(3), m.x(4, 2) if left else m.x(2, 4), left, transpose)
    yield S(m.x(2, 3, 2), m.x(2, 2), m.x(2, 3, 4))
    yield S(m.x(3, 5), m.x(3), m.t(3, 2))


def multiplied(a: Any, tau: Any, c: Any, left: bool = True, transpose: bool = False) -> Any:
    q = each_reflected(a, tau)
    q = q.swapaxes(-1, -2) if transpose else q
    return q @ c if left else c @ q


def triangular(m: Make) -> Iterator[S]:
    yield S(m.x(4, 3))
    yield S(m.x(2, 3, 4))
    yield S(m.t(3, 3))


def packed_qr(x: Any) -> Any:
    """(a, tau), by Householder's method with LAPACK's signs."""
    found = []
    for one in x.reshape(-1, *x.shape[-2:]):
        a, taus = one.copy(), []
        for i in range(min(a.shape)):
            alpha, below = a[i, i], a[i + 1:, i].copy()
            if (below == 0).all():
                taus.append(0.0)
                continue
            beta = -np.copysign(np.hypot(alpha, np.linalg.norm(below)), alpha)
            taus.append((beta - alpha) / beta)
            v = np.concatenate([[1.0], below / (alpha - beta)])
            a[i:, i + 1:] -= taus[-1] * np.outer(v, v @ a[i:, i + 1:])
            a[i, i], a[i + 1:, i] = beta, v[1:]
        found.append((a, np.array(taus)))
    lead = x.shape[:-2]
    return tuple(np.stack(parts).reshape(*lead, *parts[0].shape) for parts in zip(*found))


LATEST = [
    Op("linalg.householder_product", reflections, lambda a, t: each_reflected(a, t)[..., :a.shape[-1]], dtypes=WIDE,
       node="LinalgHouseholderProductBackward0", tol=20, out=True, low=-1, high=1, checks=True),
    Op("ormqr", reflections_of, multiplied, dtypes=WIDE, node="OrmqrBackward0", tol=20, out=True, low=-1, high=1, checks=True),
    Op("geqrf", triangular, packed_qr, dtypes=WIDE, tol=50, grad=False, checks=True),
    *[F(f"fractional_max_pool{n}d", fractional_samples(n), fractional(n), node=f"FractionalMaxPool{n}DBackward0", exact=True,
        fixed=(1,)) for n in (2, 3)],
    F("linear_cross_entropy", classified, linear_loss, twice=None, tol=20),
    Op("nonzero_static", some_zeros, first_places, dtypes=ALL, result="int64", grad=False, exact=True, out=True),
]
