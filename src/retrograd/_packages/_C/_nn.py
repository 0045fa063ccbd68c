"""Functions of torch.nn.functional that are C in PyTorch, under the names that generated code has for them."""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names
from retrograd._tensor import Tensor, dtypes
from retrograd.nn import functional

NAMES = """adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d
    binary_cross_entropy elu elu_ fractional_max_pool2d fractional_max_pool3d gelu glu hardsigmoid hardswish hardtanh hardtanh_
    huber_loss l1_loss leaky_relu leaky_relu_ linear mish mse_loss multi_margin_loss multilabel_margin_loss nll_loss one_hot pad
    relu6 scaled_dot_product_attention silu smooth_l1_loss soft_margin_loss softplus softshrink""".split()


def _of(name: str) -> Any:
    return lambda: getattr(functional, name)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """(device, dtype, non_blocking, memory_format), which the arguments of Module.to say."""
    first, *rest = args or (kwargs.get("tensor"),)
    dtype, place = kwargs.get("dtype"), kwargs.get("device")
    if isinstance(first, Tensor):
        place, dtype = first.device, first.dtype
    elif isinstance(first, dtypes.dtype):
        dtype = first
    elif first is not None:
        place = first
        dtype = rest.pop(0) if rest else dtype
    if len(rest) > 1 or "copy" in kwargs:
        raise RuntimeError(".to() does not accept copy argument")
    return (None if place is None else dtypes.device(place), dtype, bool(rest[0] if rest else kwargs.get("non_blocking", False)),
            kwargs.get("memory_format"))


late_names(__name__, also={**{name: _of(name) for name in NAMES}, "log_sigmoid": _of("logsigmoid")})
