"""Where they are written: torch.linalg.

Written by `make generate`.
"""
from .._functions.decomp import linalg_cholesky as cholesky
from .._functions.decomp import cholesky_ex as cholesky_ex
from .._functions.linalg import cond as cond
from .._functions.products import linalg_cross as cross
from .._functions.linalg import det as det
from .._functions.linalg import diagonal as diagonal
from .._functions.decomp import eig as eig
from .._functions.decomp import eigh as eigh
from .._functions.decomp import eigvals as eigvals
from .._functions.decomp import eigvalsh as eigvalsh
from .._functions.reflections import householder_product as householder_product
from .._functions.linalg import inv as inv
from .._functions.linalg import inv_ex as inv_ex
from .._functions.ldl import ldl_factor as ldl_factor
from .._functions.ldl import ldl_factor_ex as ldl_factor_ex
from .._functions.ldl import ldl_solve as ldl_solve
from .._functions.linalg import lstsq as lstsq
from .._functions.lu import linalg_lu as lu
from .._functions.lu import lu_factor as lu_factor
from .._functions.lu import lu_factor_ex as lu_factor_ex
from .._functions.lu import linalg_lu_solve as lu_solve
from .._functions.products import matmul as matmul
from .._functions.linalg import matrix_exp as matrix_exp
from .._functions.linalg import matrix_norm as matrix_norm
from .._functions.linalg import matrix_power as matrix_power
from .._functions.linalg import matrix_rank as matrix_rank
from .._functions.products import multi_dot as multi_dot
from .._functions.linalg import norm as norm
from .._functions.linalg import pinv as pinv
from .._functions.decomp import linalg_qr as qr
from .._functions.linalg import linalg_slogdet as slogdet
from .._functions.linalg import solve as solve
from .._functions.linalg import solve_ex as solve_ex
from .._functions.linalg import solve_triangular as solve_triangular
from .._functions.decomp import linalg_svd as svd
from .._functions.decomp import svdvals as svdvals
from .._functions.linalg import tensorinv as tensorinv
from .._functions.linalg import tensorsolve as tensorsolve
from .._functions.linalg import vander as vander
from .._functions.products import vecdot as vecdot
from .._functions.reduce import vector_norm as vector_norm
