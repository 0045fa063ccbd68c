"""What multivariate normal distributions and their divergences are computed with.   L lower triangular, W W' + diag(D)"""
from __future__ import annotations

from typing import Any

from retrograd import _functions as f
from retrograd.linalg import cholesky, solve_triangular

__all__: list[str] = []


def times(matrix: Any, vector: Any) -> Any:
    """Matrices (..., M, N) times vectors (..., N)."""
    return f.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def mahalanobis(lower: Any, x: Any) -> Any:
    """x' (L L')^-1 x for L (*batch, n, n) and x (*more, *batch, n), which are broadcast -> (*more, *batch)."""
    batch, n = lower.shape[:-2], x.shape[-1]
    more = x.dim() - 1 - len(batch)
    if more >= 0 and x.shape[more:-1] == batch:              # each L is solved once, for all that share it
        columns = x.reshape((-1, *batch, n)).movedim(0, -1)
        return solve_triangular(lower, columns, upper=False).pow(2).sum(-2).movedim(-1, 0).reshape(x.shape[:-1])
    return solve_triangular(lower, x.unsqueeze(-1), upper=False).pow(2).sum((-2, -1))


def log_diagonal(lower: Any) -> Any:
    """The logarithm of L's determinant."""
    return lower.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def lower_of_precision(precision: Any) -> Any:
    """L with L L' = precision^-1: the inverse of precision's own triangle from below, P = U U', is L'."""
    upper = f.flip(cholesky(f.flip(precision, (-2, -1))), (-2, -1))
    return solve_triangular(f.transpose(upper, -2, -1), f.eye(precision.shape[-1], dtype=precision.dtype), upper=False)


def trace_square(matrix: Any) -> Any:
    """The trace of X X': the sum of squares."""
    return matrix.pow(2).sum((-2, -1))


def capacitance(W: Any, D: Any) -> Any:
    """The triangle of I + W' D^-1 W."""
    inner = f.matmul(W.mT / D.unsqueeze(-2), W)
    return cholesky(inner + f.eye(W.size(-1), dtype=W.dtype))


def lowrank_logdet(W: Any, D: Any, lower: Any) -> Any:
    """log det(W W' + diag(D)), by the matrix determinant lemma; lower: capacitance(W, D)."""
    return 2 * log_diagonal(lower) + D.log().sum(-1)


def lowrank_mahalanobis(W: Any, D: Any, x: Any, lower: Any) -> Any:
    """x' (W W' + diag(D))^-1 x, by Woodbury's identity."""
    return (x.pow(2) / D).sum(-1) - mahalanobis(lower, times(W.mT / D.unsqueeze(-2), x))
