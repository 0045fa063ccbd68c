"""Instance normalization: per channel of each sample, over space.

num_features          C, the number of channels
eps                   added to the variance
momentum              weight of the newest batch in the running statistics
affine                True: multiply by a weight and add a bias per channel, both learned
track_running_stats   True: evaluation uses statistics averaged during training; False: always those of the sample
"""
from __future__ import annotations

from typing import Any

from ..._engine.warn import warn
from .. import functional as F
from .batchnorm import _NormBase

__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]


class _InstanceNorm(_NormBase):
    spatial: int

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:
        if local_metadata.get("version", None) is None and not self.track_running_stats:
            stale = [prefix + name for name in ("running_mean", "running_var") if prefix + name in state_dict]
            if stale:
                name = type(self).__name__
                keys = " and ".join(f'"{key}"' for key in stale)
                error_msgs.append(
                    f"Unexpected running stats buffer(s) {keys} for {name} with track_running_stats=False. If "
                    "state_dict is a checkpoint saved before 0.4.0, this may be expected because "
                    f"{name} does not track running stats by default since 0.4.0. Please remove these keys from "
                    "state_dict. If the running stats are actually needed, instead set track_running_stats=True in "
                    f"{name} to enable them. See the documentation of {name} for details.")
                for key in stale:
                    state_dict.pop(key)
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)

    def _check_input_dim(self, input: Any) -> None:
        n = self.spatial
        if input.dim() not in (n + 1, n + 2):
            raise ValueError(f"expected {n + 1}D or {n + 2}D input (got {input.dim()}D input)")

    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        at = input.dim() - self.spatial - 1
        if input.size(at) != self.num_features:
            if self.affine:
                raise ValueError(
                    f"expected input's size at dim={at} to match num_features ({self.num_features}), but got: "
                    f"{input.size(at)}.")
            warn(
                f"input's size at dim={at} does not match num_features. You can silence this warning by not passing in "
                "num_features, which is not used because affine=False")
        if at == 0:                             # no batch dimension
            return self._apply_instance_norm(input.unsqueeze(0)).squeeze(0)
        return self._apply_instance_norm(input)

    def _apply_instance_norm(self, input: Any) -> Any:
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, 0.0 if self.momentum is None else self.momentum, self.eps)


class InstanceNorm1d(_InstanceNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias per sample and channel of (N, C, L).  Ulyanov et al. 2016.

    https://pytorch.org/docs/stable/generated/torch.nn.InstanceNorm1d.html
    """

    spatial = 1


class InstanceNorm2d(_InstanceNorm):
    """InstanceNorm1d for (N, C, H, W)."""

    spatial = 2


class InstanceNorm3d(_InstanceNorm):
    """InstanceNorm1d for (N, C, D, H, W)."""

    spatial = 3
