"""Rows that reach what no other row does."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from .arithmetic import compared_in_place, trapezoid, trapezoids
from .layers import SPACES, F, nearest
from .shared import one, softmax, two
from .table import WIDE, Make, Op, S


def bags(m: Make) -> Iterator[S]:
    for mode in ("sum", "mean", "max"):
        yield S(m.i(4, 2, 3), m.x(4, 3), mode=mode)


def bag(i: Any, w: Any, mode: str) -> Any:
    return {"sum": np.sum, "mean": np.mean, "max": np.max}[mode](w[i], axis=1)  # type: ignore[operator]


def attention(q: Any, k: Any, v: Any) -> Any:
    scores = q @ np.swapaxes(k, -1, -2) / math.sqrt(q.shape[-1])
    return softmax(scores, -1) @ v


def unpool(x: Any, indices: Any, size: int) -> Any:
    n, c, h, w = x.shape
    out = np.zeros((n, c, h * size * w * size))
    for a, b in np.ndindex(n, c):
        out[a, b, indices[a, b].ravel()] = x[a, b].ravel()
    return out.reshape(n, c, h * size, w * size)


def channel_shuffle(x: Any, groups: int) -> Any:
    n, c, *space = x.shape
    return x.reshape(n, groups, c // groups, *space).swapaxes(1, 2).reshape(x.shape)


RARE = [
    F("embedding_bag", bags, bag, twice=None, oracle=False),
    F("scaled_dot_product_attention", lambda m: iter([S(m.x(2, 3, 4), m.x(2, 5, 4), m.x(2, 5, 4))]), attention,
       twice=None,
      order2=False),
    F("max_unpool2d", lambda m: iter([S(m.x(1, 1, 2, 2), np.array([[[[0, 3], [9, 14]]]]), 2)]), unpool, twice=None,
       exact=True),
    Op("channel_shuffle", lambda m: iter([S(m.x(1, 4, 2), 2)]), channel_shuffle, path="nn.functional.channel_shuffle",
       dtypes=WIDE, twice=None, exact=True),
    *[F("interpolate", lambda m, n=n: iter([S(m.x(1, 2, *SPACES[n]), scale_factor=2, mode="nearest-exact")]),
         # type: ignore[misc]
        lambda x, scale_factor, mode: nearest(x, scale_factor), row=f"upsample_exact{n}d",
        node=f"UpsampleNearestExact{n}DBackward0", exact=True, twice=None)
      for n in (1, 2, 3)],
    Op("F.rrelu_training", lambda m: iter([S(m.x(3, 4, low=0.1))]), lambda x: x,
       call=lambda torch: lambda x: torch.nn.functional.rrelu(x + 0, 0.1, 0.3, True, inplace=True),
       node="RreluWithNoiseBackward1", dtypes=WIDE, twice=None, seeded=True, oracle=False, order2=False),
    *[Op(name + "_", compared_in_place, lambda x, v, ref=ref: ref(x, v).astype(float),
         call=lambda torch, name=name: lambda x, v: getattr(x + 0, name + "_")(v), dtypes=WIDE, twice=True)
      for name, ref in [("eq", np.equal), ("ne", np.not_equal), ("lt", np.less), ("le", np.less_equal),
          ("gt", np.greater), ("ge", np.greater_equal)]],
    Op("logical_and_", lambda m: iter([S(m.x(3, 4), m.x(4)).plain()]), lambda x, v: np.logical_and(x, v).astype(float),
       call=lambda torch: lambda x, v: (x + 0).logical_and_(v), dtypes=WIDE, twice=None, fixed=(1,)),
    Op("trapezoid", trapezoids, trapezoid, dtypes=WIDE, method=None),
    Op("angle", one, lambda x: np.where(x < 0, np.pi, 0.0), out=True, node="AngleBackward0", dtypes=WIDE, kinks=(0,)),
    Op("ldexp", two, lambda a, b: a * 2.0 ** b, inplace=True, out=True, node="LdexpBackward0", dtypes=WIDE),
]
