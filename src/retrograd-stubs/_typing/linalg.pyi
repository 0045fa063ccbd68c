"""torch.linalg.

Written by `make generate`.
"""
# mypy: disable-error-code="overload-overlap,overload-cannot-match,misc"
# PyTorch's overloads, in PyTorch's order
from collections.abc import Sequence
from typing import overload

from .._tensor import Tensor
from .._tensor.dtypes import dtype as _dtype
from ..types import Number
from . import return_types

__all__ = [
    "LinAlgError",
    "cholesky",
    "cholesky_ex",
    "cond",
    "cross",
    "det",
    "diagonal",
    "eig",
    "eigh",
    "eigvals",
    "eigvalsh",
    "householder_product",
    "inv",
    "inv_ex",
    "ldl_factor",
    "ldl_factor_ex",
    "ldl_solve",
    "lstsq",
    "lu",
    "lu_factor",
    "lu_factor_ex",
    "lu_solve",
    "matmul",
    "matrix_exp",
    "matrix_norm",
    "matrix_power",
    "matrix_rank",
    "multi_dot",
    "norm",
    "pinv",
    "qr",
    "slogdet",
    "solve",
    "solve_ex",
    "solve_triangular",
    "svd",
    "svdvals",
    "tensorinv",
    "tensorsolve",
    "vander",
    "vecdot",
    "vector_norm",
]

class LinAlgError(RuntimeError): ...

def cholesky(input: Tensor, *, upper: bool = False, out: Tensor | None = None) -> Tensor: ...

def cholesky_ex(
    input: Tensor, *, upper: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_cholesky_ex: ...

@overload
def cond(input: Tensor, p: Number | None = None, *, out: Tensor | None = None) -> Tensor: ...
@overload
def cond(input: Tensor, p: str, *, out: Tensor | None = None) -> Tensor: ...

def cross(input: Tensor, other: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor: ...

def det(A: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def diagonal(A: Tensor, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Tensor: ...

def eig(input: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eig: ...

def eigh(input: Tensor, UPLO: str = "L", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_eigh: ...

def eigvals(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def eigvalsh(input: Tensor, UPLO: str = "L", *, out: Tensor | None = None) -> Tensor: ...

def householder_product(input: Tensor, tau: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def inv(A: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def inv_ex(
    A: Tensor, *, check_errors: bool = False, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_inv_ex: ...

def ldl_factor(
    input: Tensor, *, hermitian: bool = False, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_ldl_factor: ...

def ldl_factor_ex(
    input: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_ldl_factor_ex: ...

def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None,
) -> Tensor: ...

def lstsq(
    input: Tensor, b: Tensor, rcond: float | None = None, *, driver: str | None = None,
    out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lstsq: ...

def lu(A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None) -> return_types.linalg_lu: ...

def lu_factor(
    A: Tensor, *, pivot: bool = True, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lu_factor: ...

def lu_factor_ex(
    A: Tensor, *, pivot: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_lu_factor_ex: ...

def lu_solve(
    LU: Tensor, pivots: Tensor, B: Tensor, *, left: bool = True, adjoint: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...

def matmul(input: Tensor, other: Tensor, *, out: Tensor | None = None) -> Tensor: ...

def matrix_exp(input: Tensor, *, out: Tensor | None = None) -> Tensor: ...

@overload
def matrix_norm(
    input: Tensor, ord: Number, dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
    dtype: _dtype | None = None, out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_norm(
    input: Tensor, ord: str = "fro", dim: Sequence[int] = (-2, -1), keepdim: bool = False, *,
    dtype: _dtype | None = None, out: Tensor | None = None,
) -> Tensor: ...

def matrix_power(input: Tensor, n: int, *, out: Tensor | None = None) -> Tensor: ...

@overload
def matrix_rank(
    input: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_rank(
    input: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def matrix_rank(input: Tensor, tol: Tensor, hermitian: bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def matrix_rank(input: Tensor, tol: float, hermitian: bool = False, *, out: Tensor | None = None) -> Tensor: ...

def multi_dot(tensors: Sequence[Tensor], *, out: Tensor | None = None) -> Tensor: ...

@overload
def norm(
    input: Tensor, ord: Number | None = None, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
    dtype: _dtype | None = None, out: Tensor | None = None,
) -> Tensor: ...
@overload
def norm(
    input: Tensor, ord: str, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
    dtype: _dtype | None = None, out: Tensor | None = None,
) -> Tensor: ...

@overload
def pinv(
    input: Tensor, *, atol: Tensor | None = None, rtol: Tensor | None = None, hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def pinv(
    input: Tensor, *, atol: float | None = None, rtol: float | None = None, hermitian: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...
@overload
def pinv(input: Tensor, rcond: Tensor, hermitian: bool = False, *, out: Tensor | None = None) -> Tensor: ...
@overload
def pinv(input: Tensor, rcond: float, hermitian: bool = False, *, out: Tensor | None = None) -> Tensor: ...

def qr(A: Tensor, mode: str = "reduced", *, out: Sequence[Tensor] | None = None) -> return_types.linalg_qr: ...

def slogdet(A: Tensor, *, out: Sequence[Tensor] | None = None) -> return_types.linalg_slogdet: ...

def solve(A: Tensor, B: Tensor, *, left: bool = True, out: Tensor | None = None) -> Tensor: ...

def solve_ex(
    A: Tensor, B: Tensor, *, left: bool = True, check_errors: bool = False, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_solve_ex: ...

def solve_triangular(
    input: Tensor, B: Tensor, *, upper: bool, left: bool = True, unitriangular: bool = False,
    out: Tensor | None = None,
) -> Tensor: ...

def svd(
    A: Tensor, full_matrices: bool = True, *, driver: str | None = None, out: Sequence[Tensor] | None = None,
) -> return_types.linalg_svd: ...

def svdvals(A: Tensor, *, driver: str | None = None, out: Tensor | None = None) -> Tensor: ...

def tensorinv(input: Tensor, ind: int = 2, *, out: Tensor | None = None) -> Tensor: ...

def tensorsolve(
    input: Tensor, other: Tensor, dims: Sequence[int] | None = None, *, out: Tensor | None = None,
) -> Tensor: ...

def vander(x: Tensor, *, N: int | None = None) -> Tensor: ...

def vecdot(x: Tensor, y: Tensor, *, dim: int = -1, out: Tensor | None = None) -> Tensor: ...

def vector_norm(
    input: Tensor, ord: Number = 2, dim: int | Sequence[int] | None = None, keepdim: bool = False, *,
    dtype: _dtype | None = None, out: Tensor | None = None,
) -> Tensor: ...

