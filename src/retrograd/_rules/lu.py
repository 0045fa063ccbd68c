"""A = P L U with partial pivoting."""
from __future__ import annotations

import math
from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Many
from .._engine.node import Array, Value
from .._engine.op import Unary
from . import decomp, join, linalg, shape, slices

np: Final[Any] = numpy


def eliminated(x: Array) -> tuple[Array, Array]:
    """(L below the diagonal and U from it on, in one matrix; rows that were exchanged, from 0) of a stack of matrices."""
    lu = np.array(x, order="C")
    n, m = lu.shape[-2:]
    k = min(n, m)
    flat = lu.reshape((math.prod(lu.shape[:-2]), n, m))
    pivots = np.empty((flat.shape[0], k), np.int64)
    each = np.arange(flat.shape[0])
    for j in range(k):
        best = size_of(flat[:, j:, j]).argmax(1) + j
        pivots[:, j] = best
        moved = flat[each, best]
        flat[each, best] = flat[:, j]
        flat[:, j] = moved
        top = flat[:, j, j]
        factors = flat[:, j + 1:, j] / np.where(top == 0, top.dtype.type(1), top)[:, None]
        flat[:, j + 1:, j] = factors
        flat[:, j + 1:, j + 1:] -= factors[:, :, None] * flat[:, None, j, j + 1:]
    return lu, pivots.reshape(x.shape[:-2] + (k,))


def order_of(pivots: Array, n: int) -> Array:
    """The order of rows after the exchanges: (P^T A)[i] = A[order[i]]."""
    flat = pivots.reshape((-1, pivots.shape[-1])) if pivots.size else np.zeros((count(pivots.shape[:-1]), 0), np.int64)
    order = np.tile(np.arange(n), (flat.shape[0], 1))
    each = np.arange(flat.shape[0])
    for j in range(flat.shape[1]):
        best = flat[:, j]
        moved = order[each, best]
        order[each, best] = order[:, j]
        order[:, j] = moved
    return order.reshape(pivots.shape[:-1] + (n,))


def count(sizes: Any) -> int:
    n = 1
    for size in sizes:
        n *= size
    return n


def permutation(pivots: Array, n: int, dtype: Any) -> Array:
    """P of A = P L U."""
    order = order_of(pivots, n)
    p = np.zeros(order.shape + (n,), dtype)
    np.put_along_axis(p, order[..., None], 1, -1)
    return p.swapaxes(-1, -2)


def halves(lu: Array) -> tuple[Array, Array]:
    n, m = lu.shape[-2:]
    k = min(n, m)
    return np.tril(lu[..., :k], -1) + np.eye(n, k, dtype=lu.dtype), np.triu(lu[..., :k, :])


def strictly_lower(x: Value) -> Value:
    return decomp.triangle(x, False, 1)


def upper(x: Value) -> Value:
    return decomp.triangle(x, True, 0)


def part(x: Value, rows: Any, columns: Any) -> Value:
    return slices.take(x, (Ellipsis, rows, columns))


def whole_grad(gl: Value, gu: Value, l: Value, u: Value, p: Array) -> Value:
    """The gradient of A, given those of L and U.

    Of a square A: P L^-T [tril(Lt gL, -1) + triu(gU Ut)] U^-T.  A wide or tall one is a square block and the rest, whose
    factor follows from the block's.
    """
    n, m = linalg.sizes(l)[-2], linalg.sizes(u)[-1]
    k = min(n, m)
    every = slice(None)
    low = part(l, slice(0, k), every)
    up = part(u, every, slice(0, k))
    right: Value = None
    below: Value = None
    g_low = part(gl, slice(0, k), every)
    g_up = part(gu, every, slice(0, k))
    if m > n:
        g_rest = part(gu, every, slice(k, m))
        right = decomp.solve_triangular(shape.mT(low), g_rest, True, True, True)
        g_low = g_low - linalg.matmul(right, shape.mT(part(u, every, slice(k, m))))
    if n > m:
        g_rest = part(gl, slice(k, n), every)
        below = decomp.solve_triangular(shape.mT(up), g_rest, False, False, False)
        g_up = g_up - linalg.matmul(shape.mT(part(l, slice(k, n), every)), below)
    phi = strictly_lower(linalg.matmul(shape.mT(low), g_low)) + upper(linalg.matmul(g_up, shape.mT(up)))
    block = decomp.solve_triangular(shape.mT(up), decomp.solve_triangular(shape.mT(low), phi, True, True, True), False, False,
                                    False)
    if right is not None:
        block = join.cat([block, right], linalg.raw(block).ndim - 1)
    if below is not None:
        block = join.cat([block, below], linalg.raw(block).ndim - 2)
    return linalg.matmul(p, block)


def size_of(x: Array) -> Array:
    """What LAPACK compares to choose pivots: of complex numbers the sum of both parts."""
    return np.abs(x.real) + np.abs(x.imag) if x.dtype.kind == "c" else np.abs(x)


@final
class LinalgLuBackward0(Many):
    """L (unit lower) and U (upper)."""

    names: ClassVar[Any] = {"L": 0, "U": 1}

    def __init__(self) -> None:
        super().__init__()
        self.p: Any = None

    def forward(self, x: Array) -> list[Array]:
        lu, pivots = eliminated(x)
        self.p = permutation(pivots, x.shape[-2], x.dtype)
        low, up = halves(lu)
        return [low, up]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        return whole_grad(gs[0], gs[1], ys[0], ys[1], self.p)


@final
class LinalgLuFactorExBackward0(Unary):
    """L without its diagonal and U in one matrix."""

    holds = True
    names: ClassVar[Any] = {"LU": "y"}
    shows: ClassVar[Any] = {"pivots": "pivots"}

    def __init__(self) -> None:
        self.pivots: Array = None

    def drop(self) -> None:
        self.pivots = None

    def forward(self, x: Array) -> Array:
        lu, self.pivots = eliminated(x)
        return lu

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        n, m = linalg.sizes(y)[-2:]
        k = min(n, m)
        low = strictly_lower(part(y, slice(None), slice(0, k)))
        low = low + np.eye(n, k, dtype=linalg.raw(y).dtype)
        up = upper(part(y, slice(0, k), slice(None)))
        gl = strictly_lower(part(g, slice(None), slice(0, k)))
        gu = upper(part(g, slice(0, k), slice(None)))
        return whole_grad(gl, gu, low, up, permutation(self.pivots, n, linalg.raw(y).dtype))


def is_singular(lu: Array) -> Array:
    """Per matrix the number (from 1) of the first zero on U's diagonal; 0 when there is none."""
    d = np.diagonal(lu, 0, -2, -1) == 0
    return np.where(d.any(-1), d.argmax(-1) + 1, 0).astype(np.int32) if d.shape[-1] else np.zeros(d.shape[:-1], np.int32)
