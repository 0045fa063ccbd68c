"""torch.linalg: norms, equations, decompositions of (batches of) matrices."""
from functools import partial as _partial
from typing import Any

from ._functions import checked as _checked
from ._functions import late as _late
from ._functions._args import tensor as _tensor
from ._functions.create import ones_like as _ones_like
from ._functions.decomp import cholesky_ex, eig, eigh, eigvals, eigvalsh, svdvals
from ._functions.decomp import linalg_cholesky as cholesky
from ._functions.decomp import linalg_qr as qr
from ._functions.decomp import linalg_svd as svd
from ._functions.join import cat as _cat
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
from ._missing import module_getattr as _module_getattr

__getattr__ = _module_getattr(__name__, also={
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


def vander(x: Any, *, N: Any = None) -> Any:
    """(..., n, N) powers of the numbers in x (..., n), from the zeroth on."""
    a: Any = _tensor(x, "linalg_vander", "x")
    a = a if a.array.ndim else a.unsqueeze(0)
    n = a.array.shape[-1] if N is None else int(N)
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    wide = a.unsqueeze(-1).expand(*a.shape, n - 1)
    return _cat([_ones_like(wide[..., :1]), wide.cumprod(-1)], -1)


for _name in __all__:
    if callable(globals().get(_name)) and not isinstance(globals()[_name], type):
        globals()[_name] = _checked(f"linalg_{_name}", getattr(globals()[_name], "unchecked", globals()[_name]), "linalg")
