"""torch.distributions.Wishart"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd._engine.warn import warn
from retrograd._tensor import dtypes
from retrograd._tensor.size import Size
from retrograd.linalg import cholesky, slogdet

from . import constraints
from ._gaussian import log_diagonal, lower_of_precision
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .utils import EMPTY, NUMBER, lazy_property

__all__ = ["Wishart"]
LOG_2 = math.log(2)
TRIES = 10                                      # draws anew of matrices that came out singular


class Wishart(ExponentialFamily):
    """Wishart distribution: the sum of x x' over df normal vectors x of mean 0; df may be fractional.

    Density proportional to det(X) ** ((df - n - 1) / 2) exp(-trace(precision_matrix X) / 2).

    Parameters: df > n - 1; exactly one of covariance_matrix (of x), precision_matrix (its inverse), both positive
    definite, and scale_tril (its Cholesky factor), each (..., n, n).
    Support: positive definite matrices (..., n, n).  ValueError for other parameters and, in log_prob, other values
    (unless validate_args=False).
    """

    support = constraints.positive_definite
    has_rsample = True
    _mean_carrier_measure = 0
    _params = {"df": 0, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2, "_unbroadcasted_scale_tril": 2}

    def __init__(self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
                 validate_args: bool | None = None) -> None:
        ways = {"covariance_matrix": covariance_matrix, "precision_matrix": precision_matrix, "scale_tril": scale_tril}
        given = [(name, matrix) for name, matrix in ways.items() if matrix is not None]
        if len(given) != 1:
            raise AssertionError("Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified.")
        (name, matrix), = given
        if matrix.dim() < 2:
            raise ValueError("scale_tril must be at least two-dimensional, with optional leading batch dimensions")
        if isinstance(df, NUMBER):
            batch = matrix.shape[:-2]
            self.df = f.tensor(df, dtype=matrix.dtype)
        else:
            batch = f.broadcast_shapes(matrix.shape[:-2], df.shape)
            self.df = df.expand(batch)
        event = matrix.shape[-2:]
        if (self.df <= event[-1] - 1).any():
            raise ValueError(f"Value of df={df} expected to be greater than ndim - 1 = {event[-1] - 1}.")
        setattr(self, name, matrix.expand((*batch, -1, -1)))
        if (self.df < event[-1]).any():
            warn("Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim.")
        super().__init__(batch, event, validate_args=validate_args)
        makes: dict[str, Any] = {"covariance_matrix": cholesky, "precision_matrix": lower_of_precision,
                                 "scale_tril": lambda lower: lower}
        self._unbroadcasted_scale_tril = makes[name](matrix)
        self._dist_chi2 = self._lengths()

    def _lengths(self) -> Any:
        """The distributions of the squared diagonal of a triangle of standard Wishart matrices (Bartlett 1933)."""
        rows = f.arange(self._event_shape[-1], dtype=self._unbroadcasted_scale_tril.dtype)
        return Chi2(df=self.df.unsqueeze(-1) - rows.expand((*self._batch_shape, -1)))

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._dist_chi2 = new._lengths()
        return new

    @property
    def arg_constraints(self) -> Any:
        return {"covariance_matrix": constraints.positive_definite, "precision_matrix": constraints.positive_definite,
                "scale_tril": constraints.lower_cholesky, "df": constraints.greater_than(self.event_shape[-1] - 1)}

    def _wide(self, matrix: Any) -> Any:
        return matrix.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Any:
        """The lower triangular Cholesky factor of the covariance."""
        return self._wide(self._unbroadcasted_scale_tril)

    @lazy_property
    def covariance_matrix(self) -> Any:
        """(..., n, n)"""
        return self._wide(self._unbroadcasted_scale_tril @ self._unbroadcasted_scale_tril.mT)

    @lazy_property
    def precision_matrix(self) -> Any:
        """The inverse of the covariance."""
        lower = self._unbroadcasted_scale_tril
        return self._wide(f.cholesky_solve(f.eye(self._event_shape[-1], dtype=lower.dtype), lower))

    @property
    def mean(self) -> Any:
        return self.df.view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def mode(self) -> Any:
        factor = self.df - self.covariance_matrix.shape[-1] - 1
        return factor.masked_fill(factor <= 0, math.nan).view((*self._batch_shape, 1, 1)) * self.covariance_matrix

    @property
    def variance(self) -> Any:
        v = self.covariance_matrix
        d = v.diagonal(dim1=-2, dim2=-1)
        return self.df.view((*self._batch_shape, 1, 1)) * (v.pow(2) + d.unsqueeze(-1) * d.unsqueeze(-2))

    def _bartlett_sampling(self, sample_shape: Any = EMPTY) -> Any:
        p = self._event_shape[-1]
        lengths = self._dist_chi2.rsample(sample_shape).sqrt()
        noise = lengths.clamp(min=dtypes.finfo(lengths.dtype).eps).diag_embed(dim1=-2, dim2=-1)
        i, j = f.tril_indices(p, p, offset=-1)
        below = (*sample_shape, *self._batch_shape, p * (p - 1) // 2)
        noise[..., i, j] = f.randn(below, dtype=noise.dtype)
        lower = self._unbroadcasted_scale_tril @ noise
        return lower @ lower.mT

    def _over_batch(self, found: Any) -> Any:
        return found.amax(list(range(-len(self._batch_shape), 0))) if self._batch_shape else found

    def rsample(self, sample_shape: Any = EMPTY, max_try_correction: int | None = None) -> Any:
        """Draws; those that are not positive definite are redrawn, up to max_try_correction times (default 10).

        As in PyTorch, the first draws that are positive definite are taken for singular ones: a warning says so, and they are
        drawn again.
        """
        sample_shape = Size(sample_shape)
        sample = self._bartlett_sampling(sample_shape)
        again = self._over_batch(self.support.check(sample))
        if again.any():
            warn("Singular sample detected.")
            for _ in range(TRIES if max_try_correction is None else max_try_correction):
                fresh = self._bartlett_sampling(again[again].shape)
                sample[again] = fresh
                again = again.masked_scatter(again, self._over_batch(~self.support.check(fresh)))
                if not again.any():
                    break
        return sample

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        nu, p, lower = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        scaled = f.cholesky_solve(value, lower).diagonal(dim1=-2, dim2=-1).sum(-1)
        return (-nu * (p * LOG_2 / 2 + log_diagonal(lower)) - f.mvlgamma(nu / 2, p=p)
                + (nu - p - 1) / 2 * slogdet(value).logabsdet - scaled / 2)

    def entropy(self) -> Any:
        nu, p = self.df, self._event_shape[-1]
        half = nu / 2
        if not (half > (p - 1) / 2).all():
            raise AssertionError("Wrong domain for multivariate digamma function.")
        digammas = f.digamma(half.unsqueeze(-1) - f.arange(p, dtype=nu.dtype) / 2).sum(-1)
        return ((p + 1) * (p * LOG_2 / 2 + log_diagonal(self._unbroadcasted_scale_tril)) + f.mvlgamma(half, p=p)
                - (nu - p - 1) / 2 * digammas + nu * p / 2)

    @property
    def _natural_params(self) -> Any:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Any, y: Any) -> Any:
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (-slogdet(-2 * x).logabsdet + LOG_2 * p) + f.mvlgamma(half, p=p)
