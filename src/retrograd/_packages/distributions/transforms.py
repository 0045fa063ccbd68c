"""torch.distributions.transforms: invertible functions with log |det Jacobian|."""
from __future__ import annotations

import math
from typing import Any

from retrograd import _functions as f
from retrograd import linalg
from retrograd._tensor import dtypes
from retrograd._tensor.size import Size
from retrograd.nn import functional as F

from . import constraints
from ._transform import (
    FEW,
    ComposeTransform,
    IndependentTransform,
    Transform,
    _InverseTransform,
    identity_transform,
)
from .utils import NUMBER, broadcast_all, lazy_property, sum_rightmost, tril_matrix_to_vec, vec_to_tril_matrix

__all__ = [
    "AbsTransform", "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform",
    "CumulativeDistributionTransform", "ExpTransform", "IndependentTransform", "LowerCholeskyTransform",
    "PositiveDefiniteTransform", "PowerTransform", "ReshapeTransform", "SigmoidTransform", "SoftplusTransform", "TanhTransform",
    "SoftmaxTransform", "StackTransform", "StickBreakingTransform", "Transform", "identity_transform",
]
for moved in Transform, _InverseTransform, ComposeTransform, IndependentTransform:
    moved.__module__ = __name__                 # as PyTorch has them


class ReshapeTransform(Transform):
    """Reshapes an event from in_shape to out_shape."""

    bijective = True

    def __init__(self, in_shape: Any, out_shape: Any, cache_size: int = 0) -> None:
        self.in_shape, self.out_shape = Size(in_shape), Size(out_shape)
        if self.in_shape.numel() != self.out_shape.numel():
            raise ValueError("in_shape, out_shape have different numbers of elements")
        super().__init__(cache_size=cache_size)

    def _made(self) -> Any:
        return self.in_shape, self.out_shape

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.independent(constraints.real, len(self.in_shape))

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.independent(constraints.real, len(self.out_shape))

    def _call(self, x: Any) -> Any:
        return x.reshape(x.shape[:x.dim() - len(self.in_shape)] + self.out_shape)

    def _inverse(self, y: Any) -> Any:
        return y.reshape(y.shape[:y.dim() - len(self.out_shape)] + self.in_shape)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x.new_zeros(x.shape[:x.dim() - len(self.in_shape)])

    def forward_shape(self, shape: Any) -> Any:
        return self.swapped(shape, self.in_shape, self.out_shape)

    def inverse_shape(self, shape: Any) -> Any:
        return self.swapped(shape, self.out_shape, self.in_shape)

    def swapped(self, shape: Any, old: Any, new: Any) -> Any:
        cut = len(shape) - len(old)
        if cut < 0:
            raise ValueError(FEW)
        if shape[cut:] != old:
            raise ValueError(f"Shape mismatch: expected {shape[cut:]} but got {old}")
        return shape[:cut] + new


class Plain(Transform):
    """A transform of real numbers without parameters: equal to all others of its class."""

    domain: Any = constraints.real

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, type(self))


class ExpTransform(Plain):
    """y = exp(x)"""

    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.exp()

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return x


class PowerTransform(Transform):
    """y = x ** exponent"""

    domain = constraints.positive
    codomain = constraints.positive
    bijective = True

    def __init__(self, exponent: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.exponent, = broadcast_all(exponent)

    def _made(self) -> Any:
        return (self.exponent,)

    @lazy_property
    def sign(self) -> Any:
        return self.exponent.sign()

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, PowerTransform) and same(self.exponent, other.exponent)

    def _call(self, x: Any) -> Any:
        return x.pow(self.exponent)

    def _inverse(self, y: Any) -> Any:
        return y.pow(1 / self.exponent)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return (self.exponent * y / x).abs().log()

    def forward_shape(self, shape: Any) -> Any:
        return f.broadcast_shapes(shape, self.exponent.shape)

    def inverse_shape(self, shape: Any) -> Any:
        return f.broadcast_shapes(shape, self.exponent.shape)


def same(a: Any, b: Any) -> bool:
    equal = a == b
    return equal if isinstance(equal, bool) else equal.all().item()


def _clipped_sigmoid(x: Any) -> Any:
    info = dtypes.finfo(x.dtype)
    return f.clamp(f.sigmoid(x), min=info.tiny, max=1.0 - info.eps)


class SigmoidTransform(Plain):
    """y = 1 / (1 + exp(-x)), clamped away from 0 and 1"""

    codomain = constraints.unit_interval
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return _clipped_sigmoid(x)

    def _inverse(self, y: Any) -> Any:
        info = dtypes.finfo(y.dtype)
        y = y.clamp(min=info.tiny, max=1.0 - info.eps)
        return y.log() - (-y).log1p()

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x) - F.softplus(x)


class SoftplusTransform(Plain):
    """y = log(1 + exp(x)), and y = x for x > 20"""

    codomain = constraints.positive
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return F.softplus(x)

    def _inverse(self, y: Any) -> Any:
        return (-y).expm1().neg().log() + y

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return -F.softplus(-x)


class TanhTransform(Plain):
    """y = tanh(x); the inverse is inexact for y near 1 or -1, unless cache_size=1"""

    codomain = constraints.interval(-1.0, 1.0)
    bijective = True
    sign = +1

    def _call(self, x: Any) -> Any:
        return x.tanh()

    def _inverse(self, y: Any) -> Any:
        return f.atanh(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return 2.0 * (math.log(2.0) - x - F.softplus(-2.0 * x))


class AbsTransform(Plain):
    """y = |x|"""

    codomain = constraints.positive

    def _call(self, x: Any) -> Any:
        return x.abs()

    def _inverse(self, y: Any) -> Any:
        return y


class AffineTransform(Transform):
    """y = loc + scale * x; event_dim: how many dims are one event"""

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc = loc
        self.scale = scale
        self._event_dim = event_dim

    def _made(self) -> Any:
        return self.loc, self.scale, self.event_dim

    @property
    def event_dim(self) -> Any:
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    codomain = domain

    def __eq__(self, other: Any) -> Any:
        return isinstance(other, AffineTransform) and same(self.loc, other.loc) and same(self.scale, other.scale)

    @property
    def sign(self) -> Any:
        return (self.scale > 0) - (self.scale < 0) if isinstance(self.scale, NUMBER) else self.scale.sign()

    def _call(self, x: Any) -> Any:
        return self.loc + self.scale * x

    def _inverse(self, y: Any) -> Any:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        number = isinstance(self.scale, NUMBER)
        change = f.full_like(x, math.log(abs(self.scale))) if number else f.abs(self.scale).log()
        return sum_rightmost(change, self.event_dim).expand(x.shape[:x.dim() - self.event_dim])

    def forward_shape(self, shape: Any) -> Any:
        return f.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    inverse_shape = forward_shape


class CorrCholeskyTransform(Transform):
    """Vectors of D (D - 1) / 2 real numbers to Cholesky factors of D x D correlation matrices.

    Their tanh are canonical partial correlations.   Lewandowski, Kurowicka, Joe 2009
    """

    domain = constraints.real_vector
    codomain = constraints.corr_cholesky
    bijective = True

    def _call(self, x: Any) -> Any:
        eps = dtypes.finfo(x.dtype).eps
        r = vec_to_tril_matrix(f.tanh(x).clamp(min=-1 + eps, max=1 - eps), diag=-1)
        left = (1 - r**2).sqrt().cumprod(-1)    # of each row's length, after each column
        return (r + f.eye(r.shape[-1], dtype=r.dtype)) * F.pad(left[..., :-1], [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        left = F.pad((1 - f.cumsum(y * y, dim=-1))[..., :-1], [1, 0], value=1)
        t = tril_matrix_to_vec(y, diag=-1) / tril_matrix_to_vec(left, diag=-1).sqrt()
        return (t.log1p() - t.neg().log1p()) / 2

    def log_abs_det_jacobian(self, x: Any, y: Any, intermediates: Any = None) -> Any:
        """log |det dy/dx|, from x and y alone: intermediates is accepted without effect."""
        left = tril_matrix_to_vec(1 - (y * y).cumsum(dim=-1), diag=-2)
        return 0.5 * left.log().sum(-1) - 2 * (x + F.softplus(-2 * x) - math.log(2.0)).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        needs_dims(shape, 1)
        n = shape[-1]
        d = round((0.25 + 2 * n) ** 0.5 + 0.5)
        if d * (d - 1) // 2 != n:
            raise ValueError("Input is not a flattened lower-diagonal number")
        return shape[:-1] + (d, d)

    def inverse_shape(self, shape: Any) -> Any:
        needs_dims(shape, 2)
        if shape[-2] != shape[-1]:
            raise ValueError("Input is not square")
        d = shape[-1]
        return shape[:-2] + (d * (d - 1) // 2,)


def needs_dims(shape: Any, n: int) -> None:
    if len(shape) < n:
        raise ValueError(FEW)


class SoftmaxTransform(Plain):
    """y = softmax(x), x = log(y); not bijective"""

    domain = constraints.real_vector
    codomain = constraints.simplex

    def _call(self, x: Any) -> Any:
        e = (x - x.max(-1, True)[0]).exp()
        return e / e.sum(-1, True)

    def _inverse(self, y: Any) -> Any:
        return y.log()

    def forward_shape(self, shape: Any) -> Any:
        needs_dims(shape, 1)
        return shape

    inverse_shape = forward_shape


class StickBreakingTransform(Plain):
    """Vectors of K real numbers to points of the simplex with K + 1 coordinates.

    Each breaks off its share, sigmoid(x_i - log(K - i)), of what is left: x = 0 is the centre.
    """

    domain = constraints.real_vector
    codomain = constraints.simplex
    bijective = True

    def offsets(self, x: Any, k: int) -> Any:
        """log(k), log(k - 1), ..., 0, in the dtype of x"""
        return (k + 1 - x.new_ones(k).cumsum(-1)).log()

    def _call(self, x: Any) -> Any:
        z = _clipped_sigmoid(x - self.offsets(x, x.shape[-1]))
        return F.pad(z, [0, 1], value=1) * F.pad((1 - z).cumprod(-1), [1, 0], value=1)

    def _inverse(self, y: Any) -> Any:
        first = y[..., :-1]
        rest = f.clamp(1 - first.cumsum(-1), min=dtypes.finfo(y.dtype).tiny)
        return first.log() - rest.log() + self.offsets(y, first.shape[-1])

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        x = x - self.offsets(x, x.shape[-1])
        return (-x + F.logsigmoid(x) + y[..., :-1].log()).sum(-1)

    def forward_shape(self, shape: Any) -> Any:
        needs_dims(shape, 1)
        return shape[:-1] + (shape[-1] + 1,)

    def inverse_shape(self, shape: Any) -> Any:
        needs_dims(shape, 1)
        return shape[:-1] + (shape[-1] - 1,)


class LowerCholeskyTransform(Plain):
    """Square matrices to lower triangles, by exp of the diagonal"""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.lower_cholesky

    def _call(self, x: Any) -> Any:
        return x.tril(-1) + x.diagonal(dim1=-2, dim2=-1).exp().diag_embed()

    def _inverse(self, y: Any) -> Any:
        return y.tril(-1) + y.diagonal(dim1=-2, dim2=-1).log().diag_embed()


class PositiveDefiniteTransform(Plain):
    """Square matrices to positive definite ones L L', with L from LowerCholeskyTransform"""

    domain = constraints.independent(constraints.real, 2)
    codomain = constraints.positive_definite

    def _call(self, x: Any) -> Any:
        lower = LowerCholeskyTransform()(x)
        return lower @ lower.mT

    def _inverse(self, y: Any) -> Any:
        return LowerCholeskyTransform().inv(linalg.cholesky(y))


class Parts(Transform):
    """Several transforms along a dim."""

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertionError("All elements of tseq must be Transform instances")
        super().__init__(cache_size=cache_size)
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)
        self.dim = dim

    @property
    def bijective(self) -> Any:
        return all(t.bijective for t in self.transforms)

    def checked(self, x: Any, name: str, tensor: str, places: int, wanted: str) -> None:
        if not -x.dim() <= self.dim < x.dim():
            raise AssertionError(f"dim {self.dim} out of range for {tensor} with {x.dim()} dimensions")
        if x.size(self.dim) != places:
            raise AssertionError(f"{name}.size({self.dim}) = {x.size(self.dim)} must equal {wanted} {places}")


class CatTransform(Parts):
    """Transform i applied to the next lengths[i] positions along dim: torch.cat of the results."""

    def __init__(self, tseq: Any, dim: int = 0, lengths: Any = None, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertionError(f"lengths ({len(self.lengths)}) must match transforms ({len(self.transforms)})")

    def _made(self) -> Any:
        return self.transforms, self.dim, self.lengths

    @lazy_property
    def event_dim(self) -> Any:
        return max(t.event_dim for t in self.transforms)

    @lazy_property
    def length(self) -> Any:
        """Of the dim."""
        return sum(self.lengths)

    def parts(self, x: Any, name: str, tensor: str = "tensor") -> list[Any]:
        self.checked(x, name, tensor, self.length, "length")
        starts = [sum(self.lengths[:i]) for i in range(len(self.lengths))]
        return [x.narrow(self.dim, start, n) for start, n in zip(starts, self.lengths)]

    def _call(self, x: Any) -> Any:
        return f.cat([t(part) for t, part in zip(self.transforms, self.parts(x, "x"))], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        return f.cat([t.inv(part) for t, part in zip(self.transforms, self.parts(y, "y"))], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        xs, ys = self.parts(x, "x", "x"), self.parts(y, "y", "y")
        changes = [sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim)
                   for t, a, b in zip(self.transforms, xs, ys)]
        dim = (self.dim - x.dim() if self.dim >= 0 else self.dim) + self.event_dim
        return f.cat(changes, dim=dim) if dim < 0 else sum(changes)     # 0 or more: parts of one event

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(Parts):
    """Transform i applied to position i along dim: torch.stack of the results."""

    def __init__(self, tseq: Any, dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(tseq, dim, cache_size)

    def _made(self) -> Any:
        return self.transforms, self.dim

    def parts(self, x: Any, name: str, tensor: str = "tensor") -> Any:
        self.checked(x, name, tensor, len(self.transforms), "len(transforms)")
        return x.unbind(self.dim)

    def _call(self, x: Any) -> Any:
        return f.stack([t(part) for t, part in zip(self.transforms, self.parts(x, "x"))], dim=self.dim)

    def _inverse(self, y: Any) -> Any:
        return f.stack([t.inv(part) for t, part in zip(self.transforms, self.parts(y, "y"))], dim=self.dim)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        xs, ys = self.parts(x, "x", "x"), self.parts(y, "y", "y")
        return f.stack([t.log_abs_det_jacobian(a, b) for t, a, b in zip(self.transforms, xs, ys)], dim=self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        return constraints.stack([t.codomain for t in self.transforms], self.dim)


class CumulativeDistributionTransform(Transform):
    """y = distribution.cdf(x)"""

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Any, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    def _made(self) -> Any:
        return (self.distribution,)

    @property
    def domain(self) -> Any:
        return self.distribution.support

    def _call(self, x: Any) -> Any:
        return self.distribution.cdf(x)

    def _inverse(self, y: Any) -> Any:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Any, y: Any) -> Any:
        return self.distribution.log_prob(x)
