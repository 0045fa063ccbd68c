"""Batch normalization per channel: by the batch's statistics in training, by running statistics otherwise.

num_features          C, the number of channels
eps                   added to the variance
momentum              weight of the newest batch in the running statistics; None: all batches weigh the same
affine                False: no weight and no bias to multiply by and add
track_running_stats   False: no running statistics; evaluation uses the batch's, too
process_group         ranks that share statistics; None: all
"""
from __future__ import annotations

from typing import Any

from ..._functions import empty, ones, tensor, zeros
from ..._tensor.dtypes import int64
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "SyncBatchNorm"]


class _NormBase(Module):
    """Parameters and running statistics of batch and instance norm.

    weight starts at 1, bias at 0, running_mean at 0, running_var at 1; version 2 of the state dict counts batches.
    """

    _version = 2
    __constants__ = ["track_running_stats", "momentum", "eps", "num_features", "affine"]
    num_features: int
    weight: Parameter
    bias: Parameter
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(empty(num_features, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        track = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, device=device, dtype=dtype) if track else None)
        self.register_buffer("running_var", ones(num_features, device=device, dtype=dtype) if track else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if track else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Reset the running statistics."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Reset everything to its initial value."""
        self.reset_running_stats()
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def _check_input_dim(self, input: Any) -> None:
        raise NotImplementedError

    def extra_repr(self) -> str:
        return (f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
                f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}")

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:
        version = local_metadata.get("version", None)
        if (version is None or version < 2) and self.track_running_stats:
            key = prefix + "num_batches_tracked"
            if key not in state_dict:
                count = self.num_batches_tracked
                state_dict[key] = tensor(0, dtype=int64) if count is None else count
        super()._load_from_state_dict(
            state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)


class _BatchNorm(_NormBase):
    def forward(self, input: Any) -> Any:
        self._check_input_dim(input)
        own, kept = self._parameters, self._buffers     # NOTE [Parameters as attributes] in module.py
        momentum = 0.0 if self.momentum is None else self.momentum
        training = self.training
        if training and self.track_running_stats:
            count = kept["num_batches_tracked"]
            if count is not None:
                count.add_(1)
                if self.momentum is None:               # a cumulative average
                    momentum = 1.0 / float(count)
        mean, var = kept["running_mean"], kept["running_var"]
        use_batch = training or (mean is None and var is None)
        if training and not self.track_running_stats:
            mean = var = None
        if "weight" in own and "bias" in own:
            weight, bias = own["weight"], own["bias"]
        else:
            weight, bias = self.weight, self.bias
        return F.batch_norm(input, mean, var, weight, bias, use_batch, momentum, self.eps)

    def _misfit(self, input: Any) -> str | None:
        if input.dim() > 1 and input.shape[1] == self.num_features and self._fits(input):
            return None
        return f"got an input of shape {tuple(input.shape)}, expected {self._expected()}"

    def _fits(self, input: Any) -> bool:
        try:
            self._check_input_dim(input)
        except ValueError:
            return False
        return True

    def _expected(self) -> str:
        return f"(N, {self.num_features}, ...)"


class BatchNorm1d(_BatchNorm):
    """(x - mean) / sqrt(var + eps) * weight + bias per channel of (N, C) or (N, C, L).  Ioffe & Szegedy 2015.

    In training the statistics are the batch's (var biased) and move the running ones by `momentum` (var unbiased; None:
    their cumulative average); otherwise the running ones are used.
    https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm1d.html
    """

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() not in (2, 3):
            raise ValueError(f"expected 2D or 3D input (got {input.dim()}D input)")

    def _expected(self) -> str:
        return f"(N, {self.num_features}) or (N, {self.num_features}, L)"


class BatchNorm2d(_BatchNorm):
    """BatchNorm1d for (N, C, H, W).

    https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm2d.html
    """

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() != 4:
            raise ValueError(f"expected 4D input (got {input.dim()}D input)")

    def _expected(self) -> str:
        return f"(N, {self.num_features}, H, W)"


class BatchNorm3d(_BatchNorm):
    """BatchNorm1d for (N, C, D, H, W).

    https://pytorch.org/docs/stable/generated/torch.nn.BatchNorm3d.html
    """

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() != 5:
            raise ValueError(f"expected 5D input (got {input.dim()}D input)")

    def _expected(self) -> str:
        return f"(N, {self.num_features}, D, H, W)"


class SyncBatchNorm(_BatchNorm):
    """Batch norm of (N, C, ...) that uses the statistics of all ranks' batches in training; gradients flow between ranks, too."""

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True,
        track_running_stats: bool = True, process_group: Any = None, device: Any = None, dtype: Any = None, *,
        bias: bool = True,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)
        self.process_group = process_group

    def _check_input_dim(self, input: Any) -> None:
        if input.dim() < 2:
            raise ValueError(f"expected at least 2D input (got {input.dim()}D input)")

    def forward(self, input: Any) -> Any:
        from ...distributed import get_world_size, is_initialized

        if not (self.training and is_initialized() and get_world_size(self.process_group) > 1):
            return super().forward(input)
        self._check_input_dim(input)
        from ...distributed.nn.functional import all_reduce

        dims = [d for d in range(input.dim()) if d != 1]
        shape = [1, self.num_features] + [1] * (input.dim() - 2)
        group = self.process_group
        count = all_reduce(tensor(input.numel() / input.shape[1], dtype=input.dtype), group=group)
        mean = all_reduce(input.sum(dims), group=group) / count
        centered = input - mean.view(shape)
        var = all_reduce((centered * centered).sum(dims), group=group) / count
        self._remember(mean.detach(), (var * (count / (count - 1))).detach())
        y = centered * (var + self.eps).rsqrt().view(shape)
        if self.weight is not None:
            y = y * self.weight.view(shape)
        return y if self.bias is None else y + self.bias.view(shape)

    @classmethod
    def convert_sync_batchnorm(cls, module: Any, process_group: Any = None) -> Any:
        """The module with each batch norm replaced by a SyncBatchNorm that has the same parameters and buffers."""
        made = module
        if isinstance(module, _BatchNorm):
            made = cls(module.num_features, module.eps, module.momentum, module.affine, module.track_running_stats, process_group)
            made.weight, made.bias = module.weight, module.bias
            for name in ("running_mean", "running_var", "num_batches_tracked"):
                setattr(made, name, getattr(module, name))
            made.training = module.training
        for name, child in module.named_children():
            made.add_module(name, cls.convert_sync_batchnorm(child, process_group))
        return made

    def _remember(self, mean: Any, var: Any) -> None:
        """Move the running statistics towards these."""
        if not self.track_running_stats or self.running_mean is None:
            return
        self.num_batches_tracked.add_(1)
        momentum = 1.0 / float(self.num_batches_tracked) if self.momentum is None else self.momentum
        self.running_mean.lerp_(mean, momentum)
        self.running_var.lerp_(var, momentum)
