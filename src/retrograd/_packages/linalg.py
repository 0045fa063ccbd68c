"""torch.linalg: norms, equations, decompositions of (batches of) matrices.

A               (..., m, n) one matrix or a batch; square, n = m, where equations, determinants or eigenvalues need it
B               the right-hand sides: (..., n, k), or (..., n) for one
left            False: X A = B instead of A X = B
upper           the triangle that is read, or returned: True the upper, False the lower
UPLO            the triangle of A that is read: 'L' or 'U'
unitriangular   True: the diagonal counts as ones and is not read
hermitian       True: A is symmetric, or of complex numbers Hermitian, and only its lower triangle is read
pivot           False: no rows are exchanged; RuntimeError on the CPU
check_errors    True: RuntimeError if the decomposition fails; False: the last result, info, says where
LD, LU, pivots  what ldl_factor or lu_factor gave
full_matrices   False: U (..., m, k) and Vh (..., k, n) with k = min(m, n); True: both square
driver          LAPACK's routine for lstsq: 'gelsy' (default), 'gels' (full rank), 'gelsd' or 'gelss'; svd takes None alone
rcond, tol      singular values up to rcond times the largest, or up to tol, count as zero; None: rounding errors
tensors         at least two matrices; the first and the last may be vectors
dims            of A, moved to its end first
offset          which diagonal: 0 the main one, above it if positive
dim1, dim2      the two dimensions that are matrices
"""
from __future__ import annotations

import typing as _t
from functools import partial as _partial

from retrograd._functions import late as _late
from retrograd._functions import namespace as _namespace
from retrograd._missing import late_names as _late_names

if _t.TYPE_CHECKING:
    from retrograd._typing.linalg import *  # noqa: F403
else:
    globals().update(_namespace("linalg", {
        "decomp": "cholesky_ex eig eigh eigvals eigvalsh linalg_cholesky linalg_qr linalg_svd svdvals",
        "linalg": "LinAlgError cond det diagonal inv inv_ex linalg_slogdet lstsq matrix_exp matrix_norm matrix_power matrix_rank "
                  "norm pinv solve solve_ex solve_triangular tensorinv tensorsolve vander vector_norm",
        "products": "linalg_cross matmul multi_dot vecdot"}))

_LATE = {"lu": "linalg_lu linalg_lu_solve lu_factor lu_factor_ex", "reflections": "householder_product",
         "ldl": "ldl_factor ldl_factor_ex ldl_solve"}
_FOUND = {_own.removeprefix("linalg_"): (_family, _own) for _family, _names in _LATE.items() for _own in _names.split()}
_late_names(__name__, also={_name: _partial(_late, _at, f"linalg_{_name}") for _name, _at in _FOUND.items()})
__all__ = sorted({_name for _name in globals() if _name[0].isalpha()} - {"annotations"} | _FOUND.keys())
