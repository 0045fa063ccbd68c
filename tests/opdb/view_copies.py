"""Rows of the copies of views, and of what is laid over memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .more import strided
from .shared import expand, one, split, squeeze, unbind
from .table import ALL, Make, Op, S


def copy(name: str, samples: Any, ref: Callable[..., Any], node: str, **kw: Any) -> Op:
    kw = {"twice": True, "exact": True, "dtypes": ALL, "result": "first", "method": None, "out": True} | kw
    return Op(f"{name}_copy", samples, ref, node=f"{node}_copy", **kw)


def laid(x: Any, b: Any, size: Any, stride: Any, offset: int = 0) -> Any:
    out = x.ravel().copy()
    for at in np.ndindex(*size):
        out[offset + sum(i * s for i, s in zip(at, stride))] = b[at]
    return out.reshape(x.shape)


def windows(x: Any, dim: int, size: int, step: int) -> Any:
    return np.moveaxis(np.lib.stride_tricks.sliding_window_view(x, size, dim), dim, 0)[::step]


def matrices(m: Make) -> Any:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4))
    yield S(m.x(3))
    yield S(m.x())


COPIES = [
    copy("alias", one, lambda x: x, "AliasBackward0"),
    copy("as_strided", lambda m: iter([S(m.x(3, 4), (2, 2), (4, 1)), S(m.x(12), (3, 3), (2, 1), 1)]), strided,
         "AsStridedBackward0"),
    copy("diagonal", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 1), S(m.x(2, 3, 3), -1, 2, 1)]), lambda x, k=0, a=0,
         b=1: np.diagonal(x, k, a, b), "DiagonalBackward0"),
    copy("expand", lambda m: iter([S(m.x(3, 1), (3, 4)), S(m.t(2, 3), (2, 2, -1)), S(m.x(), (2,))]), expand,
         "ExpandBackward0"),
    copy("permute", lambda m: iter([S(m.x(2, 3, 4), (2, 0, 1)), S(m.e(2, 3), (-1, 0)), S(m.x(), ())]), lambda x,
         d: x.transpose(d), "PermuteBackward0"),
    copy("select", lambda m: iter([S(m.x(3, 4), 0, 1), S(m.t(3, 4), -1, -2)]), lambda x, d, i: np.take(x, i, d),
         "SelectBackward0"),
    copy("slice", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 1, -3), S(m.x(5, 2), 0, 1, 9, 2), S(m.x(3), 0, 2, 1)]),
         lambda x, d=0, *part: np.moveaxis(np.moveaxis(x, d, 0)[slice(*(part or (None,)), *[None] * (2 - len(part)))],
         0, d), "SliceBackward0"),
    copy("split", lambda m: iter([S(m.x(5, 2), 2), S(m.t(3, 4), 3, 1), S(m.x(0, 2), 1)]), split, "SplitBackward0",
         out=False),
    copy("split_with_sizes", lambda m: iter([S(m.x(5, 2), [2, 0, 3]), S(m.t(3, 4), [1, 3], -1)]), split,
         "SplitWithSizesBackward0", out=False),
    copy("squeeze", lambda m: iter([S(m.x(1, 3, 1)), S(m.x(1, 3, 1), 0).by("SqueezeBackward1_copy"), S(m.x(2, 1),
         0).by("SqueezeBackward1_copy"), S(m.x(1, 3, 1), (0, 2)).by("SqueezeBackward2_copy"), S(m.x())]), squeeze,
         "SqueezeBackward0"),
    copy("t", matrices, lambda x: x.T, "TBackward0"),
    copy("transpose", lambda m: iter([S(m.x(2, 3, 4), 0, 2), S(m.t(3, 4), -1, 0)]), lambda x, a, b: x.swapaxes(a, b),
         "TransposeBackward0"),
    copy("unbind", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 1)]), unbind, "UnbindBackward0", out=False),
    copy("unfold", lambda m: iter([S(m.x(5, 3), 0, 2, 2), S(m.t(4, 3), 0, 3, 1)]), lambda x, d, n, k: windows(x, d, n, k),
         "UnfoldBackward0"),
    copy("unsqueeze", lambda m: iter([S(m.x(3, 4), 1), S(m.t(3, 4), -1), S(m.x(), 0)]), np.expand_dims,
         "UnsqueezeBackward0"),
    copy("view", lambda m: iter([S(m.x(3, 4), (2, -1)), S(m.x(6), (3, 2)), S(m.x(), (1, 1))]), lambda x,
         to: x.reshape(to), "ViewBackward0"),
    # PyTorch's gradient of input is that inside the part, where the derivative is 0, and 0 outside it
    Op("as_strided_scatter", lambda m: iter([S(m.x(3, 4), m.x(2, 2), (2, 2), (5, 1)), S(m.x(12), m.x(3, 2), (3, 2), (1, 4),
       2)]), laid, node="AsStridedScatterBackward0", dtypes=ALL, result="first", twice=True, exact=True, oracle=False),
]
