"""LU decompositions and what is solved with them: torch.linalg.lu, lu_factor, lu_solve and the older torch.lu, ..."""
from __future__ import annotations

from typing import Any

import numpy as np

from .. import _nodes
from .._engine.tensor import TensorBase, wrap
from .._rules import decomp, linalg, shape
from .._rules import lu as op
from .arguments import finish
from .matrices import check, kind_of, matrices
from .results import named

__all__ = ["lu", "lu_solve", "lu_unpack"]
METHODS = ["lu", "lu_solve"]

LU = named("linalg_lu", "P", "L", "U")
FACTOR = named("linalg_lu_factor", "LU", "pivots")
FACTOR_EX = named("linalg_lu_factor_ex", "LU", "pivots", "info")
UNPACKED = named("lu_unpack", "P", "L", "U")



def refuse(pivot: Any) -> None:
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


def linalg_lu(A: Any, *, pivot: bool = True, out: Any = None) -> Any:
    """(P, L, U) with A = P L U: P a permutation, L unit lower triangular, U upper triangular."""
    x = matrices(A, "linalg.lu")
    refuse(pivot)
    node = op.LinalgLuBackward0()
    low, up = node.run(x)
    return LU((wrap(node.p), low, up))


def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """(LU, pivots from 1, info): info is the place of a zero on U's diagonal, or 0."""
    x = matrices(A, "torch.linalg.lu_factor_ex")
    refuse(pivot)
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
    x = matrices(A, "linalg.lu_factor")
    y, pivots, info = lu_factor_ex(x, pivot=pivot)
    if info.array.any():
        raise singular("torch.linalg.lu_factor", info.array)
    return FACTOR((y, pivots))


def linalg_lu_solve(LU: Any, pivots: Any, B: Any, *, left: bool = True, adjoint: bool = False, out: Any = None) -> Any:
    """X with A X = B (X A = B unless left; At instead of A if adjoint), given lu_factor(A)."""
    f, b = check(LU, "linalg_lu_solve", "LU"), check(B, "linalg_lu_solve", "B", 3)
    if f.array.dtype != b.array.dtype:
        raise RuntimeError(
            f"linalg.lu_solve: Expected LU and B to have the same dtype, but found LU of type {kind_of(f)} and B of type "
            f"{kind_of(b)} instead")
    if f.ndim < 2 or f.shape[-1] != f.shape[-2]:
        raise RuntimeError(
            "linalg.lu_solve: A must be batches of square matrices, but they are "
            f"{f.shape[-2] if f.ndim > 1 else 0} by {f.shape[-1] if f.ndim else 0} matrices")
    if left and f.shape[-2] != b.shape[-2] or not left and f.shape[-1] != b.shape[-1]:
        raise RuntimeError(
            f"linalg.lu_solve: Incompatible shapes of A and B for the equation {'AX = B' if left else 'XA = B'} "
            f"({f.shape[-2]}x{f.shape[-1]} and {b.shape[-2]}x{b.shape[-1]})")
    if not left:                                            # X A = B  is  At Xt = Bt
        y = linalg_lu_solve(f, pivots, shape.mT(b), adjoint=not adjoint)
        return finish(shape.mT(y), out, "linalg_lu_solve", f, b)
    p = op.permutation(pivots.array.astype(np.int64) - 1, f.shape[-1], f.array.dtype)
    if adjoint:
        y = decomp.solve_triangular(shape.mT(f), b, False, True, False)
        y = linalg.matmul(wrap(p), decomp.solve_triangular(shape.mT(f), y, True, True, True))
    else:
        y = decomp.solve_triangular(f, linalg.matmul(wrap(np.ascontiguousarray(p.swapaxes(-1, -2))), b), False, True, True)
        y = decomp.solve_triangular(f, y, True, True, False)
    return finish(y, out, "linalg_lu_solve", f, b)


def lu_solve(input: Any, LU_data: Any, LU_pivots: Any, *, out: Any = None) -> Any:
    """Old name of torch.linalg.lu_solve(LU_data, LU_pivots, input)."""
    return finish(linalg_lu_solve(LU_data, LU_pivots, input), out, "lu_solve", input, LU_data)


def lu_unpack(LU_data: Any, LU_pivots: Any, unpack_data: bool = True, unpack_pivots: bool = True, *, out: Any = None) -> Any:
    """(P, L, U) of what lu_factor gave; empty where not asked for."""
    x = check(LU_data, "lu_unpack", "LU_data")
    n, m = x.shape[-2:]
    k = min(n, m)
    if unpack_pivots and LU_pivots.array.dtype != np.int32:
        raise RuntimeError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\nNote: this function is "
            "intended to be used with the output produced by torch.linalg.lu_factor")
    nothing = wrap(np.zeros(0, x.array.dtype))
    p: Any = nothing
    if unpack_pivots:
        p = wrap(op.permutation(LU_pivots.array.astype(np.int64) - 1, n, x.array.dtype))
    if not unpack_data:
        return UNPACKED((p, nothing, nothing))
    low = op.strictly_lower(op.part(x, slice(None), slice(0, k))) + wrap(np.eye(n, k, dtype=x.array.dtype))
    return UNPACKED((p, low, op.upper(op.part(x, slice(0, k), slice(None)))))


def lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:
    """Old name of torch.linalg.lu_factor; with get_infos of lu_factor_ex."""
    x: TensorBase = matrices(A, "linalg.lu_factor")
    found = lu_factor_ex(x, pivot=pivot)
    return tuple(found) if get_infos else tuple(found[:2])


_nodes.dress_module(op)
