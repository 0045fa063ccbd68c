"""Functions of torch.nn.functional that are C in PyTorch, under the names that generated code has for them."""
from __future__ import annotations

from typing import Any

from retrograd._missing import late_names
from retrograd.nn import functional

NAMES = """adaptive_avg_pool2d adaptive_avg_pool3d adaptive_max_pool2d adaptive_max_pool3d avg_pool2d avg_pool3d
    binary_cross_entropy elu elu_ fractional_max_pool2d fractional_max_pool3d gelu glu hardsigmoid hardswish hardtanh hardtanh_
    huber_loss l1_loss leaky_relu leaky_relu_ linear mish mse_loss multi_margin_loss multilabel_margin_loss nll_loss one_hot pad
    relu6 scaled_dot_product_attention silu smooth_l1_loss soft_margin_loss softplus softshrink""".split()


def _of(name: str) -> Any:
    return lambda: getattr(functional, name)


late_names(__name__, also={**{name: _of(name) for name in NAMES}, "log_sigmoid": _of("logsigmoid")})
