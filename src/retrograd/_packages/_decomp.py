"""torch._decomp: functions of torch as others of torch, simpler ones, which run_decompositions puts in their place.

The table has the functions that PyTorch's has, as far as they are a formula; those that are a loop or a transform stay.
"""
from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from typing import Any

from retrograd import _functions as f
from retrograd._missing import late_names
from retrograd._ops import ops
from retrograd.nn import functional as F

__all__ = ["core_aten_decompositions", "get_decompositions"]
late_names(__name__)
TABLE: dict[str, Callable[..., Any]] = {}


def core_aten_decompositions() -> dict[Any, Callable[..., Any]]:
    """{torch.ops.aten.silu.default: a function that computes it by simpler ones, ...}"""
    return {getattr(ops.aten, name).default: made for name, made in TABLE.items()}


def get_decompositions(aten_ops: Iterable[Any]) -> dict[Any, Callable[..., Any]]:
    """The rows of these operators, or of all overloads of packets; those that have none are left out."""
    names = {getattr(op, "_opname", None) or str(op).rpartition(".")[2] for op in aten_ops}
    return {op: made for op, made in core_aten_decompositions().items() if op._opname in names}


def row(made: Callable[..., Any]) -> Callable[..., Any]:
    """A row of the table, under the function's name."""
    TABLE[made.__name__] = made
    return made


def formula(name: str, of: Callable[..., Any]) -> None:
    """A row for an activation, which may be asked to edit its input."""
    def activation(input: Any, *args: Any, inplace: bool = False, **kwargs: Any) -> Any:
        if args and isinstance(args[-1], bool):
            *args, inplace = args  # type: ignore[assignment]
        found = of(input, *args, **kwargs)
        return input.copy_(found) if inplace else found
    TABLE[name] = activation


FORMULAS: dict[str, Callable[..., Any]] = {
    "silu": lambda x: x * f.sigmoid(x),
    "mish": lambda x: x * f.tanh(f.log1p(f.exp(x))),
    "hardsigmoid": lambda x: f.clamp(f.clamp(x + 3, min=0), max=6) / 6,
    "hardswish": lambda x: x * f.clamp(f.clamp(x + 3, min=0), max=6) / 6,
    "relu6": lambda x: F.hardtanh(x, 0.0, 6.0),
    "celu": lambda x, alpha=1.0: f.where(x > 0, x, alpha * f.expm1(x / alpha)),
    "selu": lambda x: 1.0507009873554805 * f.where(x > 0, x, 1.6732632423543772 * f.expm1(x)),
    "softplus": lambda x, beta=1, threshold=20: f.where(x * beta > threshold, x, f.log1p(f.exp(x * beta)) / beta),
    "log_sigmoid": lambda x: f.clamp(x, max=0) - f.log1p(f.exp(-f.abs(x))),
    "softsign": lambda x: x / (f.abs(x) + 1),
    "tanhshrink": lambda x: x - f.tanh(x),
    "hardshrink": lambda x, lambd=0.5: f.where(f.abs(x) <= lambd, f.zeros_like(x), x),
    "softshrink": lambda x, lambd=0.5: f.where(f.abs(x) > lambd, x - f.sign(x) * lambd, x * 0),
    "square": lambda x: f.pow(x, 2), "frac": lambda x: x - f.trunc(x),
    "deg2rad": lambda x: x * (math.pi / 180), "rad2deg": lambda x: x * (180 / math.pi)}
for _name, _of in FORMULAS.items():
    formula(_name, _of)


@row
def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """One product of matrices, with the sum."""
    turned = weight.permute(1, 0)
    rows = input if input.dim() == 2 else input.reshape(-1, input.shape[-1])
    found = f.mm(rows, turned) if bias is None else f.addmm(bias, rows, turned)
    return found if input.dim() == 2 else found.view(*input.shape[:-1], weight.shape[0])


@row
def glu(input: Any, dim: int = -1) -> Any:
    """The first half times the sigmoid of the second."""
    half = input.shape[dim] // 2
    return input.narrow(dim, 0, half) * f.sigmoid(input.narrow(dim, half, half))


@row
def t(input: Any) -> Any:
    """permute"""
    return input if input.dim() < 2 else input.permute(1, 0)


@row
def transpose(input: Any, dim0: int, dim1: int) -> Any:
    """permute"""
    order = list(range(input.dim()))
    order[dim0], order[dim1] = order[dim1], order[dim0]
    return input.permute(order)


@row
def stack(tensors: Any, dim: int = 0) -> Any:
    """unsqueeze and cat"""
    return f.cat([x.unsqueeze(dim) for x in tensors], dim)


@row
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """mul and add"""
    return input + (tensor1 * tensor2 if value == 1 else tensor1 * tensor2 * value)


@row
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """div and add"""
    return input + (tensor1 / tensor2 if value == 1 else tensor1 / tensor2 * value)


@row
def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """where"""
    return f.where(mask, value, input)


@row
def lerp(input: Any, end: Any, weight: Any) -> Any:
    """From the nearer end, as PyTorch computes it."""
    near = weight < 0.5 if isinstance(weight, (int, float)) else None
    if near is None:
        return f.where(f.abs(weight) < 0.5, input + weight * (end - input), end - (end - input) * (1 - weight))
    return input + weight * (end - input) if near else end - (end - input) * (1 - weight)


def _reduced(found: Any, reduction: str) -> Any:
    return found if reduction == "none" else f.mean(found) if reduction == "mean" else f.sum(found)


def loss(name: str, of: Callable[..., Any]) -> None:
    """A row for a loss of differences."""
    plain = getattr(F, name)

    def computed(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
                 *args: Any, weight: Any = None, **kwargs: Any) -> Any:
        if size_average is not None or reduce is not None or weight is not None:
            return plain(input, target, size_average, reduce, reduction, *args, weight=weight, **kwargs)
        return _reduced(of(input - target, *args, **kwargs), reduction)
    TABLE[name] = computed


loss("mse_loss", lambda d: f.pow(d, 2))
loss("l1_loss", lambda d: f.abs(d))
