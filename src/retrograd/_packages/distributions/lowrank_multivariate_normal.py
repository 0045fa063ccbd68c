"""torch.distributions.LowRankMultivariateNormal"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd.linalg import cholesky, solve_triangular

from . import constraints
from ._gaussian import capacitance, lowrank_logdet, lowrank_mahalanobis, times
from ._located import Located
from .distribution import Distribution
from .utils import EMPTY, lazy_property, standard_normal

__all__ = ["LowRankMultivariateNormal"]
# PyTorch's names, which libraries import
_batch_capacitance_tril, _batch_lowrank_logdet, _batch_lowrank_mahalanobis = capacitance, lowrank_logdet, lowrank_mahalanobis


class LowRankMultivariateNormal(Located, Distribution):
    """Multivariate normal distribution with covariance cov_factor cov_factor' + diag(cov_diag), kept as n + n m numbers.

    Parameters: loc (..., n); cov_factor (..., n, m); cov_diag (..., n) > 0.
    Support: real vectors (..., n).  ValueError for other parameters and, in log_prob, other values (unless
    validate_args=False).
    """

    arg_constraints = {
        "loc": constraints.real_vector, "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1)}
    support = constraints.real_vector
    has_rsample = True
    _params = {"loc": 1, "cov_diag": 1, "cov_factor": 2}
    _kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Any, cov_factor: Any, cov_diag: Any, validate_args: bool | None = None) -> None:
        if loc.dim() < 1:
            raise ValueError("loc must be at least one-dimensional.")
        event = loc.shape[-1:]
        if cov_factor.dim() < 2:
            raise ValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != event:
            raise ValueError(f"cov_factor must be a batch of matrices with shape {event[0]} x m")
        if cov_diag.shape[-1:] != event:
            raise ValueError(f"cov_diag must be a batch of vectors with shape {event}")
        try:
            wide_loc, self.cov_factor, wide_diag = f.broadcast_tensors(loc.unsqueeze(-1), cov_factor, cov_diag.unsqueeze(-1))
        except RuntimeError as error:
            raise ValueError(f"Incompatible batch shapes: loc {loc.shape}, cov_factor {cov_factor.shape}, "
                             f"cov_diag {cov_diag.shape}") from error
        self.loc, self.cov_diag = wide_loc[..., 0], wide_diag[..., 0]
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        self._capacitance_tril = capacitance(cov_factor, cov_diag)
        super().__init__(self.loc.shape[:-1], event, validate_args=validate_args)

    @property
    def _covariance(self) -> tuple[Any, Any]:
        return self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag

    def _wide(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape + self._event_shape)

    @lazy_property
    def variance(self) -> Any:
        W, D = self._covariance
        return (W.pow(2).sum(-1) + D).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The Cholesky factor of the covariance: diag(D)^1/2 times that of I + D^-1/2 W W' D^-1/2."""
        W, D = self._covariance
        root = D.sqrt().unsqueeze(-1)
        scaled = W / root
        inner = f.matmul(scaled, scaled.mT) + f.eye(self._event_shape[0], dtype=W.dtype)
        return self._wide(root * cholesky(inner))

    @lazy_property
    def covariance_matrix(self) -> Any:
        """(..., n, n)"""
        W, D = self._covariance
        return self._wide(f.matmul(W, W.mT) + f.diag_embed(D))

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance, by Woodbury's identity."""
        W, D = self._covariance
        half = solve_triangular(self._capacitance_tril, W.mT / D.unsqueeze(-2), upper=False)
        return self._wide(f.diag_embed(D.reciprocal()) - half.mT @ half)

    def rsample(self, sample_shape: Any = EMPTY) -> Any:
        shape = self._extended_shape(sample_shape)
        W, D = self._covariance
        common = standard_normal(shape[:-1] + self.cov_factor.shape[-1:], self.loc)
        own = standard_normal(shape, self.loc)
        return self.loc + times(W, common) + D.sqrt() * own

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        W, D = self._covariance
        square = lowrank_mahalanobis(W, D, value - self.loc, self._capacitance_tril)
        log_det = lowrank_logdet(W, D, self._capacitance_tril)
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + log_det + square)

    def entropy(self) -> Any:
        log_det = lowrank_logdet(*self._covariance, self._capacitance_tril)
        return (0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + log_det)).expand(self._batch_shape)
