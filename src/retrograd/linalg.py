"""torch.linalg: norms, equations, decompositions of (batches of) matrices."""
from __future__ import annotations

import typing as _t
from functools import partial as _partial

from ._functions import checked as _checked
from ._functions import late as _late
from ._missing import late_names as _late_names

if _t.TYPE_CHECKING:
    from ._typing.linalg import *  # noqa: F403
else:
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
        vander,
        vector_norm,
    )
    from ._functions.linalg import linalg_slogdet as slogdet
    from ._functions.products import linalg_cross as cross
    from ._functions.products import matmul, multi_dot, vecdot

_late_names(__name__, also={
    name: _partial(_late, (family, own), f"linalg_{name}") for name, family, own in (
        ("lu", "lu", "linalg_lu"), ("lu_solve", "lu", "linalg_lu_solve"), ("lu_factor", "lu", "lu_factor"),
        ("lu_factor_ex", "lu", "lu_factor_ex"), ("householder_product", "reflections", "householder_product"),
        ("ldl_factor", "ldl", "ldl_factor"), ("ldl_factor_ex", "ldl", "ldl_factor_ex"), ("ldl_solve", "ldl", "ldl_solve"))})
__all__ = [
    "LinAlgError", "cholesky", "cholesky_ex", "cond", "cross", "det", "diagonal", "eig", "eigh", "eigvals", "eigvalsh",
    "inv", "inv_ex", "lstsq", "matmul", "matrix_exp", "matrix_norm", "matrix_power", "matrix_rank", "multi_dot", "norm",
    "pinv", "qr",
    "slogdet", "solve", "solve_ex", "solve_triangular", "svd", "svdvals", "tensorinv", "tensorsolve", "vecdot",
    "vector_norm", "vander",
]
__all__.extend((                                                            # by __getattr__
    "householder_product", "ldl_factor", "ldl_factor_ex", "ldl_solve", "lu", "lu_factor", "lu_factor_ex", "lu_solve"))


for _name in __all__:
    if callable(globals().get(_name)) and not isinstance(globals()[_name], type):
        globals()[_name] = _checked(f"linalg_{_name}", getattr(globals()[_name], "unchecked", globals()[_name]), "linalg")
