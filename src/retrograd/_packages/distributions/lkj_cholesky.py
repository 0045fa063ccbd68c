"""torch.distributions.LKJCholesky.   Lewandowski, Kurowicka, Joe 2009"""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd._tensor import dtypes
from retrograd._tensor.size import Size

from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import EMPTY, broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    """LKJ distribution of correlation matrices C, as Cholesky factors: density of C proportional to det(C) ** (concentration
    - 1).

    Parameters: dim >= 2, the size of the matrices; concentration > 0 (1: uniform over correlation matrices).
    Support: lower triangles (..., dim, dim) with positive diagonal and rows of norm 1.  ValueError for other parameters
    and, in log_prob, other values (unless validate_args=False).

    Draws are made row by row as points of spheres; the parts off the diagonal have beta-distributed lengths ("onion").
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    _params = {"concentration": 0, "_beta": 1}
    _kept = ("dim",)

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        self.concentration, = broadcast_all(concentration)
        rows = f.arange(dim - 1, dtype=self.concentration.dtype)
        rows = f.cat([rows.new_zeros((1,)), rows])
        top = (self.concentration + 0.5 * (dim - 2)).unsqueeze(-1)
        self._beta = Beta(rows + 0.5, top - 0.5 * rows)
        super().__init__(self.concentration.size(), Size((dim, dim)), validate_args)

    def sample(self, sample_shape: Any = EMPTY) -> Any:
        squares = self._beta.sample(sample_shape).unsqueeze(-1)
        points = f.randn(self._extended_shape(sample_shape), dtype=squares.dtype).tril(-1)
        points = points / points.norm(dim=-1, keepdim=True)
        points[..., 0, :].fill_(0.0)
        w = f.sqrt(squares) * points
        rest = f.clamp(1 - f.sum(w**2, dim=-1), min=dtypes.finfo(w.dtype).tiny)
        return w + f.diag_embed(rest.sqrt())

    def log_prob(self, value: Any) -> Any:
        """sum over rows i from 2 of (2 (concentration - 1) + dim - i) log value_ii, and the normalizer of their page 1999"""
        if self._validate_args:
            self._validate_sample(value)
        powers = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - f.arange(2, self.dim + 1)
        density = f.sum(powers * value.diagonal(dim1=-1, dim2=-2)[..., 1:].log(), dim=-1)
        n = self.dim - 1
        a = self.concentration + 0.5 * n
        return density - (0.5 * n * math.log(math.pi) + f.mvlgamma(a - 0.5, n) - f.lgamma(a) * n)
