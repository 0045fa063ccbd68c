"""Norms, inverses, equations, determinants of matrices: torch.linalg.inv, solve, lstsq, det, ...

A               (..., m, n) one matrix or a batch
rcond           singular values up to rcond times the largest count as zero
upper           the triangle that is read
transpose       True: solve with the transposed A
unitriangular   True: the diagonal counts as ones and is not read
"""

from __future__ import annotations

import builtins
import math
from typing import Any

import numpy as np

from .._engine.op import recording
from .._engine.tensor import TensorBase, wrap
from .._engine.warn import warn_once
from .._rules import choose, complexes, create, decomp, diagonals, extremes, index, linalg, pointwise, shape
from .._rules import reduce as sums
from .._rules.linalg import count
from .._rules.shape import fold
from .arguments import dim_of, finish
from .create import ones_like
from .decomp import svdvals
from .join import cat
from .matrices import kind_of, matrices, square, squares, zeros_info
from .reduce import vector_norm as vector_norm
from .reduce import wider
from .results import named

PRIVATE = "cond diagonal lstsq matrix_rank norm solve vander"      # torch.linalg has these

LinAlgError = decomp._LinAlgError
LinAlgError.__module__ = "retrograd._C"


def diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """A view of the diagonals of matrices."""
    if A.ndim and dim_of(dim1, A.ndim) == dim_of(dim2, A.ndim):
        raise RuntimeError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return diagonals.diagonal(A, offset, dim_of(dim1, A.ndim), dim_of(dim2, A.ndim))


def norm(A: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None) -> Any:
    """The norm of a vector, or of a matrix when ord is given for a matrix or dim names two dims."""
    if ord is None:
        return vector_norm(A, 2, dim, keepdim, dtype=dtype)
    if dim is None:
        if A.ndim not in (1, 2):
            raise RuntimeError(
                "linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " f"{A.ndim}D.")
        two = A.ndim == 2 or isinstance(ord, str)
        dims: Any = (-2, -1)
    else:
        two = isinstance(ord, str) or (not isinstance(dim, int) and len(dim) == 2)
        dims = dim
        if isinstance(ord, str) and (isinstance(dim, int) or len(dim) != 2):
            raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {dim}")
    if two:
        return matrix_norm(A, ord, dims, keepdim, dtype=dtype)
    return vector_norm(A, ord, dim, keepdim, dtype=dtype)


def matrix_norm(
    A: Any, ord: Any = "fro", dim: Any = (-2, -1), keepdim: bool = False, *, dtype: Any = None, out: Any = None,
) -> Any:
    """The norms (...) of matrices (..., m, n); ord is "fro", "nuc", inf, -inf, 1, -1, 2 or -2."""
    x = A
    if isinstance(ord, complex):
        raise RuntimeError("linalg.matrix_norm: Expected a non-complex scalar as the order of norm.")
    if ord not in ("fro", "nuc") if isinstance(ord, str) else abs(ord) not in (1, 2, math.inf):
        raise RuntimeError(f"linalg.matrix_norm: Order {ord} not supported.")
    if x.ndim < 2:
        raise RuntimeError("linalg.matrix_norm: The input tensor A must have at least 2 dimensions.")
    if x.array.dtype.kind not in "fcV":
        raise RuntimeError(
            f"linalg.matrix_norm: Expected a floating point or complex tensor as input. Got {kind_of(x)}")
    if len(dim) != 2:
        raise RuntimeError(f"linalg.matrix_norm: dim must be a 2-tuple. Got {' '.join(map(str, dim))}")
    first, second = dim_of(dim[0], x.ndim), dim_of(dim[1], x.ndim)
    if first == second:
        raise RuntimeError(f"linalg.matrix_norm: dims must be different. Got ({dim[0]}, {dim[1]})")
    want = wider(x, dtype, "linalg.matrix_norm")
    if ord == "fro":
        return vector_norm(x, 2, (first, second), keepdim, dtype=dtype)
    if want is not None:
        x = x.to(dtype)
    if ord == "nuc" or abs(ord) == 2:
        rest = [d for d in range(x.ndim) if d not in (first, second)]
        y = svdvals(shape.permute(x, tuple(rest + [first, second])))
        last = y.ndim - 1
        reduced = sums.sum_dims if ord == "nuc" else extremes.amax if ord > 0 else extremes.amin
        if not y.array.shape[-1]:
            y = nothing(y, last, keepdim, ord)
        else:
            y = reduced(y, (last,), keepdim)
        if keepdim:
            order = rest + [first, second]
            y = shape.permute(shape.unsqueeze(y, y.ndim), tuple(order.index(d) for d in range(x.ndim)))
        return y
    if abs(ord) == math.inf:
        first, second = second, first
    y = vector_norm(x, 1, first, keepdim)
    if second > first and not keepdim:
        second -= 1
    if y.array.shape[second]:
        y = (extremes.amax if ord > 0 else extremes.amin)(y, (second,), keepdim)
    else:
        y = nothing(y, second, keepdim, ord)
    return y


def nothing(y: Any, dim: int, keepdim: bool, ord: Any) -> Any:
    """The greatest of no norms is 0; IndexError for the least."""
    if ord != "nuc" and ord < 0:
        raise IndexError(f"amin(): Expected reduction dim {-1 if abs(ord) == 2 else dim} to have non-zero size.")
    return sums.sum_dims(y, (dim,), keepdim)


def cond(A: Any, p: Any = None, *, out: Any = None) -> Any:
    """Condition numbers (...) of (..., m, n): ratio of extreme singular values, or |A| |A^-1| in the norm p (inf: singular)."""
    x = matrices(A, "linalg.cond")
    if isinstance(p, complex):
        if p.imag:
            raise RuntimeError("value cannot be converted to type double without overflow")
        p = p.real
    by_values = p is None or p in (2, -2, "nuc")
    if p == "nuc" or not by_values:
        square(x, f"linalg.cond(ord={p})" if p == "nuc" else "linalg.cond")
        if isinstance(p, str) and p not in ("fro", "nuc") or not isinstance(p, str) and abs(p) not in (1, math.inf):
            raise RuntimeError(f"linalg.cond got an invalid norm type: {p}")
    if not x.array.size:
        return wrap(np.zeros(x.array.shape[:-2], x.array.real.dtype))
    if by_values:
        s = svdvals(x)
        if p == "nuc":
            return s.sum(-1) * s.reciprocal().sum(-1)
        top = index.getitem(s, (Ellipsis, builtins.slice(0, 1)))
        low = index.getitem(s, (Ellipsis, builtins.slice(-1, None)))
        y = shape.squeeze_dim(low / top if p == -2 else top / low, s.ndim - 1)
        return y
    inverse, info = inverses(x)
    y = matrix_norm(x, p) * matrix_norm(inverse, p)
    bad = (info > 0) | np.isnan(y.array)
    return choose.where(wrap(bad), wrap(np.asarray(np.inf, y.array.dtype)), y) if bad.any() else y


# Inverses and equations
INV_EX = named("linalg_inv_ex", "inverse", "info")
SOLVE_EX = named("linalg_solve_ex", "result", "info")
INV_FAILED = (
    "The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular.")
LSTSQ = named("linalg_lstsq", "solution", "residuals", "rank", "singular_values")
TRIANGULAR_SOLVE = named("triangular_solve", "solution", "cloned_coefficient")


def inv(A: Any, *, out: Any = None) -> Any:
    """The inverses of square matrices (..., n, n).  LinAlgError if one is singular."""
    x = squares(A, "linalg.inv")
    return decomp.inv(x)


def inv_ex(A: Any, *, check_errors: bool = False, out: Any = None) -> Any:
    """(inverse, info); info: which pivot is 0, counted from 1; the inverse is nan there, an error if check_errors."""
    x = squares(A, "linalg.inv")
    y, info = inverses(x)
    if check_errors and info.any():
        raise decomp.singular("linalg.inv_ex", x.array, INV_FAILED)
    return INV_EX((y, wrap(info)))


def inverses(x: Any) -> tuple[Any, Any]:
    """The inverses, nan for singular matrices, and which of their pivots is 0, from 1; 0 for none."""
    try:
        return decomp.inv(x), np.zeros(x.array.shape[:-2], np.int32)
    except LinAlgError:
        return apart(x, decomp.inv)


def apart(x: Any, work: Any) -> tuple[Any, Any]:
    """(work of the regular matrices, nan for the singular ones; their pivots that are 0)."""
    info = pivots(x.array)
    bad = wrap(info[..., None, None] > 0)
    y = work(choose.where(bad, wrap(np.eye(x.shape[-1], dtype=x.array.dtype)), x))
    nan = complex(np.nan, np.nan) if y.array.dtype.kind == "c" else np.nan
    return choose.where(bad, wrap(np.asarray(nan, y.array.dtype)), y), info


def pivots(a: Any) -> Any:
    """Which pivot of each matrix is 0, from 1; 0 for the matrices that NumPy inverts."""
    info = np.zeros(a.shape[:-2], np.int32)
    for at in np.ndindex(info.shape):
        try:
            np.linalg.inv(a[at])
        except np.linalg.LinAlgError:
            info[at] = decomp.zero_pivot(a[at]) or a.shape[-1]
    return info


def inverse(input: Any, *, out: Any = None) -> Any:
    """torch.linalg.inv."""
    return inv(input)


def pinv(
    A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None,
) -> Any:
    """The pseudoinverses (..., n, m) of (..., m, n); singular values up to max(atol, rtol * the largest) count as zero."""
    if A.ndim < 2 or A.array.dtype.kind not in "fc" or A.array.dtype.itemsize == 2:
        raise RuntimeError(
            f"linalg.pinv({kind_of(A)}{{{list(A.array.shape)}}}): expected a tensor with 2 or more dimensions of "
            "float, "
            "double, cfloat or cdouble types")
    if hermitian:
        square(A, "linalg.pinv")
    real_tolerances("pinv", atol, rtol, rcond)
    cut = cutoff(A, atol, rtol if rtol is not None else rcond)
    return decomp.pinv(A, cut, hermitian)


def real_tolerances(name: str, atol: Any, rtol: Any, rcond: Any = None) -> None:
    for word, x in (("atol", atol), ("rtol", rtol), ("rcond", rcond)):
        if isinstance(x, TensorBase) and x.array.dtype.kind == "c":
            raise RuntimeError(f"torch.linalg.{name}: {word} tensor of complex type is not supported. Got {kind_of(x)}")


def cutoff(x: Any, atol: Any, rtol: Any) -> Any:
    """The relative tolerance that NumPy wants for PyTorch's pair of tolerances."""
    a: Any = x.array
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(a.dtype).eps if atol is None or atol == 0 else 0.0
    if isinstance(rtol, TensorBase):
        rtol = rtol.array
    if not atol:
        return rtol
    top = np.linalg.svd(a, compute_uv=False).max(-1)
    return np.maximum(rtol, np.asarray(getattr(atol, "array", atol)) / np.where(top == 0, 1, top))


def pinverse(input: Any, rcond: float = 1e-15) -> Any:
    """torch.linalg.pinv."""
    return pinv(input, rcond)


def solve(A: Any, B: Any, *, left: bool = True, out: Any = None) -> Any:
    """The solution X of A X = B, or of X A = B unless left; B may be a vector.  LinAlgError if A is singular."""
    if A.array.dtype != B.array.dtype:
        raise RuntimeError(
            f"linalg.solve: Expected A and B to have the same dtype, but found A of type {kind_of(A)} and B of type "
            f"{kind_of(B)} instead")
    x = squares(A, "linalg.solve")
    if not B.ndim:
        raise RuntimeError("linalg.solve: The input tensor B must have at least 2 dimensions.")
    vector = B.ndim == 1 or (x.ndim - 1 == B.ndim and tuple(B.array.shape) == tuple(x.array.shape[:-1]))
    rows, columns = (B.shape[-1], 1) if vector else (B.shape[-2], B.shape[-1])
    if vector and not left or (rows if left else columns) != x.shape[-1]:
        raise RuntimeError(
            f"linalg.solve: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({x.shape[-2]}x{x.shape[-1]} and {rows}x{columns})")
    batch = tuple(B.array.shape[:-1] if vector else B.array.shape[:-2])
    linalg.batch_shape(batch, tuple(x.array.shape[:-2]))
    return decomp.solve(x, B, left, vector)


def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:
    """(result, info); info: which pivot of A is 0, counted from 1; the result is nan there, an error if check_errors."""
    try:
        return SOLVE_EX((solve(A, B, left=left), zeros_info(A)))
    except LinAlgError:
        if check_errors:
            raise decomp.singular(
                "torch.linalg.solve_ex", A.array, "The solver failed because the input matrix is singular.") from None
    vector = B.ndim == 1 or (A.ndim - 1 == B.ndim and B.array.shape == A.array.shape[:-1])
    right = shape.unsqueeze(B, -1) if vector else B
    y, info = apart(A, lambda a: solve(a, right, left=left))
    return SOLVE_EX((shape.squeeze_dim(y, y.ndim - 1) if vector else y, wrap(info)))


def solve_triangular(
    A: Any, B: Any, *, upper: bool, left: bool = True, unitriangular: bool = False, out: Any = None,
) -> Any:
    """The solution X of A X = B, or of X A = B unless left, for a triangular A: only that triangle is read."""
    name = "linalg.solve_triangular"
    for letter, x in (("A", A), ("B", B)):
        if x.ndim < 2:
            raise RuntimeError(f"{name}: The input tensor {letter} must have at least 2 dimensions.")
    square(A, name)
    if (B.shape[-2] if left else B.shape[-1]) != A.shape[-1]:
        raise RuntimeError(
            f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B "
            f"({A.shape[-2]}x{A.shape[-1]} and {B.shape[-2]}x{B.shape[-1]})")
    linalg.batch_shape(tuple(A.array.shape[:-2]), tuple(B.array.shape[:-2]))
    triangular_kernel(A)
    return decomp.solve_triangular(A, B.to(A.dtype), upper, left, unitriangular)


def triangular_kernel(A: Any) -> None:
    """NotImplementedError for a dtype without one."""
    if A.array.dtype.kind not in "fc" or A.array.dtype.itemsize == 2:
        raise NotImplementedError(f"\"triangular_solve_cpu\" not implemented for '{kind_of(A)}'")


def triangular_solve(
    input: Any, A: Any, upper: bool = True, transpose: bool = False, unitriangular: bool = False, *, out: Any = None,
) -> Any:
    """torch.linalg.solve_triangular in its old form; returns (solution, copy of A)."""
    warn_once(
        "torch.triangular_solve is deprecated in favor of torch.linalg.solve_triangularand will be removed in a future PyTorch "
        "release.\ntorch.linalg.solve_triangular has its arguments reversed and does not return a copy of one of the inputs.\n"
        "X = torch.triangular_solve(B, A).solution\nshould be replaced with\nX = torch.linalg.solve_triangular(A, B).")
    for letter, x in (("b", input), ("A", A)):
        if x.ndim < 2:
            raise RuntimeError(f"torch.triangular_solve: Expected {letter} to have at least 2 dimensions, but it has {x.ndim} "
                               "dimensions instead")
    if input.array.dtype != A.array.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {kind_of(input)} and A of type {kind_of(A)} instead.")
    (rows, columns), (n, k) = A.shape[-2:], input.shape[-2:]
    if rows != columns:
        raise RuntimeError(f"A must be batches of square matrices, but they are {rows} by {columns} matrices")
    if n != rows:
        raise RuntimeError(f"Incompatible matrix sizes for triangular_solve: each A matrix is {rows} by {columns} but each b "
                           f"matrix is {n} by {k}")
    triangular_kernel(A)
    a = shape.mT(A) if transpose else A
    y = decomp.solve_triangular(a, input, upper != transpose, True, unitriangular)
    return TRIANGULAR_SOLVE((y, create.clone(A)))


def lstsq(A: Any, B: Any, rcond: Any = None, *, driver: Any = None) -> Any:
    """Least squares: (solution, residuals, rank, singular_values); B is (*, n) or (*, n, k)."""
    if A.ndim < 2:
        raise RuntimeError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if B.ndim < 1:
        raise RuntimeError("torch.linalg.lstsq: other must have at least 1 dimension.")
    vector = B.ndim == A.ndim - 1
    if A.array.dtype != B.array.dtype:
        raise RuntimeError(
            "torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype "
            f"{kind_of(A)} and other's dtype {kind_of(B)}")
    at = -1 if vector else -2
    if A.shape[-2] != B.shape[at]:
        raise RuntimeError(f"torch.linalg.lstsq: input.size(-2) should match other.size({at})")
    driver = "gelsy" if driver is None else driver
    if driver not in ("gels", "gelsy", "gelsd", "gelss"):
        raise RuntimeError("torch.linalg.lstsq: parameter `driver` should be one of (gels, gelsy, gelsd, gelss)")
    if A.array.dtype.kind not in "fc" or A.array.dtype.itemsize == 2:
        raise RuntimeError("This function doesn't handle types other than float and double")
    cut = rcond if rcond is not None else max(A.shape[-2:]) * float(np.finfo(A.array.dtype).eps)
    right = shape.unsqueeze(B, -1) if vector else B
    x, rank, values = decomp.lstsq(A, right, cut)
    n, m = A.shape[-2:]
    nothing = wrap(np.zeros(0, A.array.real.dtype))
    residuals: Any = nothing
    if recording(x):
        residuals = shape.expand(sums.sum_dims(complexes.real(x), tuple(range(x.ndim)), False), (0,))
    if n > m and driver != "gelsy" and (driver == "gels" or np.all(rank == m)):
        error = linalg.matmul(A, x) - right
        residuals = sums.sum_dims(complexes.real(error * complexes.conj(error)), (error.ndim - 2,), False)
        if vector:
            residuals = shape.squeeze_dim(residuals, residuals.ndim - 1)
    found = wrap(np.zeros(0, np.int64) if driver == "gels" else np.asarray(rank, np.int64))
    singular = wrap(values) if driver in ("gelsd", "gelss") else nothing
    return LSTSQ((shape.squeeze_dim(x, x.ndim - 1) if vector else x, residuals, found, singular))


def tensorsolve(A: Any, B: Any, dims: Any = None, *, out: Any = None) -> Any:
    """The solution X of tensordot(A, X, X.ndim) = B."""
    a, b = A, B
    if dims is not None:
        moved = [dim_of(d, a.ndim) for d in dims]
        a = shape.permute(a, tuple([d for d in range(a.ndim) if d not in moved] + moved))
    sizes = tuple(a.array.shape[b.ndim:])
    if count(sizes) != count(tuple(a.array.shape[:b.ndim])):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == "
            "prod(self.shape[:other.ndim]), but "
            f"got {count(sizes)} != {count(tuple(a.array.shape[:b.ndim]))}")
    y = solve(fold(a, (b.array.size, count(sizes))), fold(b, (b.array.size,)))
    return shape.reshape(y, sizes)


def tensorinv(A: Any, ind: int = 2, *, out: Any = None) -> Any:
    """The inverse of the map X -> tensordot(A, X, A.ndim - ind)."""
    if ind <= 0:
        raise RuntimeError("Expected a strictly positive integer for 'ind', but got " + str(ind))
    if ind > A.array.ndim:
        raise RuntimeError(f"ArrayRef: invalid slice, N = {ind}; size = {A.array.ndim}")
    head, tail = tuple(A.array.shape[:ind]), tuple(A.array.shape[ind:])
    if count(head) != count(tail):
        raise RuntimeError(
            "Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got "
            f"{count(tail)} != {count(head)}")
    y = decomp.inv(fold(A, (count(head), count(tail))))
    return fold(y, tail + head)
# Determinants and powers
SLOGDET = {name: named(name, "sign", "logabsdet") for name in ("linalg_slogdet", "slogdet")}


def matrix_exp(A: Any) -> Any:
    """The matrix exponentials of square matrices (..., n, n)."""
    return decomp.matrix_exp(squares(A, "linalg.matrix_exp"))


def det(A: Any, *, out: Any = None) -> Any:
    """The determinant; its gradient at singular matrices comes from the cofactors."""
    x = squares(A, "linalg.det")
    return finish(decomp.det(x), out, "linalg_det", x)


def linalg_slogdet(A: Any, *, out: Any = None) -> Any:
    """(sign, log |det|), each (...), of square matrices (..., n, n); (0, -inf) for a singular one."""
    return SLOGDET["linalg_slogdet"](decomp.slogdet(squares(A, "linalg.slogdet")))


def slogdet(input: Any, *, out: Any = None) -> Any:
    """(sign, log |det|), each (...), of square matrices (..., n, n); (0, -inf) for a singular one."""
    return SLOGDET["slogdet"](decomp.slogdet(squares(input, "linalg.slogdet")))


def logdet(input: Any) -> Any:
    """The logarithm of the determinant; nan where that is negative."""
    sign, log = decomp.slogdet(squares(input, "linalg.slogdet"))
    if sign.array.dtype.kind == "c":
        return pointwise.log(sign) + log
    nan = wrap(np.asarray(np.nan, log.array.dtype))
    return choose.where(sign.array == -1, nan, log)


def matrix_power(input: Any, n: int, *, out: Any = None) -> Any:
    """The n-th power of square matrices, by repeated squaring; for negative n, that of the inverse."""
    if input.ndim < 2:
        raise RuntimeError("linalg.matrix_power: The input tensor A must have at least 2 dimensions.")
    square(input, "linalg.matrix_power")
    if n == 0:
        eye = np.broadcast_to(np.eye(input.shape[-1], dtype=input.array.dtype), input.array.shape)
        return index.copy_(create.clone(input), wrap(eye))
    if n == 1:
        return create.clone(input)
    base = inv(input) if n < 0 else input
    n = abs(n)
    times = linalg.mm if input.ndim == 2 else linalg.matmul
    if n == 1:
        return base
    if n == 2:
        return times(base, base)
    if n == 3:
        return times(times(base, base), base)
    y: Any = None
    power: Any = None
    while n:
        power = base if power is None else times(power, power)
        if n & 1:
            y = power if y is None else times(y, power)
        n >>= 1
    return y


def matrix_rank(
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None,
) -> Any:
    """The ranks (...) of (..., m, n): how many singular values exceed max(atol, rtol * the largest)."""
    if A.ndim > 1 and (A.array.dtype.kind not in "fc" or A.array.dtype.itemsize == 2):
        raise RuntimeError("This function doesn't handle types other than float and double")
    x = matrices(A, "torch.linalg.matrix_rank", "input")
    a: Any = x.array
    real_tolerances("matrix_rank", atol if tol is None else tol, rtol)
    if hermitian:
        square(x, "linalg.eigh")
    if hermitian:
        s = np.abs(np.linalg.eigvalsh(decomp.finite(a)[0]))
    else:
        decomp.check_finite(a, "linalg.svd")
        s = np.linalg.svd(a, compute_uv=False)
    if tol is not None:
        atol, rtol = tol, 0.0
    atol = 0.0 if atol is None else getattr(atol, "array", atol)
    if rtol is None:
        rtol = max(a.shape[-2:]) * np.finfo(a.dtype).eps if np.all(np.asarray(atol) == 0) else 0.0
    rtol = getattr(rtol, "array", rtol)
    top = s.max(-1) if s.shape[-1] else np.zeros(s.shape[:-1])
    limit = np.maximum(atol, rtol * top)
    return wrap(np.asarray((s > np.asarray(limit)[..., None]).sum(-1), np.int64))


def vander(x: Any, *, N: Any = None) -> Any:
    """The Vandermonde matrix (..., n, N): powers 0 to N - 1 of the numbers in x (..., n)."""
    if x.array.dtype.kind in "bV" or x.array.dtype.itemsize == 2 and x.array.dtype.kind == "f":
        raise RuntimeError(f"linalg.vander supports floating point, complex, and integer tensors, but got {kind_of(x)}")
    a = x if x.array.ndim else x.unsqueeze(0)
    n = a.array.shape[-1] if N is None else int(N)
    if n <= 1:
        raise RuntimeError("N must be greater than 1.")
    wide = a.unsqueeze(-1).expand(*a.shape, n - 1)
    return cat([ones_like(wide[..., :1]), wide.cumprod(-1)], -1)
