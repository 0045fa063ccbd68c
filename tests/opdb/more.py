"""Rows of rarer reductions, shapes and joins."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .pointwise import KINK, _inverse, _polygamma, _slope, pointwise
from .reductions import lower_median, plain_or, spread, variances
from .shapes import of
from .shared import along, axis_of, norm, reduced, reductions, vector
from .table import FLOATS, INTS, WIDE, Op, S, b8, f32, f64, i64


def moments(root: bool) -> Callable[..., Any]:
    def ref(x: Any, dim: Any = None, unbiased: bool = True, keepdim: bool = False, correction: int = 1) -> Any:
        return spread(root)(x, dim, unbiased, keepdim, correction), np.mean(x, axis=axis_of(dim, x), keepdims=keepdim)

    return ref


def dist(a: Any, b: Any, p: float = 2.0) -> Any:
    return norm(a - b, p)


def modes(x: Any, dim: int = -1, keepdim: bool = False) -> Any:
    values = np.apply_along_axis(lambda r: min(r, key=lambda v: (-np.sum(r == v), v)), dim, x)
    at = np.apply_along_axis(lambda r: int(np.flatnonzero(r == min(r, key=lambda v: (-np.sum(r == v), v)))[-1]), dim, x)
    return (np.expand_dims(values, dim), np.expand_dims(at, dim)) if keepdim else (values, at)


def unfold(x: Any, dim: int, size: int, step: int) -> Any:
    windows = np.lib.stride_tricks.sliding_window_view(x, size, axis=dim)
    return np.take(windows, range(0, x.shape[dim] - size + 1, step), axis=dim)


def diag_embed(x: Any, offset: int = 0) -> Any:
    n = x.shape[-1] + abs(offset)
    out = np.zeros((*x.shape[:-1], n, n))
    for at in np.ndindex(*x.shape):
        i = at[-1]
        out[(*at[:-1], i + max(-offset, 0), i + max(offset, 0))] = x[at]
    return out


def strided(x: Any, size: Any, stride: Any, offset: int = 0) -> Any:
    line = x.reshape(-1)
    return np.array([line[offset + sum(i * s for i, s in zip(at, stride))] for at in np.ndindex(*size)]).reshape(size)


def block_diag(*xs: Any) -> Any:
    xs = tuple(np.atleast_2d(x) for x in xs)
    out = np.zeros((sum(x.shape[0] for x in xs), sum(x.shape[1] for x in xs)))
    i = j = 0
    for x in xs:
        out[i : i + x.shape[0], j : j + x.shape[1]] = x
        i, j = i + x.shape[0], j + x.shape[1]
    return out


MORE = [
    Op("nansum", plain_or(along), reduced(np.nansum), node="NansumBackward0", dtypes=WIDE),
    Op("nanmean", plain_or(along), reduced(np.nanmean), dtypes=WIDE),
    Op("nanmedian", reductions, lower_median, node="NanmedianBackward0", dtypes=WIDE, exact=True, picks=True),
    Op("nanmedian_dim", along, lower_median, path="nanmedian", result=("first", "int64"), node="NanmedianBackward1",
       dtypes=WIDE, exact=True, picks=True,
       oracle=False),
    Op("aminmax", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), dim=0), S(m.x(3, 4), dim=-1, keepdim=True)]),
       lambda x, dim=None, keepdim=False: (np.min(x, dim, keepdims=keepdim),
           np.max(x, dim, keepdims=keepdim)), node="AminmaxBackward0", dtypes=WIDE,
       result=("first", "first"), exact=True),
    Op("mode", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 0, True)]), modes, node="ModeBackward0", dtypes=WIDE,
       result=("first", "int64"), exact=True),
    Op("dist", lambda m: iter([S(m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(4), 3), S(m.x(3), m.x(3), 1)]), dist,
       node="DistBackward0", dtypes=WIDE),
    Op("var_mean", variances, moments(False), node="VarMeanBackward0", dtypes=FLOATS, method=None,
       result=("first", "first")),
    Op("std_mean", variances, moments(True), node="StdMeanBackward0", dtypes=FLOATS, method=None,
       result=("first", "first")),
    Op("count_nonzero", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 0)]), lambda x,
       dim=None: np.count_nonzero(x, axis=dim), dtypes=(f32, i64, b8),
       grad=False, result="int64", exact=True),
    Op("clamp_min", lambda m: iter([S(m.x(3, 4), 0).by("ClampMinBackward0"),
       S(m.t(3, 4), m.x(4)).by("ClampMinBackward1")]), np.maximum, inplace=True,
       out=True, dtypes=WIDE + INTS, exact=True, kinks=(0.0,)),
    Op("clamp_max", lambda m: iter([S(m.x(3, 4), 0).by("ClampMaxBackward0"),
       S(m.t(3, 4), m.x(4)).by("ClampMaxBackward1")]), np.minimum, inplace=True,
       out=True, dtypes=WIDE + INTS, exact=True, kinks=(0.0,)),
    Op("fmod_number", lambda m: iter([S(m.x(3, 4), 2), S(m.t(3, 4), 1.5)]), np.fmod, path="fmod", inplace=True,
       out=True, node="FmodBackward0", twice=True,
       low=1.1, high=1.4),
    Op("copysign_number", lambda m: iter([S(m.x(3, 4), -2), S(m.t(3, 4), 1.5)]), np.copysign, path="copysign",
       inplace=True, node="CopysignBackward1", **KINK),
    Op("xlogy_number", lambda m: iter([S(m.x(3, 4), 2).by("XlogyBackward2")]), lambda a, b: a * np.log(b),
       path="xlogy", low=0.5, high=3),
    Op("number_xlogy", lambda m: iter([S(2, m.x(3, 4)).by("XlogyBackward1")]), lambda a, b: a * np.log(b),
       path="xlogy", method=None, low=0.5, high=3),
    Op("round_decimals", lambda m: iter([S(m.x(3, 4), decimals=1), S(m.t(3, 4), decimals=2)]), lambda x,
       decimals: np.round(x, decimals), path="round",
       node="RoundBackward1", dtypes=(f64,), twice=True, low=0.01, high=0.04, kinks=(0.015, 0.025), gap=0.001),
    pointwise("erfinv", vector(lambda y: _inverse(math.erf, y)), -0.8, 0.8, dtypes=FLOATS),
    pointwise("digamma", vector(lambda x: _slope(math.lgamma, x)), 0.5, 4, dtypes=(f32,), tol=50),
    Op("polygamma", lambda m: iter([S(1, m.x(3, 4)), S(2, m.t(3, 4)), S(0, m.x())]), lambda n,
       x: vector(lambda v: _polygamma(n, v))(x), method=None,
       node="PolygammaBackward0", low=0.5, high=4, dtypes=WIDE, tol=1e4),
    Op("diag_embed", lambda m: iter([S(m.x(3)), S(m.x(2, 3), 1), S(m.t(2, 3), -1)]), diag_embed,
       node="DiagEmbedBackward0", result="first", twice=True),
    Op("unfold", lambda m: iter([S(m.x(3, 5), 1, 3, 2), S(m.t(4, 3), 0, 2, 1)]), unfold, call=of("unfold"),
       node="UnfoldBackward0", result="first",
       twice=True, exact=True),
    Op("as_strided", lambda m: iter([S(m.x(3, 4), (2, 2), (4, 1)), S(m.x(12), (3, 3), (2, 1), 1)]), strided,
       node="AsStridedBackward0", result="first",
       twice=True, exact=True),
    Op("block_diag", lambda m: iter([S(m.x(2, 2), m.x(1, 3)), S(m.x(2), m.t(2, 3))]), block_diag, method=None,
       node="BlockDiagBackward0", dtypes=WIDE,
       result="tensors", twice=True),
    Op("fill_", lambda m: iter([S(m.x(3, 4), m.x()).by("FillBackward3"), S(m.t(3, 4), 2)]), lambda x,
       v: np.broadcast_to(v, x.shape),
       call=lambda torch: lambda x, v: (x + 0).fill_(v), node="FillBackward2", result="first", twice=True, exact=True),
    Op("zero_", lambda m: iter([S(m.x(3, 4))]), np.zeros_like, call=lambda torch: lambda x: (x + 0).zero_(),
       node="ZeroBackward0", twice=True, exact=True),
    Op("copy_", lambda m: iter([S(m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(4))]), lambda x,
       v: np.broadcast_to(v, x.shape),
       call=lambda torch: lambda x, v: (x + 0).copy_(v), node="CopyBackwards", result="first", twice=True, exact=True),
    Op("diff", lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 1, 0), S(m.x(5), 2)]), lambda x, n=1,
       dim=-1: np.diff(x, n, dim), dtypes=WIDE, twice=True),
    Op("repeat_interleave", lambda m: iter([S(m.x(2, 3), 2), S(m.t(2, 3), 2, 0), S(m.x(2, 3), m.i(3, 2) + 1, 0)]),
       lambda x, r, dim=None: np.repeat(x, np.asarray(r, np.intp), dim), dtypes=WIDE, result="first", exact=True, twice=None),
    *[Op(name, lambda m: iter([S((m.x(2, 3), m.t(2, 3)))]), ref, method=None, out=True, node=None, twice=True,
        dtypes=WIDE, result="tensors", exact=True)
      for name, ref in [("vstack", np.vstack), ("hstack", np.hstack), ("dstack", np.dstack),
          ("column_stack", np.column_stack)]],
    Op("addmv", lambda m: iter([S(m.x(2), m.x(2, 3), m.x(3)), S(m.x(1), m.t(2, 3), m.x(3), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b), node="AddmvBackward0", out=True, tol=4),
    Op("addr", lambda m: iter([S(m.x(2, 3), m.x(2), m.x(3)), S(m.x(3), m.x(2), m.x(3), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * np.outer(a,
           b), node="AddrBackward0", inplace=None, out=True, tol=4),
    Op("baddbmm", lambda m: iter([S(m.x(2, 2, 2), m.x(2, 2, 3), m.x(2, 3, 2)),
       S(m.x(2), m.t(2, 2, 3), m.x(2, 3, 2), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b), node="BaddbmmBackward0", out=True, tol=8),
    Op("addbmm", lambda m: iter([S(m.x(2, 2), m.x(2, 2, 3), m.x(2, 3, 2)),
       S(m.x(2), m.t(2, 2, 3), m.x(2, 3, 2), beta=0.5, alpha=2)]),
       lambda c, a, b, beta=1, alpha=1: beta * c + alpha * (a @ b).sum(0), node="AddbmmBackward0", out=True, tol=8),
    Op("vdot", lambda m: iter([S(m.x(3), m.x(3)), S(m.s(3), m.x(3))]), np.vdot, node="VdotBackward0", tol=4),
    Op("linalg.cross", lambda m: iter([S(m.x(2, 3), m.x(2, 3)), S(m.t(2, 3), m.x(1, 3))]), np.cross,
       node="LinalgCrossBackward0", tol=4, oracle=True),
    Op("cdist", lambda m: iter([S(m.x(3, 2), m.x(4, 2)), S(m.x(2, 3, 2), m.t(2, 4, 2), 1.0),
       S(m.x(3, 2), m.x(4, 2), 3.0)]),
       lambda a, b, p=2.0: (np.abs(a[..., :, None, :] - b[..., None, :,
           :]) ** p).sum(-1) ** (1 / p), node="CdistBackward0", dtypes=WIDE, method=None,
       order2=False, tol=100),
]
