"""Parametrizations ready to use (torch.nn.utils.parametrizations)."""
from __future__ import annotations

from typing import Any

from ..._functions import create, products
from ...autograd.grad_mode import no_grad
from .. import functional as F
from ..module import Module
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .parametrize import register_parametrization

__all__ = ["spectral_norm", "weight_norm"]


def _norm_except_dim(v: Any, dim: int) -> Any:
    """The norm of each slice of v along dim, in a shape that broadcasts; of all of v for dim -1."""
    if dim == -1:
        return v.norm(2)
    rest = [d for d in range(v.dim()) if d != dim % v.dim()]
    return (v * v).sum(rest, keepdim=True).sqrt() if rest else v.abs()


class _WeightNorm(Module):
    """g v / |v|; originals: g, then v."""

    def __init__(self, dim: int | None = 0) -> None:
        super().__init__()
        self.dim = -1 if dim is None else dim

    def forward(self, weight_g: Any, weight_v: Any) -> Any:
        return weight_v * (weight_g / _norm_except_dim(weight_v, self.dim))

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
                self._u.copy_(F.normalize(products.mv(weight_mat, self._v), dim=0, eps=self.eps))
                self._v.copy_(F.normalize(products.mv(weight_mat.t(), self._u), dim=0, eps=self.eps))

    def forward(self, weight: Any) -> Any:
        if weight.ndim == 1:
            return F.normalize(weight, dim=0, eps=self.eps)
        matrix = self._reshape_weight_to_matrix(weight)
        if self.training:
            self._power_method(matrix, self.n_power_iterations)
        u, v = self._u.clone(), self._v.clone()             # the graph keeps them; the next call moves the buffers
        return weight / products.vdot(u, products.mv(matrix, v))

    def right_inverse(self, value: Any) -> Any:
        """The weight itself."""
        return value


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None,
) -> Any:
    """Divide a weight, seen as a matrix with dimension `dim` as rows, by its greatest singular value; -> module.

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
