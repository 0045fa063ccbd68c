"""Layers that multiply by a matrix."""
from __future__ import annotations

import math
from typing import Any

from ..._functions import empty
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter

__all__ = ["Bilinear", "Identity", "Linear"]


class Identity(Module):
    """Returns its input; takes any arguments."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def forward(self, input: Any) -> Any:
        return input


class Linear(Module):
    """y = x W^T + b on the last dimension: (..., in_features) -> (..., out_features).

    weight (out_features, in_features) and bias start uniform in +-1/sqrt(in_features).
    https://pytorch.org/docs/stable/generated/torch.nn.Linear.html
    """

    __constants__ = ["in_features", "out_features"]
    in_features: int
    out_features: int
    weight: Parameter
    bias: Parameter

    def __init__(self, in_features: int, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.in_features = in_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in_features), device=device, dtype=dtype))
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values again."""
        init.kaiming_uniform_(self.weight, a=math.sqrt(5))      # the bound is then 1/sqrt(fan_in)
        if self.bias is not None:
            fan_in, _ = init._calculate_fan_in_and_fan_out(self.weight)
            bound = 1 / math.sqrt(fan_in) if fan_in > 0 else 0
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input: Any) -> Any:
        own = self._parameters                  # NOTE [Parameters as attributes] in module.py
        try:
            return F.linear(input, own["weight"], own["bias"])
        except KeyError:
            return F.linear(input, self.weight, self.bias)

    def _misfit(self, input: Any) -> str | None:
        if input.shape[-1:] == (self.in_features,):
            return None
        return f"got an input of shape {tuple(input.shape)}, expected (..., {self.in_features})"

    def extra_repr(self) -> str:
        return f"in_features={self.in_features}, out_features={self.out_features}, bias={self.bias is not None}"


class NonDynamicallyQuantizableLinear(Linear):
    """Linear, under the name that PyTorch gives it inside MultiheadAttention."""


class Bilinear(Module):
    """y_k = input1 W_k input2 + b_k: (..., in1_features) and (..., in2_features) -> (..., out_features).

    weight (out_features, in1_features, in2_features) and bias start uniform in +-1/sqrt(in1_features).
    """

    __constants__ = ["in1_features", "in2_features", "out_features"]
    weight: Parameter
    bias: Parameter

    def __init__(self, in1_features: int, in2_features: int, out_features: int, bias: bool = True, device: Any = None,
                 dtype: Any = None) -> None:
        super().__init__()
        self.in1_features = in1_features
        self.in2_features = in2_features
        self.out_features = out_features
        self.weight = Parameter(empty((out_features, in1_features, in2_features), device=device, dtype=dtype))
        if not self.weight.size(1):
            raise ValueError(f"in1_features must be > 0, but got (in1_features={self.weight.size(1)})")
        if bias:
            self.bias = Parameter(empty(out_features, device=device, dtype=dtype))
        else:
            self.register_parameter("bias", None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw the starting values again."""
        bound = 1 / math.sqrt(self.weight.size(1))
        init.uniform_(self.weight, -bound, bound)
        if self.bias is not None:
            init.uniform_(self.bias, -bound, bound)

    def forward(self, input1: Any, input2: Any) -> Any:
        return F.bilinear(input1, input2, self.weight, self.bias)

    def _misfit(self, input1: Any, input2: Any) -> str | None:
        if input1.shape[-1] == self.in1_features and input2.shape[-1] == self.in2_features:
            return None
        return (f"got inputs of shapes {tuple(input1.shape)} and {tuple(input2.shape)}, expected "
                f"(..., {self.in1_features}) and (..., {self.in2_features})")

    def extra_repr(self) -> str:
        return (f"in1_features={self.in1_features}, in2_features={self.in2_features}, "
                f"out_features={self.out_features}, bias={self.bias is not None}")
