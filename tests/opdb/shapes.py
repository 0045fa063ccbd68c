"""Rows of shapes, views, joins, indexing by brackets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .shared import chunk, expand, flat, one, permuted, split, squeeze, unbind, view_sizes, written
from .table import ALL, INTS, WIDE, Make, Op, S, f16, f32, i64


def views(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 4, 3)
    yield S(m.x(3, 4), (2, -1))
    yield S(m.x(2, 3, 2), -1)
    yield S(m.x(6), 2, 3)
    yield S(m.x(), 1)
    yield S(m.x(1), ())
    yield S(m.x(0, 3), 3, 0)
    yield S(m.t(2, 3, 2), 2, 3, 2, 1)


def reshapes(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), (4, 3)).by("ViewBackward0")
    yield S(m.t(3, 4), (12,)).by("UnsafeViewBackward0")
    yield S(m.e(3, 4), (-1, 6)).by("UnsafeViewBackward0")
    yield S(m.x(), (1, 1)).by("ViewBackward0")
    yield S(m.x(0, 3), (0,)).by("ViewBackward0")


def flattens(m: Make) -> Iterator[S]:
    yield S(m.x(2, 3, 2)).by("ViewBackward0")
    yield S(m.x(2, 3, 2), 1).by("ViewBackward0")
    yield S(m.t(2, 3, 2), 0, -2).by("UnsafeViewBackward0")
    yield S(m.x()).by("ViewBackward0")
    yield S(m.x(2, 3), start_dim=-2, end_dim=-1).by("ViewBackward0")


def squeezes(m: Make) -> Iterator[S]:
    yield S(m.x(2, 1, 3, 1)).by("SqueezeBackward0")
    yield S(m.x(2, 1, 3, 1), 1).by("SqueezeBackward1")
    yield S(m.x(2, 1, 3, 1), -1).by("SqueezeBackward1")
    yield S(m.x(2, 1, 3, 1), 0).by("SqueezeBackward1")
    yield S(m.x(2, 1, 3, 1), (1, 3)).by("SqueezeBackward2")
    yield S(m.x(1)).by("SqueezeBackward0")
    yield S(m.x()).by("SqueezeBackward0")
    yield S(m.t(2, 1, 3)).by("SqueezeBackward0")


def expands(m: Make) -> Iterator[S]:
    yield S(m.x(3, 1), 3, 4)
    yield S(m.x(3, 1), (2, -1, 4))
    yield S(m.x(), 2, 2)
    yield S(m.x(1), 3)
    yield S(m.t(3, 1), -1, 2)
    yield S(m.x(1, 3), 0, 3)


def of(path: str) -> Callable[[Any], Any]:
    """The Tensor method as a function, for what is a method only."""
    return lambda torch: getattr(torch.Tensor, path, None)


def write(x: Any, where: Any, value: Any) -> Any:
    y = x.clone()
    y[where] = value
    return y


def reads(m: Make) -> Iterator[S]:
    at = slice
    yield S(m.x(3, 4), 0).by("SelectBackward0", True)
    yield S(m.x(3, 4), -1).by("SelectBackward0", True)
    yield S(m.x(4), 2).by("SelectBackward0", True)
    yield S(m.x(3, 4), at(1, 3)).by("SliceBackward0", True)
    yield S(m.x(3, 4), at(None)).by("SliceBackward0", True)
    yield S(m.x(5), at(None, None, 2)).by("SliceBackward0", True)
    yield S(m.x(3, 4), at(5, 9)).by("SliceBackward0", True)
    yield S(m.x(3, 4), at(-2, None)).by("SliceBackward0", True)
    yield S(m.x(3, 4), None).by("UnsqueezeBackward0", True)
    yield S(m.x(3, 4), Ellipsis).by("AliasBackward0", True)
    yield S(m.x(2, 3, 2), (Ellipsis, 0)).by("SelectBackward0", True)
    yield S(m.x(2, 3, 2), (at(None), 1)).by("SelectBackward0", True)
    yield S(m.x(2, 3, 2), (1, at(0, 2), None)).by("UnsqueezeBackward0", True)
    yield S(m.t(3, 4), (at(0, 2), at(1, 3))).by("SliceBackward0", True)
    yield S(m.e(3, 4), 1).by("SelectBackward0", True)
    yield S(m.x(3, 4), ()).by("AliasBackward0", True)
    yield S(m.x(), ()).by("AliasBackward0", True)
    yield S(m.x(), None).by("UnsqueezeBackward0", True)
    yield S(m.x(0, 3), at(None)).by("SliceBackward0", True)
    # with tensors
    yield S(m.x(3, 4), m.i(3, 2)).by("IndexBackward0")
    yield S(m.x(3, 4), m.i(3, 2, low=-3)).by("IndexBackward0")
    yield S(m.x(3, 4), m.i(3, 2, 3)).by("IndexBackward0")
    yield S(m.x(3, 4), [0, 2, 0]).by("IndexBackward0")
    yield S(m.x(3, 4), m.mask(3, 4)).by("IndexBackward0")
    yield S(m.x(3, 4), m.mask(3)).by("IndexBackward0")
    yield S(m.t(3, 4), (m.i(3, 2), m.i(4, 2))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (at(None), m.i(3, 2))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (m.i(2, 3), at(None), m.i(4, 3))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (0, m.i(3, 2))).by("IndexBackward0")
    yield S(m.x(2, 3, 4), (m.i(2, 2, 1), m.i(3, 3))).by("IndexBackward0")
    yield S(m.x(3), m.i(3, 0)).by("IndexBackward0")
    yield S(m.e(3, 4), (at(None), m.i(4, 5))).by("IndexBackward0")


def read(x: Any, where: Any) -> Any:
    return x[tuple(where) if isinstance(where, tuple) else where]


def writes(m: Make) -> Iterator[S]:
    at = slice
    yield S(m.x(3, 4), 0, m.x(4)).by("CopySlices")
    yield S(m.x(3, 4), 0, 1).by("CopySlices")
    yield S(m.t(3, 4), at(1, 3), m.x(2, 4)).by("CopySlices")
    yield S(m.x(3, 4), (at(None), 1), m.x(3)).by("CopySlices")
    yield S(m.x(3, 4), (0, 0), m.x()).by("CopySlices")
    yield S(m.x(3, 4), at(None), m.x(1, 4)).by("CopyBackwards", True)
    yield S(m.x(3, 4), Ellipsis, m.x(4)).by("CopyBackwards", True)
    yield S(m.x(5), at(None, None, 2), m.x(3)).by("CopySlices")
    yield S(m.x(3, 4), m.distinct(3, 2), m.x(2, 4)).by("IndexPutBackward0")
    yield S(m.x(3, 4), m.distinct(3, 2), m.x(4)).by("IndexPutBackward0")
    yield S(m.x(3, 4), m.mask(3, 4), 2).by("IndexPutBackward0")
    yield S(m.x(3, 4), m.mask(3, 4), m.x()).by("IndexPutBackward0")
    yield S(m.x(2, 3), (m.distinct(2, 2), m.distinct(3, 2)), m.x(2)).by("IndexPutBackward0")
    yield S(m.x(2, 3, 4), (at(None), m.distinct(3, 2)), m.x(2, 2, 4))
    yield S(m.x(2, 3, 4), (0, m.distinct(3, 2)), m.x(2, 4)).by("CopySlices")


def cats(m: Make) -> Iterator[S]:
    yield S([m.x(2, 3), m.x(1, 3)])
    yield S([m.x(2, 3), m.t(2, 2)], 1)
    yield S([m.x(2, 3), m.e(2, 3), m.x(2, 1)], dim=-1)
    yield S([m.x(3)])
    yield S([m.x(2, 3), m.x(0, 3)])
    yield S([m.x(0), m.x(2, 3)])


def stacks(m: Make) -> Iterator[S]:
    yield S([m.x(2, 3), m.t(2, 3)])
    yield S([m.x(2, 3), m.x(2, 3), m.e(2, 3)], 1)
    yield S([m.x(2), m.x(2)], dim=-1)
    yield S([m.x(), m.x()])
    yield S([m.x(0, 2), m.x(0, 2)])


def splits(m: Make) -> Iterator[S]:
    yield S(m.x(4, 3), 2).by("SplitBackward0")
    yield S(m.x(5, 3), 2).by("SplitBackward0")
    yield S(m.t(3, 4), 3, 1).by("SplitBackward0")
    yield S(m.x(3, 4), [1, 3], -1).by("SplitWithSizesBackward0")
    yield S(m.x(3, 4), 9).by("SplitBackward0")


def chunks(m: Make) -> Iterator[S]:
    yield S(m.x(4, 3), 2)
    yield S(m.x(5, 3), 3)
    yield S(m.t(3, 4), 3, 1)
    yield S(m.x(3, 4), 9, -1)


def unbinds(m: Make) -> Iterator[S]:
    yield S(m.x(3, 2))
    yield S(m.t(3, 2), 1)
    yield S(m.e(3, 2), -1)
    yield S(m.x(3))


def repeated(x: Any, *n: Any) -> Any:
    return np.tile(x, n[0] if isinstance(n[0], (list, tuple)) else n)


def diag_pairs(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4))
    yield S(m.t(3, 4), 1)
    yield S(m.x(3, 4), -1)
    yield S(m.x(3, 4), -9)
    yield S(m.x(0, 3))


def tris(m: Make) -> Iterator[S]:
    yield from diag_pairs(m)
    yield S(m.x(2, 3, 3), 1)
    yield S(m.e(3, 3))


SHAPES = [
    Op("view", views, view_sizes, call=of("view"), node="ViewBackward0", dtypes=ALL, result="first", view=True,
       twice=True, exact=True),
    Op("reshape", reshapes, lambda x, s: x.reshape(s), dtypes=ALL, result="first", twice=True, exact=True),
    Op("flatten", flattens, flat, dtypes=ALL, result="first", twice=True, exact=True),
    Op("permute", lambda m: iter([S(m.x(2, 3, 4), (2, 0, 1)), S(m.t(2, 3), (-1, 0)), S(m.x(), ()),
       S(m.x(0, 2), (1, 0))]), permuted,
       node="PermuteBackward0", dtypes=ALL, result="first", view=True, twice=True, exact=True),
    Op("transpose", lambda m: iter([S(m.x(2, 3, 4), 0, 2), S(m.x(2, 3), -1, -2), S(m.x(2, 3), 1, 1), S(m.x(), 0, -1),
       S(m.e(2, 3), 0, 1)]),
       lambda x, a, b: np.swapaxes(x, a,
           b) if x.ndim else x, node="TransposeBackward0", dtypes=ALL, result="first", view=True, inplace=True,
       twice=True, exact=True),
    Op("t", lambda m: iter([S(m.x(2, 3)), S(m.x(3)), S(m.x()), S(m.e(2, 3))]), np.transpose, node="TBackward0",
       dtypes=ALL, result="first",
       view=True, inplace=True, twice=True, exact=True),
    Op("squeeze", squeezes, squeeze, dtypes=ALL, result="first", view=True, inplace=True, twice=True, exact=True),
    Op("unsqueeze", lambda m: iter([S(m.x(2, 3), 0), S(m.x(2, 3), -1), S(m.t(2, 3), 1), S(m.x(), 0), S(m.x(0), -2)]),
       np.expand_dims,
       node="UnsqueezeBackward0", dtypes=ALL, result="first", view=True, inplace=True, twice=True, exact=True),
    Op("expand", expands, expand, call=of("expand"), node="ExpandBackward0", dtypes=ALL, result="first", view=True,
       twice=True, exact=True),
    Op("broadcast_to", lambda m: iter([S(m.x(3, 1), (2, 3, 4)), S(m.x(), (2,))]), np.broadcast_to,
       node="ExpandBackward0", result="first",
       view=True, twice=True, exact=True),
    Op("getitem", reads, read, path="operator.getitem", dtypes=ALL, result="first", exact=True),
    Op("setitem", writes, written, call=lambda torch: write, dtypes=WIDE + INTS, result="first", exact=True),
    Op("cat", cats, lambda xs, dim=0: np.concatenate([x for x in xs if x.shape != (0,)], dim), node="CatBackward0",
       dtypes=ALL, result="tensors",
       method=None, out=True, twice=True, exact=True),
    Op("stack", stacks, lambda xs, dim=0: np.stack(xs, dim), node="StackBackward0", dtypes=ALL, result="tensors",
       method=None, out=True, twice=True,
       exact=True),
    Op("split", splits, split, dtypes=ALL, result="first", view=True, twice=True, exact=True),
    Op("chunk", chunks, chunk, node="SplitBackward0", dtypes=ALL, result="first", view=True, twice=True, exact=True),
    Op("unsafe_chunk", chunks, chunk, node="UnsafeSplitBackward0", dtypes=ALL, result="first", twice=True, exact=True),
    Op("unbind", unbinds, unbind, node="UnbindBackward0", dtypes=ALL, result="first", view=True, twice=True,
       exact=True),
    Op("clone", one, np.copy, node="CloneBackward0", dtypes=ALL, twice=True, exact=True),
    Op("contiguous", one, np.copy, call=of("contiguous"), dtypes=ALL, twice=True, exact=True),
    Op("detach", one, np.copy, method=True, dtypes=ALL, grad=False, exact=True),
    Op("repeat", lambda m: iter([S(m.x(2, 3), 2, 1), S(m.x(3), (2, 2)), S(m.x(), 2), S(m.t(2, 3), 1, 1)]), repeated,
       call=of("repeat"),
       node="RepeatBackward0", result="first", twice=True, exact=True),
    Op("flip", lambda m: iter([S(m.x(2, 3), (0,)), S(m.t(2, 3), (0, 1)), S(m.x(2, 3), (-1,))]), lambda x,
       d: np.flip(x, d),
       node="FlipBackward0", dtypes=ALL, result="first", twice=True, exact=True),
    Op("roll", lambda m: iter([S(m.x(2, 3), 1), S(m.x(2, 3), 1, 0), S(m.t(2, 3), (1, -1), (0, 1))]), lambda x, s,
       d=None: np.roll(x, s, d),
       node=None, dtypes=ALL, result="first", twice=True, exact=True),
    Op("rot90", lambda m: iter([S(m.x(2, 3), 1, (0, 1)), S(m.x(2, 3), 2, (0, 1)), S(m.x(2, 3), -1, (1, 0))]), lambda x,
       k, d: np.rot90(x, k, d),
       node="Rot90Backward0", dtypes=ALL, result="first", twice=True, exact=True),
    Op("tril", tris, np.tril, node="TrilBackward0", dtypes=ALL, result="first", inplace=True, out=True, twice=True,
       exact=True),
    Op("triu", tris, np.triu, node="TriuBackward0", dtypes=ALL, result="first", inplace=True, out=True, twice=True,
       exact=True),
    Op("diagonal", diag_pairs, lambda x, k=0: np.diagonal(x, k), node="DiagonalBackward0", dtypes=ALL, result="first",
       view=True, twice=True, exact=True),
    Op("trace", lambda m: iter([S(m.x(3, 3)), S(m.t(2, 3))]), lambda x: np.trace(x,
       dtype=np.int64 if x.dtype.kind in "iu" else None),
       node="TraceBackward0", dtypes=WIDE + INTS, result="sum", twice=True),
    Op("diag", lambda m: iter([S(m.x(3)), S(m.x(3), 1), S(m.x(3, 4)), S(m.t(3, 4), -1)]), lambda x, k=0: np.diag(x, k),
       result="first", twice=True,
       exact=True),
    Op("to_double", one, lambda x: x, call=of("double"), dtypes=(f32, f16, i64), result="float64",
       node="ToCopyBackward0", twice=True, exact=True),
    Op("to_half", one, lambda x: x, call=of("half"), dtypes=(f32, i64), result="float16", node="ToCopyBackward0",
       twice=True),
    Op("movedim", lambda m: iter([S(m.x(2, 3, 4), 0, 2), S(m.x(2, 3, 4), (0, 1), (1, 2))]), np.moveaxis,
       node="PermuteBackward0", view=True, twice=True,
       exact=True),
]
