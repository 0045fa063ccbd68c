"""torch.distributions.MultivariateNormal"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd.linalg import cholesky

from . import constraints
from ._gaussian import log_diagonal, lower_of_precision, mahalanobis, times
from ._located import Located
from .distribution import Distribution
from .utils import EMPTY, lazy_property, standard_normal

__all__ = ["MultivariateNormal"]


# PyTorch's names, which libraries import
_precision_to_scale_tril, _batch_mv, _batch_mahalanobis = lower_of_precision, times, mahalanobis


class MultivariateNormal(Located, Distribution):
    """Multivariate normal distribution: density exp(-(x - loc)' C^-1 (x - loc) / 2) / sqrt(det(2 pi C)), C the covariance.

    Density exp(-(x - loc)' P (x - loc) / 2) sqrt(det(P) / (2 pi)^n), P = precision_matrix.

    Parameters: loc (..., n), the mean; exactly one of covariance_matrix, precision_matrix (its inverse), both positive
    definite, and scale_tril (its Cholesky factor, the cheapest), each (..., n, n).
    Support: real vectors (..., n).  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    arg_constraints = {
        "loc": constraints.real_vector, "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite, "scale_tril": constraints.lower_cholesky}
    support = constraints.real_vector
    has_rsample = True
    _params = {"loc": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2}
    _kept = ("_unbroadcasted_scale_tril",)

    def __init__(self, loc: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
                 validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        ways = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = [(name, matrix) for name, matrix in ways.items() if matrix is not None]
        if len(given) != 1:
            raise ValueError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given
        if matrix.dim() < 2:
            at_least = "scale_tril matrix" if name == "scale_tril" else name
            raise ValueError(f"{at_least} must be at least two-dimensional, with optional leading batch dimensions")
        batch = f.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        self.loc = loc.expand((*batch, -1))
        super().__init__(batch, self.loc.shape[-1:], validate_args=validate_args)
        makes: dict[str, Any] = {"covariance_matrix": cholesky, "precision_matrix": lower_of_precision,
                                 "scale_tril": lambda lower: lower}
        self._unbroadcasted_scale_tril = makes[name](matrix)

    def _wide(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular Cholesky factor of the covariance."""
        return self._wide(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """(..., n, n)"""
        return self._wide(f.matmul(self._unbroadcasted_scale_tril, self._unbroadcasted_scale_tril.mT))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        return self._wide(f.cholesky_inverse(self._unbroadcasted_scale_tril))

    @property
    def variance(self) -> Any:
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        eps = standard_normal(self._extended_shape(sample_shape), self.loc)
        return self.loc + times(self._unbroadcasted_scale_tril, eps)

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        lower = self._unbroadcasted_scale_tril
        square = mahalanobis(lower, value - self.loc)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + square) - log_diagonal(lower)

    def entropy(self) -> Any:
        constant = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (constant + log_diagonal(self._unbroadcasted_scale_tril)).expand(self._batch_shape)
