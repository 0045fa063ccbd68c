"""torch.linalg: norms, equations, decompositions of (batches of) matrices."""
from ._functions.decomp import cholesky_ex, eig, eigh, eigvals, eigvalsh, svdvals
from ._functions.decomp import linalg_cholesky as cholesky
from ._functions.decomp import linalg_qr as qr
from ._functions.decomp import linalg_svd as svd
from ._functions.linalg import (
    LinAlgError,
    cond,
    det,
    diagonal,
    inv,
    inv_ex,
    lstsq,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    norm,
    pinv,
    solve,
    solve_ex,
    solve_triangular,
    tensorinv,
    tensorsolve,
    vector_norm,
)
from ._functions.linalg import linalg_slogdet as slogdet
from ._functions.products import linalg_cross as cross
from ._functions.products import matmul, multi_dot, vecdot

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "inv", "inv_ex", "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm",
    "pinv", "qr",
    "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vecdot",
    "vector_norm",
]
