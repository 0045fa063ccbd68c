"""Rows of products of matrices."""

from __future__ import annotations

import numpy as np

from .shared import addmm, matmul
from .table import FLOATS, Op, S

PRODUCTS = [
    Op("mm", lambda m: iter([S(m.x(2, 3), m.x(3, 4)), S(m.t(2, 3), m.t(3, 2)), S(m.e(2, 3), m.x(3, 1)),
       S(m.x(0, 3), m.x(3, 2)),
                             S(m.x(2, 0), m.x(0, 2))]), matmul, node="MmBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("mv", lambda m: iter([S(m.x(2, 3), m.x(3)), S(m.t(2, 3), m.s(3)), S(m.x(0, 3), m.x(3))]), np.matmul,
       node="MvBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("dot", lambda m: iter([S(m.x(3), m.x(3)), S(m.s(3), m.x(3)), S(m.x(0), m.x(0))]), np.dot, node="DotBackward0",
       dtypes=FLOATS, out=True, tol=4),
    Op("bmm", lambda m: iter([S(m.x(2, 3, 2), m.x(2, 2, 4)), S(m.e(2, 3, 2), m.x(2, 2, 1)),
       S(m.x(0, 2, 2), m.x(0, 2, 2))]), matmul,
       node="BmmBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("addmm", lambda m: iter([S(m.x(2, 4), m.x(2, 3), m.x(3, 4)), S(m.x(4), m.t(2, 3), m.x(3, 4)),
       S(m.x(), m.x(2, 3), m.x(3, 4), beta=0.5, alpha=2),
                                S(m.x(2, 1), m.x(2, 3), m.t(3, 4),
                                    alpha=-1)]), addmm, node="AddmmBackward0", dtypes=FLOATS, out=True, tol=4),
    Op("matmul", lambda m: iter([S(m.x(2, 3), m.x(3, 4)).by("MmBackward0"), S(m.x(2, 3), m.x(3)).by("MvBackward0"),
       S(m.x(3), m.x(3)).by("DotBackward0"),
                                 S(m.x(3), m.x(3, 2)).by("SqueezeBackward4"), S(m.x(2, 2, 3),
                                     m.x(3, 2)).by("UnsafeViewBackward0"),
                                 S(m.x(2, 2, 3), m.x(2, 3, 2)).by("UnsafeViewBackward0"), S(m.x(2, 2, 3),
                                     m.x(3)).by("UnsafeViewBackward0"),
                                 S(m.x(2, 1, 2, 3), m.t(2, 3, 2)).by("UnsafeViewBackward0"), S(m.x(3), m.x(2, 3, 2)),
                                 S(m.t(2, 2, 3), m.e(3,
                                     2)).by("UnsafeViewBackward0")]), np.matmul, dtypes=FLOATS, out=True, tol=4),
    Op("operator.matmul", lambda m: iter([S(m.x(2, 3), m.x(3, 4)), S(m.t(2, 3), m.t(3, 2))]), matmul,
       node="MmBackward0", dtypes=FLOATS, tol=4),
    Op("outer", lambda m: iter([S(m.x(2), m.x(3)), S(m.s(2), m.x(1))]), np.outer, node="MulBackward0", dtypes=FLOATS,
       out=True),
]
