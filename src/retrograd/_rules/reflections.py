"""Products of Householder reflections H = I - t v vH, as LAPACK's QR stores them: v below the diagonal of a matrix.

Letters: m rows, k reflections, p columns of what is reflected; batches come first.  The entry of v on the diagonal is 1, those
above are 0; what the matrix has there is not read.
"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.nary import Many, Nary
from .._engine.node import Array, Value
from . import complexes, join, linalg, shape, slices
from .decomp import mH
from .linalg import matmul

np: Final[Any] = numpy


def column(a: Value, i: int) -> Value:
    """v of reflection i, (..., m, 1)."""
    at: Array = linalg.raw(a)
    top = np.zeros(at.shape[:-2] + (i + 1, 1), at.dtype)
    top[..., i, 0] = 1
    below = slices.take(a, (Ellipsis, slice(i + 1, None), slice(i, i + 1)))
    return join.cat([top, below], at.ndim - 2)


def factor(tau: Value, i: int, adjoint: bool) -> Value:
    """t of reflection i, (..., 1, 1); its conjugate, if `adjoint`."""
    t = shape.unsqueeze(slices.take(tau, (Ellipsis, slice(i, i + 1))), -1)
    return complexes.conj(t) if adjoint else t


def order_of(k: int, adjoint: bool) -> list[int]:
    """The reflections as they meet what is reflected: the last first, unless it is the adjoint's."""
    return list(range(k)) if adjoint else list(range(k - 1, -1, -1))


def reflected(a: Array, tau: Array, c: Array, adjoint: bool) -> Array:
    """H1 ... Hk c, or its adjoint HkH ... H1H c."""
    y = np.array(c, order="C")
    tau = complexes.conj(tau) if adjoint else tau
    for i in order_of(tau.shape[-1], adjoint):
        v = np.array(a[..., i:, i:i + 1])
        v[..., 0, 0] = 1
        rows = y[..., i:, :]
        rows -= tau[..., i, None, None] * v * (mH(v) @ rows)
    return y


def pulled(g: Value, a: Value, tau: Value, c: Value, adjoint: bool) -> list[Value]:
    """The gradients of a, tau and c."""
    at: Array = linalg.raw(a)
    k: int = linalg.sizes(tau)[-1]
    order = order_of(k, adjoint)
    states: list[Value] = [c]
    for i in order:
        v = column(a, i)
        states.append(states[-1] - factor(tau, i, adjoint) * matmul(v, matmul(mH(v), states[-1])))
    columns: list[Value] = [np.zeros(at.shape[:-1] + (1,), at.dtype) for _ in range(at.shape[-1])]
    factors: list[Value] = [None] * k
    for j in range(k - 1, -1, -1):
        i = order[j]
        v = column(a, i)
        t = factor(tau, i, adjoint)
        back = factor(tau, i, not adjoint)
        along = matmul(mH(v), states[j])
        g_along = matmul(mH(v), g)
        g_t = -shape.squeeze_dim(matmul(g_along, mH(along)), at.ndim - 1)
        factors[i] = complexes.conj(g_t) if adjoint else g_t
        g_v = -back * matmul(g, mH(along)) - t * matmul(states[j], mH(g_along))
        above = np.zeros(at.shape[:-2] + (i + 1, 1), at.dtype)
        columns[i] = join.cat([above, slices.take(g_v, (Ellipsis, slice(i + 1, None), slice(None)))], at.ndim - 2)
        g = g - back * matmul(v, g_along)
    g_a = join.cat(columns, at.ndim - 1) if columns else np.zeros_like(at)
    g_tau = join.cat(factors, at.ndim - 2) if factors else np.zeros_like(linalg.raw(tau))
    return [g_a, g_tau, g]


def unit(a: Array) -> Array:
    """The first columns of the identity, of a's shape."""
    return np.broadcast_to(np.eye(a.shape[-2], a.shape[-1], dtype=a.dtype), a.shape)


@final
class LinalgHouseholderProductBackward0(Nary):
    """The first columns of H1 ... Hk, as many as a has."""

    conjugates = False
    names: ClassVar[Any] = {"input": 0, "tau": 1}

    def forward(self, xs: list[Array]) -> Array:
        return reflected(xs[0], xs[1], unit(xs[0]), False)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        return pulled(g, xs[0], xs[1], unit(linalg.raw(xs[0])), False)[:2]


@final
class OrmqrBackward0(Nary):
    """Q c for Q = H1 ... Hk, or c Q unless `left`; the adjoint of Q if `transpose`."""

    conjugates = False
    names: ClassVar[Any] = {"self": 0, "input2": 1, "input3": 2}
    shows: ClassVar[Any] = {"left": "left", "transpose": "transpose"}

    def __init__(self, left: bool, transpose: bool) -> None:
        super().__init__()
        self.left = left
        self.transpose = transpose

    def forward(self, xs: list[Array]) -> Array:
        if self.left:
            return reflected(xs[0], xs[1], xs[2], self.transpose)
        return np.ascontiguousarray(mH(reflected(xs[0], xs[1], mH(xs[2]), not self.transpose)))

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        if self.left:
            return pulled(g, xs[0], xs[1], xs[2], self.transpose)
        out = pulled(mH(g), xs[0], xs[1], mH(xs[2]), not self.transpose)
        return [out[0], out[1], mH(out[2])]


@final
class GeqrfBackward0(Many):
    """LAPACK's QR: R on and above the diagonal, reflections below; and their factors."""

    def forward(self, x: Array) -> list[Array]:
        h, tau = np.linalg.qr(x, "raw")
        return [np.ascontiguousarray(h.swapaxes(-1, -2)), tau]

    def grad(self, gs: list[Value], x: Value, ys: list[Value]) -> Value:
        raise NotImplementedError("the derivative for 'geqrf' is not implemented.")
