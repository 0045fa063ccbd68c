"""LU decompositions and what is solved with them: torch.linalg.lu, lu_factor, lu_solve and the older torch.lu, ..."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wrap
from .._engine.warn import warn_once
from .._rules import decomp, linalg
from .._rules import lu as op
from .arguments import flag
from .matrices import kind_of, matrices
from .results import named

LU = named("linalg_lu", "P", "L", "U")
FACTOR = named("linalg_lu_factor", "LU", "pivots")
FACTOR_EX = named("linalg_lu_factor_ex", "LU", "pivots", "info")
UNPACKED = named("lu_unpack", "P", "L", "U")


def refuse(pivot: Any, x: Any) -> None:
    if not pivot and x.array.size:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def linalg_lu(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """(P, L, U) with A = P L U: P a permutation, L unit lower triangular, U upper triangular."""
    x = matrices(A, "linalg.lu")
    refuse(pivot, x)
    node = op.LinalgLuBackward0()
    low, up = node.run(x)
    return LU((wrap(node.p if pivot else np.zeros(0, x.array.dtype)), low, up))


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """(LU, pivots from 1, info): info is the place of a zero on U's diagonal, or 0."""
    x = matrices(A, "torch.lu_factor")
    refuse(pivot, x)
    node = op.LinalgLuFactorExBackward0()
    y = node.run(x)
    info = op.is_singular(y.array)
    if check_errors and info.any():
        raise singular("torch.linalg.lu_factor_ex", info)
    return FACTOR_EX((y, wrap((node.pivots + 1).astype(np.int32)), wrap(info)))


def singular(name: str, info: Any) -> Exception:
    at = int(info.reshape(-1)[np.flatnonzero(info)[0]])
    batch = f"(Batch element {int(np.flatnonzero(info)[0])}): " if info.ndim else ""
    return RuntimeError(f"{name}: {batch}U[{at},{at}] is zero and using it on lu_solve would result in a division by zero. "
                        "If you still want to perform the factorization, consider calling linalg.lu(A, pivot) or "
                        "linalg.lu_factor_ex(A, pivot)")


def lu_factor(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """(LU, pivots): L without its diagonal and U in one matrix, and the rows exchanged at each step, from 1."""
    x = matrices(A, "torch.lu_factor")
    y, pivots, info = lu_factor_ex(x, pivot=pivot)
    if info.array.any():
        raise singular("torch.linalg.lu_factor", info.array)
    return FACTOR((y, pivots))


def linalg_lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False, out: Any = None) -> Any:
    """X with A X = B (X A = B unless left; At instead of A if adjoint), given lu_factor(A)."""
    if LU.array.dtype != B.array.dtype:
        raise RuntimeError(
            f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {kind_of(LU)} and B of type "
            f"{kind_of(B)} instead")
    if LU.ndim < 2 or LU.shape[-1] != LU.shape[-2]:
        raise RuntimeError(
            "linalg.lu_solve: A must be batches of square matrices, but they are "
            f"{LU.shape[-2] if LU.ndim > 1 else 0} by {LU.shape[-1] if LU.ndim else 0} matrices")
    if left and LU.shape[-2] != B.shape[-2] or not left and LU.shape[-1] != B.shape[-1]:
        raise RuntimeError(
            f"linalg.lu_solve: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({LU.shape[-2]}x{LU.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    if not left:                                            # X A = B  is  Ah Xh = Bh
        y = linalg_lu_solve(LU, pivots, decomp.mH(B), adjoint=not adjoint)
        return decomp.mH(y)
    p = op.permutation(pivots.array.astype(np.int64) - 1, LU.shape[-1], LU.array.dtype)
    if adjoint:
        y = decomp.solve_triangular(decomp.mH(LU), B, False, True, False)
        y = linalg.matmul(wrap(p), decomp.solve_triangular(decomp.mH(LU), y, True, True, True))
    else:
        y = decomp.solve_triangular(LU, linalg.matmul(wrap(np.ascontiguousarray(p.swapaxes(-1, -2))), B), False, True, True)
        y = decomp.solve_triangular(LU, y, True, True, False)
    return y


def lu_solve(input: Any, LU_data: Any, LU_pivots: Any, *, out: Any = None) -> Any:
    """Old name of torch.linalg.lu_solve(LU_data, LU_pivots, input)."""
    warn_once(
        "torch.lu_solve is deprecated in favor of torch.linalg.lu_solveand will be removed in a future PyTorch release.\nNote "
        "that torch.linalg.lu_solve has its arguments reversed.\nX = torch.lu_solve(B, LU, pivots)\nshould be replaced with\nX = "
        "torch.linalg.lu_solve(LU, pivots, B)")
    return linalg_lu_solve(LU_data, LU_pivots, input)


def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True, *, out: Any = None) -> Any:
    """(P, L, U) of what lu_factor gave; empty where not asked for."""
    if LU_data.ndim < 2:
        raise RuntimeError(f"torch.lu_unpack: Expected tensor with 2 or more dimensions. Got size: {list(LU_data.shape)} instead")
    n, m = LU_data.shape[-2:]
    k = min(n, m)
    if unpack_pivots and LU_pivots.array.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is "
            "intended to be used with the output produced by torch.linalg.lu_factor")
    nothing = wrap(np.zeros(0, LU_data.array.dtype))
    p: Any = nothing
    if unpack_pivots:
        p = wrap(op.permutation(LU_pivots.array.astype(np.int64) - 1, n, LU_data.array.dtype))
    if not unpack_data:
        return UNPACKED((p, nothing, nothing))
    low = op.strictly_lower(op.part(LU_data, slice(None), slice(0, k))) + wrap(np.eye(n, k, dtype=LU_data.array.dtype))
    return UNPACKED((p, low, op.upper(op.part(LU_data, slice(0, k), slice(None)))))


def lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Old name of torch.linalg.lu_factor; with get_infos of lu_factor_ex."""
    warn_once(
        "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be removed in a future "
        "PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced with\nLU, pivots = "
        "torch.linalg.lu_factor(A, compute_pivots)\nand\nLU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould "
        "be replaced with\nLU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)")
    x: TensorBase = matrices(A, "torch.lu_factor")
    flag(pivot, "_lu_with_info", "pivot")
    found = lu_factor_ex(x, pivot=pivot)
    return tuple(found) if get_infos else tuple(found[:2])
