"""Layers that take the size of their input from the first one they get."""
from __future__ import annotations

from itertools import chain
from sys import modules
from typing import Any

from ..._functions import empty, tensor
from ..._tensor.dtypes import int64, of
from ...autograd.grad_mode import no_grad
from ..parameter import UninitializedBuffer, UninitializedParameter, _Absent, is_lazy
from .batchnorm import BatchNorm1d, BatchNorm2d, BatchNorm3d, _BatchNorm, _NormBase
from .conv import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .instancenorm import InstanceNorm1d, InstanceNorm2d, InstanceNorm3d, _InstanceNorm
from .linear import Linear

__all__ = [
    "LazyBatchNorm1d", "LazyBatchNorm2d", "LazyBatchNorm3d", "LazyConv1d", "LazyConv2d", "LazyConv3d",
    "LazyConvTranspose1d", "LazyConvTranspose2d", "LazyConvTranspose3d", "LazyInstanceNorm1d", "LazyInstanceNorm2d",
    "LazyInstanceNorm3d", "LazyLinear",
]


class LazyModuleMixin:
    """A module whose parameters get their shapes at its first call, or when a state dict is loaded.

    A subclass names before its base class `cls_to_become`, which it is afterwards, and defines initialize_parameters,
    which is given the arguments of the call.
    https://pytorch.org/docs/stable/generated/torch.nn.modules.lazy.LazyModuleMixin.html
    """

    cls_to_become: Any = None

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the parameters the shapes that this input needs, and their starting values."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def has_uninitialized_params(self: Any) -> bool:
        """Whether a parameter or buffer of this module (not of its children) has no shape yet."""
        return any(is_lazy(t) for t in chain(self._parameters.values(), self._buffers.values()))

    def _lazy_load_hook(self: Any, state_dict: Any, prefix: str, *_: Any) -> None:
        for name, t in chain(self._parameters.items(), self._buffers.items()):
            found = state_dict.get(prefix + name)
            if found is not None and is_lazy(t) and not is_lazy(found):
                t.materialize(found.shape)

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {type(self).__name__} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _apply(self: Any, fn: Any, recurse: bool = True) -> Any:
        """Of a lazy tensor, fn decides no more than the dtype."""
        lazy = [(table, name, t) for table in (self._parameters, self._buffers) for name, t in table.items() if is_lazy(t)]
        for table, name, t in lazy:
            t.array = _Absent(fn(empty(0, dtype=of(t.array.dtype))).array.dtype)
            table[name] = None
        try:
            return super()._apply(fn, recurse)  # type: ignore[misc]
        finally:
            for table, name, t in lazy:
                table[name] = t


class LazyLinear(LazyModuleMixin, Linear):
    """A Linear to out_features whose in_features is the length of the last dimension of its first input."""

    cls_to_become = Linear

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def reset_parameters(self) -> None:
        """Draw the starting values again; does nothing before the shape is known."""
        if not self.has_uninitialized_params() and self.in_features != 0:
            super().reset_parameters()

    @no_grad()
    def initialize_parameters(self, input: Any) -> None:
        """in_features from the input's last dimension."""
        n = input.shape[-1]
        if self.has_uninitialized_params():
            self.in_features = n
            weight: Any = self.weight
            weight.materialize((self.out_features, n))
            bias: Any = self.bias
            if bias is not None:
                bias.materialize((self.out_features,))
            self.reset_parameters()
        if self.in_features == 0:
            if n != self.weight.shape[-1]:
                raise AssertionError(
                    f"The in_features inferred from input: {n} is not equal to in_features from self.weight: "
                    f"{self.weight.shape[-1]}")
            self.in_features = n


class _LazyConvBase(LazyModuleMixin):
    """What lazy convolutions share: where in_channels is found, and the shapes that follow from it."""

    def reset_parameters(self: Any) -> None:
        """Draw the starting values again; does nothing before the shape is known."""
        if not self.has_uninitialized_params() and self.in_channels != 0:
            super().reset_parameters()  # type: ignore[misc]

    def _expect(self: Any, out_channels: int, bias: bool, device: Any, dtype: Any) -> None:
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def initialize_parameters(self: Any, input: Any, *args: Any, **kwargs: Any) -> None:
        """in_channels from the input's channel dimension."""
        if not self.has_uninitialized_params():
            return
        n = self.spatial
        if input.dim() not in (n + 1, n + 2):
            raise RuntimeError(
                f"Expected {n + 1}D (unbatched) or {n + 2}D (batched) input to {type(self).__name__}, but got input of "
                f"size: {input.shape}")
        channels = input.shape[-n - 1]
        if channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        self.in_channels = channels
        first, second = (channels, self.out_channels) if self.transposed else (self.out_channels, channels)
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyConv(_LazyConvBase):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, dilation: Any = 1, groups: int = 1,
        bias: bool = True, padding_mode: str = "zeros", device: Any = None, dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, dilation, groups, False, padding_mode)
        self._expect(out_channels, bias, device, dtype)


class _LazyConvTranspose(_LazyConvBase):
    def __init__(
        self, out_channels: int, kernel_size: Any, stride: Any = 1, padding: Any = 0, output_padding: Any = 0,
        groups: int = 1, bias: bool = True, dilation: Any = 1, padding_mode: str = "zeros", device: Any = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(0, 0, kernel_size, stride, padding, output_padding, groups, False, dilation, padding_mode)
        self._expect(out_channels, bias, device, dtype)


class LazyConv1d(_LazyConv, Conv1d):
    """A Conv1d whose in_channels is that of its first input."""

    cls_to_become = Conv1d


class LazyConv2d(_LazyConv, Conv2d):
    """A Conv2d whose in_channels is that of its first input."""

    cls_to_become = Conv2d


class LazyConv3d(_LazyConv, Conv3d):
    """A Conv3d whose in_channels is that of its first input."""

    cls_to_become = Conv3d


class LazyConvTranspose1d(_LazyConvTranspose, ConvTranspose1d):
    """A ConvTranspose1d whose in_channels is that of its first input."""

    cls_to_become = ConvTranspose1d


class LazyConvTranspose2d(_LazyConvTranspose, ConvTranspose2d):
    """A ConvTranspose2d whose in_channels is that of its first input."""

    cls_to_become = ConvTranspose2d


class LazyConvTranspose3d(_LazyConvTranspose, ConvTranspose3d):
    """A ConvTranspose3d whose in_channels is that of its first input."""

    cls_to_become = ConvTranspose3d


class _LazyNormBase(LazyModuleMixin, _NormBase):
    def __init__(
        self, eps: float = 1e-5, momentum: float | None = 0.1, affine: bool = True, track_running_stats: bool = True,
        device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(device=device, dtype=dtype)
            if bias:
                self.bias = UninitializedParameter(device=device, dtype=dtype)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(device=device, dtype=dtype)
            self.running_var = UninitializedBuffer(device=device, dtype=dtype)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def reset_parameters(self) -> None:
        """Set everything to its starting value again; does nothing before the shape is known."""
        if not self.has_uninitialized_params() and self.num_features != 0:
            super().reset_parameters()

    def initialize_parameters(self, input: Any) -> None:
        """num_features from the input's dimension 1."""
        if not self.has_uninitialized_params():
            return
        self.num_features = input.shape[1]
        for t in chain(self._parameters.values(), self._buffers.values()):
            if is_lazy(t):
                t.materialize((self.num_features,))
        self.reset_parameters()


class LazyBatchNorm1d(_LazyNormBase, _BatchNorm):
    """A BatchNorm1d whose num_features is that of its first input."""

    cls_to_become = BatchNorm1d
    _check_input_dim = BatchNorm1d._check_input_dim


class LazyBatchNorm2d(_LazyNormBase, _BatchNorm):
    """A BatchNorm2d whose num_features is that of its first input."""

    cls_to_become = BatchNorm2d
    _check_input_dim = BatchNorm2d._check_input_dim


class LazyBatchNorm3d(_LazyNormBase, _BatchNorm):
    """A BatchNorm3d whose num_features is that of its first input."""

    cls_to_become = BatchNorm3d
    _check_input_dim = BatchNorm3d._check_input_dim


class LazyInstanceNorm1d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm1d whose num_features is that of its first input."""

    cls_to_become = InstanceNorm1d
    spatial = 1


class LazyInstanceNorm2d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm2d whose num_features is that of its first input."""

    cls_to_become = InstanceNorm2d
    spatial = 2


class LazyInstanceNorm3d(_LazyNormBase, _InstanceNorm):
    """An InstanceNorm3d whose num_features is that of its first input."""

    cls_to_become = InstanceNorm3d
    spatial = 3


for _lazy in (LazyLinear, LazyConv1d, LazyConv2d, LazyConv3d, LazyConvTranspose1d, LazyConvTranspose2d, LazyConvTranspose3d,
              LazyBatchNorm1d, LazyBatchNorm2d, LazyBatchNorm3d, LazyInstanceNorm1d, LazyInstanceNorm2d, LazyInstanceNorm3d):
    # PyTorch has them beside what they become, which says torch already where `retrograd run` imports this.
    _lazy.__module__ = f"{__package__}.{_lazy.cls_to_become.__module__.rpartition('.')[2]}"
    setattr(modules[_lazy.__module__], _lazy.__name__, _lazy)
