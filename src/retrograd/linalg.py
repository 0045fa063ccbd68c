"""torch.linalg: norms, equations, decompositions of (batches of) matrices."""
from __future__ import annotations

import typing as _t
from functools import partial as _partial

from ._functions import late as _late
from ._functions import namespace as _namespace
from ._missing import late_names as _late_names

if _t.TYPE_CHECKING:
    from ._typing.linalg import *  # noqa: F403
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
