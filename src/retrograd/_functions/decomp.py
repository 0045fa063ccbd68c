"""Decompositions of matrices: torch.linalg.cholesky, qr, svd, eigh and the older torch.svd, torch.qr.

upper        True: the upper triangle U with A = U^H U; False: the lower, L with A = L L^H
some         True: the reduced form; False: square factors
compute_uv   False: zeros in the place of U and V
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import wrap
from .._engine.warn import warn_once
from .._rules import decomp, shape
from .._rules.complexes import conj_view
from .matrices import kind_of, matrices, square, squares, zeros_info
from .pointwise import not_implemented
from .results import named

PRIVATE = "eig"                                             # torch.linalg has these

# Decompositions
CHOLESKY_EX = named("linalg_cholesky_ex", "L", "info")
QR = {name: named(name, "Q", "R") for name in ("linalg_qr", "qr")}
LINALG_SVD = named("linalg_svd", "U", "S", "Vh")
SVD = named("svd", "U", "S", "V")
EIG = named("linalg_eig", "eigenvalues", "eigenvectors")
EIGH = named("linalg_eigh", "eigenvalues", "eigenvectors")


def linalg_cholesky(A: Any, *, upper: bool = False, out: Any = None) -> Any:
    """The lower factor L with A = L L^H; the upper one U with A = U^H U if upper.  LinAlgError unless A is positive definite."""
    x = squares(A, "linalg.cholesky")
    return decomp.cholesky(x, upper)


def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:
    """(L, info): info is 0, or the order of the first leading minor not positive definite; check_errors raises."""
    x = squares(A, "linalg.cholesky")
    op = decomp.LinalgCholeskyExBackward0(upper, "linalg.cholesky_ex" if check_errors else "")
    y: Any = op.run(x)
    return CHOLESKY_EX((y, zeros_info(x) if op.info is None else wrap(op.info)))


def cholesky(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """torch.linalg.cholesky under its old name."""
    warn_once(
        "torch.cholesky is deprecated in favor of torch.linalg.cholesky and will be removed in a future PyTorch release.\n"
        "L = torch.cholesky(A)\nshould be replaced with\nL = torch.linalg.cholesky(A)\nand\nU = torch.cholesky(A, upper=True)\n"
        "should be replaced with\nU = torch.linalg.cholesky(A).mH\nThis transform will produce equivalent results for all valid "
        "(symmetric positive definite) inputs.")
    x = squares(input, "cholesky")
    return decomp.old_cholesky(x, upper)


def cholesky_solve(input: Any, input2: Any, upper: bool = False, *, out: Any = None) -> Any:
    """The solution X of A X = input, from the Cholesky factor input2 of A."""
    for letter, x in (("b", input), ("u", input2)):
        if x.ndim < 2:
            raise RuntimeError(f"{letter} should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    if input.array.dtype != input2.array.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {kind_of(input)} and A of type "
            f"{kind_of(input2)} instead.")
    rows, columns = input2.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if input.shape[-2] != rows:
        raise RuntimeError(f"Incompatible matrix sizes for cholesky_solve: each A matrix is {rows} by {columns} but each b "
                           f"matrix is {input.shape[-2]} by {input.shape[-1]}")
    low = decomp.mH(input2) if upper else input2
    half = decomp.solve_triangular(low, input, False, True, False)
    return decomp.solve_triangular(decomp.mH(low), half, True, True, False)


def cholesky_inverse(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """The inverse of A, from its Cholesky factor."""
    if input.ndim < 2:
        raise RuntimeError("cholesky_inverse: The input tensor A must have at least 2 dimensions.")
    square(input, "cholesky_inverse")
    a = input.array
    if a.dtype.kind not in "fc" or a.dtype.itemsize == 2:
        raise not_implemented("cholesky_inverse_out_cpu", a.dtype)
    zeros = np.diagonal(a, 0, -2, -1) == 0
    if zeros.any():
        *batch, at = np.argwhere(zeros)[0]
        where = f"(Batch element {np.ravel_multi_index(batch, a.shape[:-2])}): " if batch else ""
        raise decomp._LinAlgError(
            f"cholesky_inverse: {where}The diagonal element {at + 1} is zero, the inversion could not be completed because the "
            "input matrix is singular.")
    eye = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    return cholesky_solve(wrap(eye), input, upper)


def linalg_qr(A: Any, mode: str = "reduced", *, out: Any = None) -> Any:
    """(Q (..., m, k), R (..., k, n)) of (..., m, n); mode "reduced": k = min(m, n), "complete": k = m, "r": Q is empty."""
    x = matrices(A, "linalg.qr")
    if mode not in ("reduced", "complete", "r"):
        raise RuntimeError(
            f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    return QR["linalg_qr"](decomp.qr(x, mode))


def qr(input: Any, some: bool = True, *, out: Any = None) -> Any:
    """torch.linalg.qr in its old form."""
    warn_once(
        "torch.qr is deprecated in favor of torch.linalg.qr and will be removed in a future PyTorch release.\nThe boolean "
        "parameter 'some' has been replaced with a string parameter 'mode'.\nQ, R = torch.qr(A, some)\nshould be replaced with\n"
        "Q, R = torch.linalg.qr(A, 'reduced' if some else 'complete')")
    return QR["qr"](decomp.qr(matrices(input, "linalg.qr"), "reduced" if some else "complete"))


def linalg_svd(A: Any, full_matrices: bool = True, *, driver: Any = None, out: Any = None) -> Any:
    """The singular value decomposition (U, S, Vh) with A = U diag(S) Vh; S is in descending order."""
    no_driver(driver)
    return LINALG_SVD(decomp.svd(matrices(A, "linalg.svd"), full_matrices, "linalg.svd"))


def no_driver(driver: Any) -> None:
    if driver is not None:
        raise RuntimeError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")


def svd(input: Any, some: bool = True, compute_uv: bool = True, *, out: Any = None) -> Any:
    """The singular value decomposition (U, S, V) in its old form: V, not its conjugate transpose."""
    x = input
    if x.ndim < 2:
        raise RuntimeError(f"linalg.svd: input should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    x = matrices(x, "linalg.svd")
    if not compute_uv:
        n, m = x.array.shape[-2:]
        lead, dtype = x.array.shape[:-2], x.array.dtype
        return SVD((wrap(np.zeros(lead + (n, n), dtype)), svdvals(x), wrap(np.zeros(lead + (m, m), dtype))))
    u, s, vh = decomp.svd(x, not some, "linalg.svd")
    return SVD((u, s, conj_view(shape.mT(vh)) if x.array.dtype.kind == "c" else shape.mT(vh)))


def svdvals(A: Any, *, driver: Any = None, out: Any = None) -> Any:
    """The singular values (..., min(m, n)) of (..., m, n), in descending order."""
    no_driver(driver)
    return decomp.svd(matrices(A, "linalg.svd"), False, "linalg.svd")[1]


def eigh(A: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """(eigenvalues (..., n), ascending, eigenvectors (..., n, n) as columns) of Hermitian matrices; reads one triangle."""
    x = squares(A, "linalg.eigh")
    return EIGH(decomp.eigh(x, lower_half(UPLO)))


def eigvalsh(A: Any, UPLO: str = "L", *, out: Any = None) -> Any:
    """The eigenvalues (..., n) of symmetric or Hermitian matrices (..., n, n), in ascending order."""
    x = squares(A, "linalg.eigh")
    return decomp.eigh(x, lower_half(UPLO))[0]


def lower_half(uplo: str) -> bool:
    if uplo.upper() not in ("L", "U"):
        raise RuntimeError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    return uplo.upper() == "L"


def eig(A: Any, *, out: Any = None) -> Any:
    """(eigenvalues (..., n), eigenvectors (..., n, n) as columns) of square matrices (..., n, n); both are complex."""
    return EIG(decomp.eig(for_eig(A, "linalg.eig")))


def eigvals(A: Any, *, out: Any = None) -> Any:
    """The eigenvalues (..., n) of square matrices (..., n, n), as complex numbers."""
    return decomp.eig(for_eig(A, "linalg.eigvals"))[0]


def for_eig(A: Any, name: str) -> Any:
    if A.array.dtype.kind in "iub":
        raise RuntimeError(f"Unknown Complex ScalarType for {kind_of(A)}")
    return squares(A, name)
