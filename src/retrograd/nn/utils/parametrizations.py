"""Parametrizations ready to use (torch.nn.utils.parametrizations).

name                the parameter's: 'weight'
n_power_iterations  steps of power iteration in each call in training
eps                 added to norms, against division by zero
"""
from __future__ import annotations

from typing import Any

from ..._engine.tensor import TensorBase
from ..._functions import cat, compare, create, mv, vdot
from ..._functions.arguments import dim_of, real_only
from ..._tensor.dtypes import finfo
from ...autograd.grad_mode import no_grad
from ...linalg import matrix_exp, solve
from .. import functional as F
from ..module import Module
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .parametrize import register_parametrization

__all__ = ["orthogonal", "spectral_norm", "weight_norm"]


MAPS = ("matrix_exp", "cayley", "householder")


def _is_orthogonal(q: Any) -> bool:
    """Are the columns orthonormal, up to rounding?"""
    n, k = q.shape[-2:]
    same = create.eye(k, dtype=q.dtype)
    return bool(compare.allclose(q.mH @ q, same, atol=10 * n * finfo(q.dtype).eps))


def _made_orthogonal(a: Any) -> Any:
    """The orthogonal factor of a QR decomposition whose triangle has a positive diagonal."""
    from ..._functions import reflections

    x, tau = reflections.geqrf(a)
    return reflections.householder_product(x, tau) * x.diagonal(dim1=-2, dim2=-1).sgn().unsqueeze(-2)


class _Orthogonal(Module):
    """Matrices (n, k) with orthonormal columns, rows where n < k, made of any: of the exponential or the Cayley transform of a
    skew-symmetric (skew-Hermitian) matrix, or of Householder reflections where it is real.  With `base` they are multiplied by
    what was assigned last, so that this can be assigned to every map.  Lezcano-Casado & Martinez-Rubio 2019; Lezcano-Casado 2019.
    """

    base: Any

    def __init__(self, weight: Any, orthogonal_map: str, use_trivialization: bool = True) -> None:
        super().__init__()
        if orthogonal_map == "householder" and weight.is_complex():
            raise ValueError("The householder parametrization does not support complex tensors.")
        self.shape = weight.shape
        self.orthogonal_map = orthogonal_map
        self.register_buffer("base", None)
        self.based = use_trivialization

    def forward(self, X: Any) -> Any:
        n, k = X.shape[-2:]
        wide = n < k
        if wide:
            X, n, k = X.mT, k, n
        if self.orthogonal_map == "householder":
            from ..._functions import reflections

            A = X.tril(-1)
            Q = reflections.householder_product(A, 2.0 / (1.0 + (A * A).sum(-2)))
            Q = Q * X.diagonal(dim1=-2, dim2=-1).int().unsqueeze(-2)
        else:
            A = X.tril()
            if n != k:
                A = cat([A, A.new_zeros((*A.shape[:-2], n, n - k))], -1)
            A = A - A.mH
            if self.orthogonal_map == "matrix_exp":
                Q = matrix_exp(A)
            else:
                same = create.eye(n, dtype=A.dtype)
                Q = solve(same - 0.5 * A, same + 0.5 * A)
            if n != k:
                Q = Q[..., :k]
        if self.base is not None:
            Q = self.base @ Q
        return Q.mT if wide else Q

    def right_inverse(self, Q: Any) -> Any:
        """What forward maps to Q, or to the first factor of its QR decomposition where its columns are not orthonormal.

        NotImplementedError for the exponential and the Cayley transform without a base.
        """
        if Q.shape != self.shape:
            raise ValueError(f"Expected a matrix or batch of matrices of shape {self.shape}. Got a tensor of shape {Q.shape}.")
        n, k = Q.shape[-2:]
        wide = n < k
        if wide:
            Q, n, k = Q.mT, k, n
        if self.based:
            if n == k:
                base = Q.clone() if _is_orthogonal(Q) else _made_orthogonal(Q)
            else:
                base = _made_orthogonal(cat([Q, create.randn((*Q.shape[:-2], n, n - k), dtype=Q.dtype)], -1))
            self.base = base
            out = create.zeros_like(Q)
            out.diagonal(dim1=-2, dim2=-1).fill_(-1.0)
        elif self.orthogonal_map != "householder":
            raise NotImplementedError(
                "It is not possible to assign to the matrix exponential or the Cayley parametrizations when "
                "use_trivialization=False.")
        else:
            out, tau = Q.geqrf()
            signs = out.diagonal(dim1=-2, dim2=-1)
            signs.sign_()
            signs[tau == 0.0] *= -1             # no reflection there: forward, whose diagonal is tau's of 2, makes one
        return out.mT if wide else out


def orthogonal(
    module: Any, name: str = "weight", orthogonal_map: str | None = None, *, use_trivialization: bool = True,
) -> Any:
    """Keep the columns of a matrix (or batch), the rows of a wide one, orthonormal; -> module.

    orthogonal_map      "matrix_exp" (of square and complex ones by default), "cayley" or "householder" (of others by default)
    use_trivialization  keep what was assigned as a buffer besides: any orthonormal matrix can be assigned, to every map
    https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.orthogonal.html
    """
    weight = getattr(module, name, None)
    if not isinstance(weight, TensorBase):
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    array: Any = weight
    if array.ndim < 2:
        raise ValueError(f"Expected a matrix or batch of matrices. Got a tensor of {array.ndim} dimensions.")
    if orthogonal_map is None:
        square = array.shape[-2] == array.shape[-1]
        orthogonal_map = "matrix_exp" if square or array.is_complex() else "householder"
    if not isinstance(orthogonal_map, str):
        raise TypeError(f"attribute name must be string, not '{type(orthogonal_map).__name__}'")
    if orthogonal_map not in MAPS:
        raise ValueError(f'orthogonal_map has to be one of "matrix_exp", "cayley", "householder". Got: {orthogonal_map}')
    register_parametrization(module, name, _Orthogonal(weight, orthogonal_map, use_trivialization), unsafe=True)
    return module


def _norm_except_dim(v: Any, dim: int) -> Any:
    """The norm of each slice of v along dim, in a shape that broadcasts; of all of v for dim -1."""
    if dim == -1:
        return v.norm(2)
    at = dim_of(dim, v.dim())
    rest = [d for d in range(v.dim()) if d != at]
    length = v.abs() if v.is_complex() else v
    return (length * length).sum(rest, keepdim=True).sqrt() if rest else v.abs()


def _normed(v: Any, g: Any, dim: int) -> Any:
    """g v / |v|, the norms taken as by _norm_except_dim."""
    if dim != -1 and dim_of(dim, v.dim()) in (0, v.dim() - 1):
        real_only(v, "weight_norm_kernel")
    return v * (g / _norm_except_dim(v, dim))


class _WeightNorm(Module):
    """g v / |v|; originals: g, then v."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return _normed(weight_v, weight_g, self.dim)

    def right_inverse(self, weight: Any) -> Any:
        """The norms, and the weight itself."""
        return _norm_except_dim(weight, self.dim), weight


def weight_norm(module: Any, name: str = "weight", dim: int | None = 0) -> Any:
    """Learn the length and the direction of a weight apart, per slice along dim (None: as a whole); -> module.

    Salimans & Kingma 2016.
    https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.weight_norm.html
    """

    def old_names(state_dict: Any, prefix: str, *rest: Any) -> None:
        for old, new in (("_g", "original0"), ("_v", "original1")):
            if f"{prefix}{name}{old}" in state_dict:
                state_dict[f"{prefix}parametrizations.{name}.{new}"] = state_dict.pop(f"{prefix}{name}{old}")

    register_parametrization(module, name, _WeightNorm(dim), unsafe=True)
    module._register_load_state_dict_pre_hook(old_names)
    return module


class _SpectralNorm(Module):
    """The weight over its greatest singular value, found by power iteration in training.  Miyato et al. 2018."""

    def __init__(self, weight: Any, n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        super().__init__()
        ndim = weight.ndim
        if dim >= ndim or dim < -ndim:
            raise IndexError(f"Dimension out of range (expected to be in range of [-{ndim}, {ndim - 1}] but got {dim})")
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.dim = dim if dim >= 0 else dim + ndim
        self.eps = eps
        if ndim > 1:
            self.n_power_iterations = n_power_iterations
            matrix = self._reshape_weight_to_matrix(weight)
            rows, cols = matrix.shape
            u = create.randn(rows, dtype=weight.dtype)
            v = create.randn(cols, dtype=weight.dtype)
            self.register_buffer("_u", F.normalize(u, dim=0, eps=self.eps))
            self.register_buffer("_v", F.normalize(v, dim=0, eps=self.eps))
            self._power_method(matrix, 15)

    def _reshape_weight_to_matrix(self, weight: Any) -> Any:
        if self.dim != 0:
            weight = weight.permute(self.dim, *(d for d in range(weight.dim()) if d != self.dim))
        return weight.flatten(1)

    def _power_method(self, weight_mat: Any, n_power_iterations: int) -> None:
        """Move u and v towards the singular vectors."""
        with no_grad():
            for _ in range(n_power_iterations):
                self._u.copy_(F.normalize(mv(weight_mat, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(mv(weight_mat.mH, self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()             # the graph keeps them; the next call moves the buffers
        return weight / vdot(u, mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """The weight itself."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None,
) -> Any:
    """Divide a weight, as a matrix whose rows are dimension `dim`, by its largest singular value; -> module.

    dim None: 1 for transposed convolutions, else 0.
    https://pytorch.org/docs/stable/generated/torch.nn.utils.parametrizations.spectral_norm.html
    """
    weight = getattr(module, name, None)
    if weight is None:
        raise ValueError(f"Module '{module}' has no parameter or buffer with name '{name}'")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    register_parametrization(module, name, _SpectralNorm(weight, n_power_iterations, dim, eps))
    return module
