"""Rows of pools at fractional steps, the loss of a linear layer, and where elements are not zero, up to a number."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .layers import F
from .shared import softmax
from .table import ALL, Make, Op, S, Samples


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




LATEST = [
    *[F(f"fractional_max_pool{n}d", fractional_samples(n), fractional(n), node=f"FractionalMaxPool{n}DBackward0", exact=True,
        fixed=(1,)) for n in (2, 3)],
    F("linear_cross_entropy", classified, linear_loss, twice=None, tol=20),
    Op("nonzero_static", some_zeros, first_places, dtypes=ALL, result="int64", grad=False, exact=True, out=True),
]
