"""Spectral normalization by a forward-pre hook: the old form of parametrizations.spectral_norm.

name                the parameter's: 'weight'
n_power_iterations  steps of power iteration in each call in training
eps                 added to norms, against division by zero
dim                 the dimension whose slices are normed apart, or the matrix's rows; None: as the docstring says
"""
from __future__ import annotations

from typing import Any

from ..._functions import dot, mv
from ...autograd.grad_mode import no_grad
from ...linalg import pinv
from .. import functional as F
from ..modules.conv import ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from ..parameter import Parameter

__all__ = ["SpectralNorm", "remove_spectral_norm", "spectral_norm"]


class SpectralNorm:
    """The forward-pre hook: before each call, name becomes name_orig over its greatest singular value."""

    _version = 1

    def __init__(self, name: str = "weight", n_power_iterations: int = 1, dim: int = 0, eps: float = 1e-12) -> None:
        if n_power_iterations <= 0:
            raise ValueError(
                f"Expected n_power_iterations to be positive, but got n_power_iterations={n_power_iterations}")
        self.name = name
        self.dim = dim
        self.n_power_iterations = n_power_iterations
        self.eps = eps

    def reshape_weight_to_matrix(self, weight: Any) -> Any:
        """Dimension `dim` as rows, the others as columns."""
        if self.dim != 0:
            weight = weight.permute(self.dim, *[d for d in range(weight.dim()) if d != self.dim])
        return weight.reshape(weight.size(0), -1)

    def compute_weight(self, module: Any, do_power_iteration: bool) -> Any:
        """The current weight; the iteration updates the buffers name_u and name_v."""
        weight = getattr(module, self.name + "_orig")
        u, v = getattr(module, self.name + "_u"), getattr(module, self.name + "_v")
        matrix = self.reshape_weight_to_matrix(weight)
        if do_power_iteration:
            with no_grad():
                for _ in range(self.n_power_iterations):
                    v.copy_(F.normalize(mv(matrix.t(), u), dim=0, eps=self.eps))
                    u.copy_(F.normalize(mv(matrix, v), dim=0, eps=self.eps))
                u, v = u.clone(), v.clone()     # the graph keeps them; the next call moves the buffers
        return weight / dot(u, mv(matrix, v))

    def __call__(self, module: Any, inputs: Any) -> None:
        setattr(module, self.name, self.compute_weight(module, do_power_iteration=module.training))


class _Version:
    """The state dict hook: says in the metadata that u and v are those of the stored weight."""

    def __init__(self, norm: SpectralNorm) -> None:
        self.norm = norm

    def __call__(self, module: Any, state_dict: Any, prefix: str, local_metadata: Any) -> None:
        known = local_metadata.setdefault("spectral_norm", {})
        known[self.norm.name + ".version"] = self.norm._version


class _Older:
    """The hook before loading: from files of before 0.4.1, which hold the divided weight in place of v, v is found."""

    def __init__(self, norm: SpectralNorm) -> None:
        self.norm = norm

    def __call__(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str], *rest: Any,
    ) -> None:
        key = prefix + self.norm.name
        if local_metadata.get("spectral_norm", {}).get(self.norm.name + ".version", 0) >= 1:
            return
        if key not in state_dict and all(key + ending in state_dict for ending in ("_orig", "_u", "_v")):
            return                              # of today, without its metadata
        missing = [k for k in (key + "_orig", key, key + "_u") if k not in state_dict]
        if missing:
            missing_keys += missing if strict else []
            return
        with no_grad():
            weight, u = state_dict[key + "_orig"], state_dict[key + "_u"]
            sigma = (weight / state_dict.pop(key)).mean()
            matrix = self.norm.reshape_weight_to_matrix(weight)
            v = mv(pinv(matrix), u)      # u is what the matrix makes of v, but for its length
            state_dict[key + "_v"] = v * (sigma / dot(u, mv(matrix, v)))


def spectral_norm(
    module: Any, name: str = "weight", n_power_iterations: int = 1, eps: float = 1e-12, dim: int | None = None,
) -> Any:
    """Divide a weight by its largest singular value, by power iteration in training; -> module.  Miyato et al. 2018.

    Parameter name_orig, buffers name_u and name_v.  parametrizations.spectral_norm is the newer form.
    """
    for hook in module._forward_pre_hooks.values():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            raise RuntimeError(f"Cannot register two spectral_norm hooks on the same parameter {name}")
    if dim is None:
        dim = 1 if isinstance(module, (ConvTranspose1d, ConvTranspose2d, ConvTranspose3d)) else 0
    norm = SpectralNorm(name, n_power_iterations, dim, eps)
    weight = module._parameters[name]
    if weight is None:
        raise ValueError(f"`SpectralNorm` cannot be applied as parameter `{name}` is None")
    rows, cols = norm.reshape_weight_to_matrix(weight.detach()).shape
    u, v = (F.normalize(weight.new_empty(n).normal_(0, 1), dim=0, eps=eps) for n in (rows, cols))
    delattr(module, name)
    module.register_parameter(name + "_orig", weight)
    setattr(module, name, weight.data)          # for code that looks at it before the first call
    module.register_buffer(name + "_u", u)
    module.register_buffer(name + "_v", v)
    module.register_forward_pre_hook(norm)
    module._register_state_dict_hook(_Version(norm))
    module._register_load_state_dict_pre_hook(_Older(norm))
    return module


def remove_spectral_norm(module: Any, name: str = "weight") -> Any:
    """Make the weight an ordinary parameter again; -> module."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, SpectralNorm) and hook.name == name:
            with no_grad():
                weight = hook.compute_weight(module, do_power_iteration=False)
            delattr(module, name)
            for ending in ("_u", "_v", "_orig"):
                delattr(module, name + ending)
            module.register_parameter(name, Parameter(weight.detach()))
            del module._forward_pre_hooks[key]
            break
    else:
        raise ValueError(f"spectral_norm of '{name}' not found in {module}")
    for hooks, kind in ((module._state_dict_hooks, _Version), (module._load_state_dict_pre_hooks, _Older)):
        for key, hook in hooks.items():
            hook = getattr(hook, "hook", hook)
            if isinstance(hook, kind) and hook.norm.name == name:
                del hooks[key]
                break
    return module
