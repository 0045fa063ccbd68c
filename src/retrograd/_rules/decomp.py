"""Inverses, determinants and decompositions of (batches of) matrices.

Gradients: Giles, "Collected matrix derivative results" (2008): inverse, solve, determinant; Murray, "Differentiation of
the Cholesky decomposition" (2016); Walter and Lehmann, "Algorithmic differentiation of linear algebra functions"
(2010): QR; Townsend, "Differentiating the singular value decomposition" (2016): SVD and eigenvalues; Golub and Pereyra
(1973): pseudoinverse.  All rules are made of ops, so they differentiate again.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy
from mypy_extensions import mypyc_attr

from .._engine.modes import meet_complex
from .._engine.nary import Many
from .._engine.node import Array, Value
from .._engine.op import Product, Unary, is_complex
from .._engine.tensor import TensorBase
from .._engine.warn import instead
from .._kernels import kernel
from . import cast, choose, complexes, join, linalg, reduce, shape, slices
from .linalg import matmul

np: Final[Any] = numpy
quick_inverses: Final[Any] = kernel("inverses")
LinAlgError: Final[Any] = numpy.linalg.LinAlgError


@mypyc_attr(native_class=False)               # mypyc cannot compile exceptions
class _LinAlgError(RuntimeError):
    """A matrix that has no such decomposition: torch.linalg.LinAlgError."""


def singular(name: str, x: Array, text: str) -> _LinAlgError:
    """The error for the first matrix of a batch that has a zero pivot; `text` may name it by {}."""
    batch = x.reshape((-1,) + x.shape[-2:])
    for i in range(batch.shape[0]):
        at = zero_pivot(batch[i])
        if at or i == batch.shape[0] - 1:
            where = f"(Batch element {i}): " if x.ndim > 2 else ""
            return _LinAlgError(f"{name}: {where}{text.replace('{}', str(at or x.shape[-1]))}")
    return _LinAlgError(f"{name}: {text.replace('{}', '1')}")


def zero_pivot(x: Array) -> int:
    """Which pivot (from 1) of Gaussian elimination with row exchanges is zero; 0 for none."""
    m = np.array(x, dtype=x.dtype)
    n = m.shape[0]
    for i in range(n):
        p = i + int(np.argmax(np.abs(m[i:, i])))
        if m[p, i] == 0:
            return i + 1
        if p != i:
            m[[i, p]] = m[[p, i]]
        m[i + 1:, i + 1:] -= np.outer(m[i + 1:, i] / m[i, i], m[i, i + 1:])
    return 0


@final
class LinalgInvExBackward0(Unary):
    names: ClassVar[Any] = {"inverse": "y"}

    def quick(self, x: Array) -> Array:
        return quick_inverses(x)

    def forward(self, x: Array) -> Array:
        try:
            return np.linalg.inv(x)
        except LinAlgError:
            raise instead(singular(
                "linalg.inv", x, "The diagonal element {} is zero, the inversion could not be completed because the "
                "input matrix is singular.")) from None

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        yt = shape.mT(y)
        return -matmul(matmul(yt, g), yt)


@final
class LinalgPinvBackward0(Unary):
    conjugates = False
    def __init__(self, cut: Array, hermitian: bool) -> None:
        self.cut: Array = cut                   # relative: singular values up to cut * the largest count as zero
        self.hermitian = hermitian

    def forward(self, x: Array) -> Array:
        if x.size == 0:
            return np.zeros(x.shape[:-2] + (x.shape[-1], x.shape[-2]), x.dtype)
        if not self.hermitian:
            check_finite(x, "linalg.svd")
        x, bad = finite(x)
        y = np.linalg.pinv(x, self.cut, hermitian=self.hermitian).astype(x.dtype)
        y[bad] *= np.nan
        return y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return pinv_grad(g, x, y)


def pinv_grad(g: Value, x: Value, y: Value) -> Value:
    """-Yt G Yt + (I - X Y) Gt Y Yt + Yt Y Gt (I - Y X), for Y the pseudoinverse of X (t: transposed)."""
    yt = mH(y)
    gt = mH(g)
    left = matmul(matmul(gt, y), yt)
    right = matmul(matmul(yt, y), gt)
    return (left - matmul(matmul(yt, g), yt) - matmul(x, matmul(y, left))
            + right - matmul(matmul(right, y), x))


@final
class LinalgSolveExBackward0(Product):
    """X with A X = B, or X A = B unless `left`; `vector`: B has no column dim."""

    names: ClassVar[Any] = {"A": "a", "result": "y"}
    shows: ClassVar[Any] = {"left": "left"}

    def __init__(self, left: bool, vector: bool) -> None:
        self.left = left
        self.vector = vector

    def forward(self, a: Array, b: Array) -> Array:
        self.unlike = (a.shape, a.dtype, b.shape, b.dtype)
        if self.vector:
            b = b[..., None]
        if not self.left:
            a = a.swapaxes(-1, -2)
            b = b.swapaxes(-1, -2)
        try:
            y = np.linalg.solve(a, b)
        except LinAlgError:
            raise instead(singular(
                "torch.linalg.solve", a, "The solver failed because the input matrix is singular.")) from None
        if not self.left:
            y = y.swapaxes(-1, -2)
        return y[..., 0] if self.vector else y

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        gb = self.grad_b(g, a, b, y)
        if self.vector:
            gb = shape.unsqueeze(gb, -1)
            y = shape.unsqueeze(y, -1)
        return -matmul(gb, shape.mT(y)) if self.left else -matmul(shape.mT(y), gb)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return LinalgSolveExBackward0(self.left, self.vector).run(shape.mT(a), g)


@final
class LinalgSolveTriangularBackward0(Product):
    """X with A X = B (X A = B unless `left`) for the upper or lower triangle of A, its diagonal perhaps taken as 1."""

    names: ClassVar[Any] = {"self": "a", "result": "y"}
    shows: ClassVar[Any] = {"left": "left", "unitriangular": "unit", "upper": "upper"}

    def __init__(self, upper: bool, left: bool, unit: bool) -> None:
        self.upper = upper
        self.left = left
        self.unit = unit

    def forward(self, a: Array, b: Array) -> Array:
        self.unlike = (a.shape, a.dtype, b.shape, b.dtype)
        a = np.triu(a) if self.upper else np.tril(a)
        if self.unit:
            i = np.arange(a.shape[-1])
            a[..., i, i] = 1
        upper = self.upper
        if not self.left:
            a = a.swapaxes(-1, -2)
            b = b.swapaxes(-1, -2)
            upper = not upper
        try:
            y = np.linalg.solve(a, b)
        except LinAlgError:
            y = substitute(a, b, upper)
        return y if self.left else y.swapaxes(-1, -2)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        gb = self.grad_b(g, a, b, y)
        full = -matmul(gb, shape.mT(y)) if self.left else -matmul(shape.mT(y), gb)
        return triangle(full, self.upper, 1 if self.unit else 0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return solve_triangular(shape.mT(a), g, not self.upper, self.left, self.unit)


def substitute(a: Array, b: Array, upper: bool) -> Array:
    """Row by row; zeros on the diagonal give infinities, as in PyTorch."""
    n = a.shape[-1]
    y = np.array(np.broadcast_to(b, np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + b.shape[-2:]))
    for i in (range(n - 1, -1, -1) if upper else range(n)):
        y[..., i, :] /= a[..., i, i, None]
        rest = slice(0, i) if upper else slice(i + 1, n)
        y[..., rest, :] -= a[..., rest, i, None] * y[..., None, i, :]
    return y


def triangle(x: Value, upper: bool, offset: int) -> Value:
    """The upper or lower triangle of x, `offset` diagonals away from the main one left out."""
    n, m = linalg.sizes(x)[-2:]
    mask = np.tri(m, n, -offset, dtype=bool).T if upper else np.tri(n, m, -offset, dtype=bool)
    return choose.where(mask, x, 0.0)


@final
class LinalgLstsqBackward0(Product):
    """The X of least norm that minimises |A X - B|."""

    conjugates = False
    names: ClassVar[Any] = {"self": "a", "b": "b", "solution": "y"}

    def __init__(self, cut: float) -> None:
        self.cut = cut
        self.rank: Any = None
        self.values: Any = None

    def forward(self, a: Array, b: Array) -> Array:
        check_finite(a, "linalg.svd")
        u, s, vt = np.linalg.svd(a, full_matrices=False)
        top = s.max(-1, keepdims=True) if s.shape[-1] else s
        good = s > self.cut * top
        self.rank = good.sum(-1)
        self.values = s
        inverse = np.where(good, 1 / np.where(good, s, 1), 0).astype(a.dtype)
        return turned(vt) @ (inverse[..., None] * (turned(u) @ b))

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        p = pinv(a, self.cut, False)
        return pinv_grad(matmul(g, mH(b)), a, p)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return matmul(mH(pinv(a, self.cut, False)), g)


@final
class LinalgMatrixExpBackward0(Unary):
    """exp of square matrices: Taylor's series of a scaled matrix, squared again (Moler and Van Loan 2003)."""

    def forward(self, x: Array) -> Array:
        a = x.astype(np.complex128 if x.dtype.kind == "c" else np.float64)
        n = a.shape[-1]
        if a.size == 0 or not np.isfinite(a).all():
            return np.full_like(x, np.nan)
        size = float(np.abs(a).sum(-1).max())
        times = max(0, int(np.ceil(np.log2(size))) + 4) if size > 0 else 0
        a = a / 2.0 ** times
        eye = np.eye(n)
        y = eye + a / 14
        for k in range(13, 0, -1):
            y = eye + linalg.product(a, y, "") / k
        for _ in range(times):
            y = linalg.product(y, y, "")
        return y.astype(x.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        n = linalg.raw(x).shape[-1]
        xt = shape.mT(x)
        last = len(linalg.sizes(x)) - 1
        top = join.cat([xt, g], last)
        low = join.cat([np.zeros_like(linalg.raw(x)), xt], last)
        whole = matrix_exp(join.cat([top, low], last - 1))
        return slices.take(whole, (Ellipsis, slice(0, n), slice(n, 2 * n)))


def matrix_exp(x: Value) -> Value:
    return LinalgMatrixExpBackward0().run(x)


@final
class LinalgDetBackward0(Unary):
    names: ClassVar[Any] = {"A": "x", "result": "y"}

    def forward(self, x: Array) -> Array:
        return np.asarray(np.linalg.det(x)).astype(x.dtype)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        at: Array = linalg.raw(x)
        try:
            usable = bool(np.all(np.isfinite(np.linalg.inv(at)))) and bool(np.all(linalg.raw(y) != 0))
        except LinAlgError:
            usable = False
        if not usable:
            return spread(g) * cofactors(at)
        return spread(g * y) * shape.mT(inv(x))


def spread(g: Value) -> Value:
    """One number a matrix, as a 1 x 1 matrix each."""
    return shape.reshape(g, linalg.sizes(g) + (1, 1))


def cofactors(x: Array) -> Array:
    """The gradient of the determinant, also of singular matrices."""
    if not np.isfinite(x).all():
        return np.full_like(x, np.nan)
    u, s, vt = np.linalg.svd(x)
    n = x.shape[-1]
    others = np.ones(s.shape, s.dtype)
    for i in range(n):
        others[..., i] = np.prod(np.delete(s, i, -1), -1)
    sign = np.linalg.det(u) * np.linalg.det(vt)
    y = (u * (others * sign[..., None].conj())[..., None, :]) @ vt
    return np.conjugate(y).astype(x.dtype)


@final
class LinalgSlogdetBackward0(Many):
    """Sign and logarithm of the absolute value of the determinant; a real sign has no gradient."""

    conjugates = False
    names: ClassVar[Any] = {"A": "x", "sign": 0}

    def forward(self, x: Array) -> list[Array]:
        sign, log = np.linalg.slogdet(x)
        sign = np.where(np.isnan(log), 0, sign)
        return [np.asarray(sign).astype(x.dtype), np.asarray(log).astype(x.real.dtype)]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        g = gs[1]
        if is_complex(x):
            g = g - complexes.imag(complexes.conj(gs[0]) * ys[0]) * 1j
        return spread(g) * mH(inv(x))


def lower_factor(x: Array, name: str) -> Array:
    """The lower triangle's Cholesky factor."""
    y, info = begun_factor(x)
    failed = np.flatnonzero(info)
    if not failed.size:
        return y
    where = f"(Batch element {failed[0]}): " if x.ndim > 2 else ""
    raise _LinAlgError(
        f"{name}: {where}The factorization could not be completed because the input is not positive-definite (the leading minor "
        f"of order {info.reshape(-1)[failed[0]]} is not positive-definite).")


@final
class LinalgCholeskyExBackward0(Unary):
    conjugates = False
    names: ClassVar[Any] = {"L": "y"}
    shows: ClassVar[Any] = {"upper": "upper"}

    def __init__(self, upper: bool, name: str) -> None:
        self.upper = upper
        self.function = name                    # "": what cannot be factored is told by `info`
        self.info: Array = None

    def forward(self, x: Array) -> Array:
        if self.function:
            return factor(x, self.upper, self.function)
        y, self.info = begun_factor(turned(x) if self.upper else x)
        return np.ascontiguousarray(turned(y)) if self.upper else y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return cholesky_grad(g, y, self.upper)


@final
class CholeskyBackward0(Unary):
    conjugates = False
    shows: ClassVar[Any] = {"upper": "upper"}

    def __init__(self, upper: bool) -> None:
        self.upper = upper

    def forward(self, x: Array) -> Array:
        return factor(x, self.upper, "cholesky")

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return cholesky_grad(g, y, self.upper)


def begun_factor(x: Array) -> tuple[Array, Array]:
    """The lower triangle's Cholesky factors as far as they go, and how far: 0 for all, else the order of the minor that failed.

    What comes after is the matrix as it was, as LAPACK's potf2 leaves it.
    """
    info = np.zeros(x.shape[:-2], np.int32)
    try:
        y = np.linalg.cholesky(x)
        if np.isfinite(y).all():
            return y, info
    except LinAlgError:
        pass
    y = np.tril(x)
    n = x.shape[-1]
    for at in np.ndindex(x.shape[:-2]):
        a = y[at]
        for k in range(n):
            pivot = (a[k, k] - a[k, :k] @ a[k, :k].conj()).real
            if not pivot > 0:
                a[k, k] = pivot
                info[at] = k + 1
                break
            a[k, k] = np.sqrt(pivot)
            a[k + 1:, k] = (a[k + 1:, k] - a[k + 1:, :k] @ a[k, :k].conj()) / a[k, k] if pivot < np.inf else np.nan
    return y, info


def factor(x: Array, upper: bool, name: str) -> Array:
    if x.size == 0:
        return np.zeros_like(x)
    if upper:                                   # reads the upper triangle only
        return np.ascontiguousarray(turned(lower_factor(turned(x), name)))
    return lower_factor(x, name)


def cholesky_grad(g: Value, y: Value, upper: bool) -> Value:
    """Lh^-1 sym(P(Lh G)) L^-1, where P halves the diagonal of the lower triangle."""
    low = mH(y) if upper else y
    g = mH(g) if upper else g
    n = linalg.sizes(y)[-1]
    dtype = linalg.raw(y).dtype
    phi = matmul(mH(low), g)
    phi = (phi * np.tri(n, dtype=dtype) + mH(phi * np.tri(n, k=-1, dtype=dtype))) * 0.5
    right = solve_triangular(low, phi, False, False, False)
    return solve_triangular(mH(low), right, True, True, False)


@final
class LinalgQrBackward0(Many):
    """Q (orthonormal columns) and R (upper triangular)."""

    conjugates = False
    names: ClassVar[Any] = {"Q": 0, "R": 1}
    shows: ClassVar[Any] = {"mode": "mode"}

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode

    def forward(self, x: Array) -> list[Array]:
        if self.mode == "r":
            return [np.zeros(0, x.dtype), np.linalg.qr(x, "r")]
        q, r = np.linalg.qr(x, self.mode)
        return [q, r]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        if self.mode == "r":
            raise RuntimeError(
                "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use "
                "linalg.qr(A, mode='reduced') if you are going to differentiate through linalg.qr.")
        q = ys[0]
        r = ys[1]
        n = linalg.sizes(q)[-2]
        m = linalg.sizes(r)[-1]
        if self.mode == "complete" and n > m:
            raise RuntimeError(
                "The QR decomposition is not differentiable when mode='complete' and nrows > ncols.")
        if m <= n:
            return tall_grad(gs[0], gs[1], q, r)
        # wide: A = [X | Y], X = Q U, Y = Q V
        where = (Ellipsis, slice(0, n))
        rest = (Ellipsis, slice(n, m))
        v = slices.take(r, rest)
        gv = slices.take(gs[1], rest)
        gy = matmul(q, gv)
        gq = gs[0] + matmul(matmul(q, v), mH(gv))
        gx = tall_grad(gq, slices.take(gs[1], where), q, slices.take(r, where))
        into = linalg.sizes(gx)[:-1] + (m,)
        return slices.put(gx, where, into) + slices.put(gy, rest, into)


def tall_grad(gq: Value, gr: Value, q: Value, r: Value) -> Value:
    """(Gq + Q sym(tril(M))) R^-H with M = R Grh - Gqh Q."""
    m = matmul(r, mH(gr)) - matmul(mH(gq), q)
    n = linalg.sizes(m)[-1]
    dtype = linalg.raw(m).dtype
    low = m * np.tri(n, dtype=dtype)
    right = gq + matmul(q, (low + mH(low)) * (1 - np.eye(n) / 2).astype(dtype))
    return solve_triangular(mH(r), right, False, False, False)


@final
class LinalgSvdBackward0(Many):
    """U, S, Vh.  Vectors of equal singular values have no gradient (infinite)."""

    conjugates = False
    names: ClassVar[Any] = {"U": 0, "S": 1, "Vh": 2}
    shows: ClassVar[Any] = {"full_matrices": "full", "S_sym_argsize_minus_1": "count"}

    def __init__(self, full: bool, name: str) -> None:
        super().__init__()
        self.full = full
        self.op = name
        self.count: int = 0

    def forward(self, x: Array) -> list[Array]:
        check_finite(x, self.op)
        try:
            u, s, v = np.linalg.svd(x, self.full)
        except LinAlgError:
            raise instead(not_converged(self.op)) from None
        self.count = s.shape[-1]
        return [u, s, v]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        k = self.count
        s = ys[1]
        columns = (Ellipsis, slice(0, k))
        top = (Ellipsis, slice(0, k), slice(None))
        u = slices.take(ys[0], columns)
        vt = slices.take(ys[2], top)
        inner: Value = diagonal_of(gs[1])
        outside: Value = None
        gu = slices.take(gs[0], columns)
        gvt = slices.take(gs[2], top)
        has_u = matters(gu)
        has_v = matters(gvt)
        if has_u or has_v:
            square = s * s
            gap = gaps(square)
            row = shape.unsqueeze(s, -2)
            turn_u: Value = None
            turn_v: Value = None
            if has_u:
                skew = matmul(mH(u), gu)
                skew = skew - mH(skew)
                turn_u = skew
                inner = inner + (skew / gap) * row
                if linalg.sizes(u)[-2] > k:
                    scaled = gu / row
                    outside = matmul(scaled - matmul(u, matmul(mH(u), scaled)), vt)
            if has_v:
                skew = matmul(vt, mH(gvt))
                skew = skew - mH(skew)
                turn_v = skew
                inner = inner + shape.unsqueeze(s, -1) * (skew / gap)
                if linalg.sizes(vt)[-1] > k:
                    scaled = gvt / shape.unsqueeze(s, -1)
                    more = matmul(u, scaled - matmul(matmul(scaled, mH(vt)), vt))
                    outside = more if outside is None else outside + more
            if is_complex(u):
                check_gauge(phases(turn_u) + phases(turn_v), "svd_backward: The singular vectors",
                            "phase term, making it ill-defined.")
                if has_u and has_v:
                    inner = inner + turn_u * np.eye(k, dtype=linalg.raw(s).dtype) / (row * 2)
        full = matmul(matmul(u, meet(inner, u)), vt)
        return full if outside is None else full + outside


def check_finite(x: Array, name: str) -> None:
    if not np.isfinite(x).all():
        raise _LinAlgError(
            f"{name}: The algorithm failed to converge because the input matrix contained non-finite values.")


def finite(x: Array) -> tuple[Array, Array]:
    """(x with zeros in the place of matrices that are not finite, which those are)"""
    bad = ~np.isfinite(x).all((-2, -1))
    return np.where(bad[..., None, None], 0, x).astype(x.dtype) if bad.any() else x, bad


def not_converged(name: str) -> _LinAlgError:
    return _LinAlgError(
        f"{name}: The algorithm failed to converge because the input matrix is ill-conditioned or has too many "
        "repeated singular values.")


def matters(g: Value) -> bool:
    """Is a gradient possibly not zero?  (Zeros over gaps of zero would be nan.)"""
    if isinstance(g, TensorBase):
        return g.rg or bool(g.array.any())
    return bool(g.any())


def gaps(s: Value) -> Value:
    """s[j] - s[i], and 1 on the diagonal."""
    n = linalg.sizes(s)[-1]
    return shape.unsqueeze(s, -2) - shape.unsqueeze(s, -1) + np.eye(n, dtype=linalg.raw(s).dtype)


def diagonal_of(s: Value) -> Value:
    n = linalg.sizes(s)[-1]
    return shape.unsqueeze(s, -1) * np.eye(n, dtype=linalg.raw(s).dtype)


@final
class LinalgEighBackward0(Many):
    """Eigenvalues (rising) and eigenvectors of a symmetric matrix; one triangle is read."""

    conjugates = False
    names: ClassVar[Any] = {"eigenvalues": 0, "eigenvectors": 1}

    def __init__(self, lower: bool) -> None:
        super().__init__()
        self.lower = lower

    def forward(self, x: Array) -> list[Array]:
        if not np.isfinite(x).all():
            return [np.full(x.shape[:-1], np.nan, x.real.dtype), np.full_like(x, np.nan) * x]
        try:
            s, v = np.linalg.eigh(x, "L" if self.lower else "U")
        except LinAlgError:
            raise instead(_LinAlgError(
                "linalg.eigh: The algorithm failed to converge because the input matrix is ill-conditioned or has "
                "too many repeated eigenvalues.")) from None
        return [s, v]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        v = ys[1]
        inner = diagonal_of(gs[0])
        if matters(gs[1]):
            turn = matmul(mH(v), gs[1])
            if is_complex(v):
                check_gauge(phases(turn), "linalg_eigh_backward: The eigenvectors")
            inner = inner + (turn - mH(turn)) * 0.5 / gaps(ys[0])
        return matmul(matmul(v, meet(inner, v)), mH(v))


@final
class LinalgEigBackward0(Many):
    """Eigenvalues and eigenvectors of a square matrix, complex also for a real one."""

    conjugates = False
    names: ClassVar[Any] = {"eigenvalues": 0, "eigenvectors": 1}

    def forward(self, x: Array) -> list[Array]:
        meet_complex()
        if not np.isfinite(x).all():
            raise RuntimeError("torch.linalg.eig: input tensor should not contain infs or NaNs.")
        s, v = np.linalg.eig(x)
        want = np.result_type(x.dtype, np.complex64)
        return [s.astype(want), v.astype(want)]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        v = ys[1]
        inner: Value = diagonal_of(gs[0])
        if matters(gs[1]):
            n = linalg.sizes(v)[-1]
            eye = np.eye(n, dtype=linalg.raw(v).real.dtype)
            turn = matmul(mH(v), gs[1])
            check_gauge(phases(turn), "linalg_eig_backward: The eigenvectors")
            size = reduce.sum_dims(complexes.real(turn) * eye, (linalg.raw(turn).ndim - 2,), True)
            rest = (turn - matmul(mH(v), v) * size) * (1 - eye)
            inner = inner + rest / gaps(complexes.conj(ys[0]))
        return solve(mH(v), matmul(inner, mH(v)), True, False)


def eig(x: Value) -> list[Value]:
    return LinalgEigBackward0().run(x)


def mH(x: Value) -> Value:
    """The last two dims exchanged, and the conjugates of complex numbers."""
    return complexes.conj(shape.mT(x))


def turned(x: Array) -> Array:
    """mH of an array."""
    y = x.swapaxes(-1, -2)
    return y.conj() if y.dtype.kind == "c" else y


def meet(x: Value, v: Value) -> Value:
    """x in v's dtype."""
    dtype = linalg.raw(v).dtype
    return x if linalg.raw(x).dtype is dtype else cast.cast(x, dtype)


def phases(turn: Value) -> Any:
    """How much a loss changes with the phase of each vector; 0 where nobody asks."""
    return 0.0 if turn is None else np.diagonal(linalg.raw(turn), 0, -2, -1).imag


def check_gauge(by_phase: Any, what: str, so: str = "quantity, so it is ill-defined.") -> None:
    """RuntimeError for a loss that depends on the phase of vectors, which may be any."""
    if np.any(np.abs(by_phase) > 1e-2):
        raise RuntimeError(
            f"{what} in the complex case are specified up to multiplication by e^{{i phi}}. The specified loss function "
            f"depends on this {so}")


def inv(x: Value) -> Value:
    return LinalgInvExBackward0().run(x)


def pinv(x: Value, cut: Any, hermitian: bool) -> Value:
    return LinalgPinvBackward0(cut, hermitian).run(x)


def solve(a: Value, b: Value, left: bool, vector: bool) -> Value:
    return LinalgSolveExBackward0(left, vector).run(a, b)


def solve_triangular(a: Value, b: Value, upper: bool, left: bool, unit: bool) -> Value:
    return LinalgSolveTriangularBackward0(upper, left, unit).run(a, b)


def det(x: Value) -> Value:
    return LinalgDetBackward0().run(x)


def slogdet(x: Value) -> list[Value]:
    return LinalgSlogdetBackward0().run(x)


def cholesky(x: Value, upper: bool) -> Value:
    return LinalgCholeskyExBackward0(upper, "linalg.cholesky").run(x)


def old_cholesky(x: Value, upper: bool) -> Value:
    return CholeskyBackward0(upper).run(x)


def qr(x: Value, mode: str) -> list[Value]:
    return LinalgQrBackward0(mode).run(x)


def svd(x: Value, full: bool, name: str) -> list[Value]:
    return LinalgSvdBackward0(full, name).run(x)


def eigh(x: Value, lower: bool) -> list[Value]:
    return LinalgEighBackward0(lower).run(x)


def lstsq(a: Value, b: Value, cut: float) -> tuple[Value, Any, Any]:
    """Solution, rank, singular values."""
    op = LinalgLstsqBackward0(cut)
    y = op.run(a, b)
    return y, op.rank, op.values
