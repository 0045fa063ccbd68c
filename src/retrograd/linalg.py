"""torch.linalg: norms, equations, decompositions of (batches of) matrices."""
from ._functions.linalg import (
    LinAlgError,
    cholesky_ex,
    cond,
    det,
    diagonal,
    eig,
    eigh,
    eigvals,
    eigvalsh,
    inv,
    inv_ex,
    lstsq,
    matmul,
    matrix_exp,
    matrix_norm,
    matrix_power,
    matrix_rank,
    multi_dot,
    norm,
    pinv,
    solve,
    solve_ex,
    solve_triangular,
    svdvals,
    tensorinv,
    tensorsolve,
    vecdot,
    vector_norm,
)
from ._functions.linalg import linalg_cholesky as cholesky
from ._functions.linalg import linalg_cross as cross
from ._functions.linalg import linalg_qr as qr
from ._functions.linalg import linalg_slogdet as slogdet
from ._functions.linalg import linalg_svd as svd

__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "inv", "inv_ex", "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm",
    "pinv", "qr",
    "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vecdot",
    "vector_norm",
]
