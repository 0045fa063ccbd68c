"""Approximations of low rank by random projections (Halko, Martinsson and Tropp 2009): torch.svd_lowrank, pca_lowrank."""
from __future__ import annotations

from typing import Any

from .create import randn
from .decomp import linalg_qr, linalg_svd
from .products import matmul


def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> Any:
    """(U, S, V) with A - M about U diag(S) Vt: the q largest singular values of A (..., m, n), and a little more than those.

    q of a few more than the rank looked for, and niter of 2 or so, make it accurate; M broadcasts to A.
    https://pytorch.org/docs/stable/generated/torch.svd_lowrank.html
    """
    q, niter = 6 if q is None else q, 2 if niter is None else niter
    if M is not None:
        A = A - M.broadcast_to(A.size())
    m, n = A.shape[-2:]
    wide = m < n
    if wide:
        A = A.mH
    drawn = A.dtype if A.is_floating_point() or A.is_complex() else None        # matmul refuses integers
    start = randn(A.shape[-1], q, dtype=drawn)
    basis = linalg_qr(matmul(A, start))[0]
    for _ in range(niter):
        basis = linalg_qr(matmul(A.mH, basis))[0]
        basis = linalg_qr(matmul(A, basis))[0]
    u, s, vh = linalg_svd(matmul(basis.mH, A), full_matrices=False)
    u, v = matmul(basis, u), vh.mH
    return (v, s, u) if wide else (u, s, v)


def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> Any:
    """(U, S, V) of the rows of A (..., m, n) less their mean (if center): principal directions are V's columns.

    https://pytorch.org/docs/stable/generated/torch.pca_lowrank.html
    """
    m, n = A.shape[-2:]
    if q is None:
        q = min(6, m, n)
    elif not 0 <= q <= min(m, n):
        raise ValueError(f"q(={q}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if not niter >= 0:
        raise ValueError(f"niter(={niter}) must be non-negative integer")
    return svd_lowrank(A - A.mean(-2, keepdim=True) if center else A, q, niter)
