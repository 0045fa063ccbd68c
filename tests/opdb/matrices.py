"""Rows of torch.linalg."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .table import WIDE, Make, Op, S, f64


def well(m: Make, *batch: int, n: int = 3) -> Any:
    """Well-conditioned matrices."""
    return (m.x(*batch, n, n) + 4 * np.eye(n)).astype(m.dtype)


def spd(m: Make, *batch: int, n: int = 3) -> Any:
    a = m.x(*batch, n, n).astype(np.float64)
    return (a @ np.swapaxes(a, -1, -2) + n * np.eye(n)).astype(m.dtype)


def symmetric_part(f: Callable[[Any, Any], Any]) -> Callable[[Any], Callable[..., Any]]:
    """f on (torch, (A + A^T) / 2): decompositions of symmetric matrices look at one triangle only."""
    return lambda torch: None if getattr(torch, "linalg", None) is None else lambda a: f(torch, (a + a.mT) / 2)


def matrix_exp(x: Any) -> Any:
    """By eigenvalues, of float64."""
    values, vectors = np.linalg.eig(x.astype(np.float64))
    return ((vectors * np.exp(values)[..., None, :]) @ np.linalg.inv(vectors)).real


LINALG = [
    Op("linalg.det", lambda m: iter([S(well(m)), S(well(m, 2))]), np.linalg.det, node="LinalgDetBackward0",
       dtypes=WIDE, tol=40),
    Op("linalg.slogdet", lambda m: iter([S(well(m)), S(well(m, 2))]), lambda a: tuple(np.linalg.slogdet(a)),
       node="LinalgSlogdetBackward0", dtypes=WIDE, tol=40),
    Op("linalg.matrix_exp", lambda m: iter([S(m.x(3, 3)), S(m.x(2, 2, 2)), S(m.x(3, 3) * 5)]), matrix_exp,
       node="LinalgMatrixExpBackward0", dtypes=WIDE, tol=100),
    Op("linalg.inv", lambda m: iter([S(well(m)), S(well(m, 2))]), np.linalg.inv, node="LinalgInvExBackward0",
       dtypes=WIDE, tol=40),
    Op("linalg.solve", lambda m: iter([S(well(m), m.x(3, 2)), S(well(m), m.x(3)), S(well(m, 2), m.x(2, 3, 2))]),
       lambda a, b: np.linalg.solve(a, b[..., None])[..., 0] if b.ndim == 1 else np.linalg.solve(a,
           b), node="LinalgSolveExBackward0", dtypes=WIDE, tol=40),
    Op("linalg.cholesky", lambda m: iter([S(spd(m)), S(spd(m, 2))]), np.linalg.cholesky,
       call=symmetric_part(lambda torch, a: torch.linalg.cholesky(a)),
       dtypes=WIDE, tol=40, node="LinalgCholeskyExBackward0"),
    Op("linalg.svdvals", lambda m: iter([S(m.x(3, 2)), S(m.x(2, 3, 3))]), lambda a: np.linalg.svd(a, compute_uv=False),
       dtypes=WIDE, tol=40, order2=False,
       node="LinalgSvdBackward0"),
    Op("linalg.eigvalsh", lambda m: iter([S(spd(m))]), np.linalg.eigvalsh,
       call=symmetric_part(lambda torch, a: torch.linalg.eigvalsh(a)), dtypes=WIDE,
       tol=40, order2=False, node="LinalgEighBackward0"),
    Op("linalg.qr", lambda m: iter([S(m.x(3, 2)), S(well(m, 2))]), lambda a: tuple(np.linalg.qr(a)), dtypes=WIDE,
       tol=40,
       result=("first", "first"), node="LinalgQrBackward0", order2=False),
    Op("linalg.lstsq", lambda m: iter([S(m.x(4, 2), m.x(4, 3))]), lambda a, b: np.linalg.pinv(a) @ b, dtypes=(f64,),
       tol=40,
       call=lambda torch: None if getattr(torch, "linalg", None) is None else lambda a, b: torch.linalg.lstsq(a,
           b).solution,
       node="LinalgLstsqBackward0", order2=False),
    Op("cholesky", lambda m: iter([S(spd(m))]), np.linalg.cholesky,
       call=lambda torch: lambda a: torch.cholesky((a + a.mT) / 2),
       dtypes=WIDE, tol=40, node="CholeskyBackward0", oracle=False),
    Op("linalg.matrix_power", lambda m: iter([S(m.x(3, 3), 3), S(well(m), -2)]), np.linalg.matrix_power, dtypes=WIDE,
       tol=40),
    Op("linalg.pinv", lambda m: iter([S(m.x(3, 2)), S(m.x(2, 3))]), np.linalg.pinv, dtypes=WIDE, tol=100, order2=False,
       twice=None),
]
