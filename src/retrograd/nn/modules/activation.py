"""Elementwise functions and softmax as modules.

inplace   True: the result overwrites the input
dim       along which softmax sums to 1, or GLU halves; None: softmax guesses, with a warning
"""
from __future__ import annotations

from typing import Any

from ..._engine.warn import warn
from ..._functions import empty
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .attention import MultiheadAttention

__all__ = [
    "CELU", "ELU", "GELU", "GLU", "Hardshrink", "Hardsigmoid", "Hardswish", "Hardtanh", "LeakyReLU", "LogSigmoid",
    "LogSoftmax", "Mish", "MultiheadAttention", "PReLU", "RReLU", "ReLU", "ReLU6", "SELU", "SiLU", "Sigmoid", "Softmax",
    "Softmax2d", "Softmin", "Softplus", "Softshrink", "Softsign", "Tanh", "Tanhshrink", "Threshold",
]


def also_inplace(module: Any) -> str:
    return ", inplace=True" if module.inplace else ""


class _Inplace(Module):
    """An activation whose only argument is `inplace`."""

    __constants__ = ["inplace"]
    inplace: bool

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Threshold(Module):
    """x where x > threshold, else value."""

    __constants__ = ["threshold", "value", "inplace"]

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold = threshold
        self.value = value
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.threshold(input, self.threshold, self.value, self.inplace)

    def extra_repr(self) -> str:
        return f"threshold={self.threshold}, value={self.value}{also_inplace(self)}"


class ReLU(_Inplace):
    """max(0, x)"""

    def forward(self, input: Any) -> Any:
        return F.relu(input, inplace=self.inplace)


class RReLU(Module):
    """x where x >= 0, else s x; s uniform in [lower, upper] in training, their mean otherwise."""

    __constants__ = ["lower", "upper", "inplace"]

    def __init__(self, lower: float = 1.0 / 8, upper: float = 1.0 / 3, inplace: bool = False) -> None:
        super().__init__()
        self.lower = lower
        self.upper = upper
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.rrelu(input, self.lower, self.upper, self.training, self.inplace)

    def extra_repr(self) -> str:
        return f"lower={self.lower}, upper={self.upper}{also_inplace(self)}"


class Hardtanh(Module):
    """x, clamped to [min_val, max_val]; min_value and max_value are their deprecated names."""

    __constants__ = ["min_val", "max_val", "inplace"]

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False,
                 min_value: float | None = None, max_value: float | None = None) -> None:
        super().__init__()
        for old, new, value in (("min_value", "min_val", min_value), ("max_value", "max_val", max_value)):
            if value is not None:
                warn(f"keyword argument `{old}` is deprecated and renamed to `{new}`", FutureWarning)
        self.min_val = min_val if min_value is None else min_value
        self.max_val = max_val if max_value is None else max_value
        self.inplace = inplace
        if self.max_val <= self.min_val:
            raise AssertionError(f"max_val ({self.max_val}) must be greater than min_val ({self.min_val})")

    def forward(self, input: Any) -> Any:
        return F.hardtanh(input, self.min_val, self.max_val, self.inplace)

    def extra_repr(self) -> str:
        return f"min_val={self.min_val}, max_val={self.max_val}{also_inplace(self)}"


class ReLU6(Hardtanh):
    """min(max(0, x), 6)"""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__(0.0, 6.0, inplace)

    def extra_repr(self) -> str:
        return "inplace=True" if self.inplace else ""


class Sigmoid(Module):
    """1 / (1 + exp(-x))"""

    def forward(self, input: Any) -> Any:
        return input.sigmoid()


class Hardsigmoid(_Inplace):
    """min(max(0, x/6 + 1/2), 1)"""

    def forward(self, input: Any) -> Any:
        return F.hardsigmoid(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class Tanh(Module):
    """tanh(x)"""

    def forward(self, input: Any) -> Any:
        return input.tanh()


class SiLU(_Inplace):
    """x sigmoid(x), also known as swish."""

    def forward(self, input: Any) -> Any:
        return F.silu(input, inplace=self.inplace)


class Mish(_Inplace):
    """x tanh(softplus(x))"""

    def forward(self, input: Any) -> Any:
        return F.mish(input, inplace=self.inplace)


class Hardswish(_Inplace):
    """x hardsigmoid(x)"""

    def forward(self, input: Any) -> Any:
        return F.hardswish(input, self.inplace)

    def extra_repr(self) -> str:
        return ""


class _Alpha(Module):
    __constants__ = ["alpha", "inplace"]

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha = alpha
        self.inplace = inplace

    def extra_repr(self) -> str:
        return f"alpha={self.alpha}{also_inplace(self)}"


class ELU(_Alpha):
    """x where x > 0, else alpha (exp(x) - 1)."""

    def forward(self, input: Any) -> Any:
        return F.elu(input, self.alpha, self.inplace)


class CELU(_Alpha):
    """x where x > 0, else alpha (exp(x/alpha) - 1)."""

    def forward(self, input: Any) -> Any:
        return F.celu(input, self.alpha, self.inplace)


class SELU(_Inplace):
    """ELU scaled so that activations keep mean 0 and variance 1.  Klambauer et al. 2017."""

    def forward(self, input: Any) -> Any:
        return F.selu(input, self.inplace)


class GLU(Module):
    """a sigmoid(b), where a and b are the halves of the input along dim."""

    __constants__ = ["dim"]

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def forward(self, input: Any) -> Any:
        return F.glu(input, self.dim)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class GELU(Module):
    """x Phi(x), Phi the normal CDF; approximate='tanh' uses the common approximation."""

    __constants__ = ["approximate"]

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def forward(self, input: Any) -> Any:
        return F.gelu(input, approximate=self.approximate)

    def extra_repr(self) -> str:
        return f"approximate={self.approximate!r}"


class Hardshrink(Module):
    """x where |x| > lambd, else 0."""

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        return F.hardshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return f"{self.lambd}"


class LeakyReLU(Module):
    """x where x >= 0, else negative_slope x."""

    __constants__ = ["inplace", "negative_slope"]

    def __init__(self, negative_slope: float = 1e-2, inplace: bool = False) -> None:
        super().__init__()
        self.negative_slope = negative_slope
        self.inplace = inplace

    def forward(self, input: Any) -> Any:
        return F.leaky_relu(input, self.negative_slope, self.inplace)

    def extra_repr(self) -> str:
        return f"negative_slope={self.negative_slope}{also_inplace(self)}"


class LogSigmoid(Module):
    """log sigmoid(x)"""

    def forward(self, input: Any) -> Any:
        return F.logsigmoid(input)


class Softplus(Module):
    """log(1 + exp(beta x)) / beta; x itself where beta x > threshold."""

    __constants__ = ["beta", "threshold"]

    def __init__(self, beta: float = 1.0, threshold: float = 20.0) -> None:
        super().__init__()
        self.beta = beta
        self.threshold = threshold

    def forward(self, input: Any) -> Any:
        return F.softplus(input, self.beta, self.threshold)

    def extra_repr(self) -> str:
        return f"beta={self.beta}, threshold={self.threshold}"


class Softshrink(Module):
    """x moved towards 0 by lambd; 0 where |x| <= lambd."""

    __constants__ = ["lambd"]

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def forward(self, input: Any) -> Any:
        return F.softshrink(input, self.lambd)

    def extra_repr(self) -> str:
        return str(self.lambd)


class PReLU(Module):
    """x where x >= 0, else w x; w is learned: one for all channels, or one per channel (dimension 1).

    num_parameters 1, or the number of channels; init: the value that w starts with.
    """

    __constants__ = ["num_parameters"]
    weight: Parameter

    def __init__(self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None) -> None:
        super().__init__()
        self.num_parameters = num_parameters
        self.init = init
        self.weight = Parameter(empty(num_parameters, device=device, dtype=dtype))
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the slopes back to their initial value."""
        init.constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        return F.prelu(input, self.weight)

    def extra_repr(self) -> str:
        return f"num_parameters={self.num_parameters}"


class Softsign(Module):
    """x / (1 + |x|)"""

    def forward(self, input: Any) -> Any:
        return F.softsign(input)


class Tanhshrink(Module):
    """x - tanh(x)"""

    def forward(self, input: Any) -> Any:
        return F.tanhshrink(input)


class _AlongDim(Module):
    __constants__ = ["dim"]
    dim: int | None

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, state: Any) -> None:
        super().__setstate__(state)
        self.__dict__.setdefault("dim", None)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_AlongDim):
    """softmax(-x) along dim."""

    def forward(self, input: Any) -> Any:
        return F.softmin(input, self.dim, _stacklevel=5)


class Softmax(_AlongDim):
    """exp(x) / sum(exp(x)) along dim."""

    def forward(self, input: Any) -> Any:
        return F.softmax(input, self.dim, _stacklevel=5)


class Softmax2d(Module):
    """Softmax over the channels of (N, C, H, W) or (C, H, W)."""

    def forward(self, input: Any) -> Any:
        if input.dim() not in (3, 4):
            raise ValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)


class LogSoftmax(_AlongDim):
    """log softmax(x) along dim."""

    def forward(self, input: Any) -> Any:
        return F.log_softmax(input, self.dim, _stacklevel=5)
