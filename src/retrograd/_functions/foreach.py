"""torch._foreach_add, _foreach_mul_, ...: an operation on each tensor of a list, as optimizers and clipping call it.

A function returns a tuple; one that ends in _ changes its tensors and returns the list.  What is recorded is a node for each
tensor, that of the operation itself.
"""
from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

from .._engine.modes import grad_on
from .._engine.tensor import TensorBase, wants_grad
from .._tensor import Tensor
from . import linalg
from .pointwise import not_implemented

UNARY = ("abs acos asin atan ceil cos cosh erf erfc exp expm1 floor frac lgamma log log10 log1p log2 neg reciprocal round rsqrt "
         "sigmoid sign sin sinh sqrt tan tanh trunc").split()
Body = Callable[..., Any]


def check_lists(tensors: Any, *others: Any) -> None:
    """RuntimeError when there is no tensor, or a list of another length; what is no list belongs to all."""
    for other in others:
        if isinstance(other, (list, tuple)) and len(other) != len(tensors):
            if other and isinstance(other[0], TensorBase):
                raise RuntimeError(f"Tensor lists must have the same number of tensors, got {len(tensors)} and {len(other)}")
            if tensors:
                raise RuntimeError("Tensor list must have same number of elements as scalar list.")
    if not tensors:
        raise RuntimeError("Tensor list must have at least one tensor.")


def each(f: Body, self: Any, *others: Any, **options: Any) -> list[Any]:
    """f of each tensor and its part of every other: of a list, an element, else the same for all."""
    check_lists(self, *others)
    return [f(*row, **options) for row in zip(self, *(y if isinstance(y, (list, tuple)) else [y] * len(self) for y in others))]


def binary(f: Body, self: Any, *args: Any, alpha: Any = None, **named: Any) -> list[Any]:
    (other,) = args or named.values()
    if isinstance(other, TensorBase) and self and other.array.ndim:
        raise RuntimeError(
            f"scalar tensor expected to be 0 dim but it has {other.array.ndim} dimensions and {other.array.size} elements.")
    return each(f, self, other, **({} if alpha is None else {"alpha": alpha}))


def lerp(f: Body, self: Any, tensors1: Any, *args: Any, **named: Any) -> list[Any]:
    return each(f, self, tensors1, *args, *named.values())


def fused(f: Body, self: Any, tensor1: Any, tensor2: Any, *args: Any, **named: Any) -> list[Any]:
    """x + value * t1 * t2, or / t2; value: a number, one for each, or a Tensor of those."""
    (value,) = args or named.values() or (1,)
    check_lists(self, tensor1, tensor2, value)
    if isinstance(value, TensorBase):
        if value.array.ndim != 1:
            raise RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {value.array.ndim} instead.")
        if value.array.size != len(self):
            raise RuntimeError(
                f"Expected length of scalars to match input of length {len(self)} but got {value.array.size} instead.")
        if wants_grad(value) and grad_on():
            raise RuntimeError("derivative for the scalars of torch._foreach_addcmul and _foreach_addcdiv is not implemented")
        value = value.array.tolist()
    return each(lambda x, a, b, v: f(x, a, b, value=v), self, tensor1, tensor2, value)


def power(f: Body, self: Any, exponent: Any) -> list[Any]:
    if isinstance(self, (list, tuple)):
        return each(f, self, exponent)
    check_lists(exponent)
    return [y.__rpow__(self) for y in exponent]


def bounded(with_tensor: Body, with_number: Body, x: Any, y: Any) -> Any:
    """maximum or minimum, of a number as well."""
    return (with_tensor if isinstance(y, TensorBase) else with_number)(x, y)


def norm(self: Any, ord: Any = 2, dtype: Any = None) -> list[Any]:
    check_lists(self)
    if ord == math.inf and any(x.array.size == 0 for x in self):
        raise RuntimeError("_foreach_norm cannot compute the infinity norm on an empty tensor because the operation does not "
                           "have an identity")
    return [linalg.vector_norm(x, ord, dtype=dtype) for x in self]


def powsum(self: Any, ord: Any = 2, dtype: Any = None) -> list[Any]:
    """Sums of abs(x)**ord."""
    check_lists(self)
    floats = list(self) if dtype is None else [x.to(dtype) for x in self]
    for x in floats:
        if not x.is_floating_point():
            raise not_implemented("powsum_cpu", x.array.dtype)
    return [x.abs().pow(ord).sum() for x in floats]


def largest(self: Any) -> list[Any]:
    check_lists(self)
    if any(x.array.size == 0 for x in self):
        raise RuntimeError(
            "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is undefined.")
    return [x.max() for x in self]


def mm(self: Any, mat2: Any) -> list[Any]:
    if not self:
        raise RuntimeError("_foreach_mm requires non-empty tensor lists")
    if len(self) != len(mat2):
        raise RuntimeError("_foreach_mm: self and mat2 must have the same number of tensors")
    return [x.mm(y) for x, y in zip(self, mat2)]


def clone(self: Any, *, memory_format: Any = None) -> list[Any]:
    return each(Tensor.clone, self, **({} if memory_format is None else {"memory_format": memory_format}))


def copy_(self: Any, src: Any, non_blocking: bool = False) -> list[Any]:
    return each(Tensor.copy_, self, src, non_blocking)


def bodies() -> dict[str, Body]:
    """What each function does, by its name without the prefix."""
    T: Any = Tensor
    found: dict[str, Body] = {
        "norm": norm, "powsum": powsum, "max": largest, "mm": mm, "clone": clone, "copy_": copy_,
        "zero_": partial(each, T.zero_)}
    for end in ("", "_"):
        found |= {name + end: partial(each, getattr(T, name + end)) for name in UNARY}
        found |= {name + end: partial(binary, getattr(T, name + end)) for name in ("add", "sub", "mul", "div")}
        found |= {name + end: partial(fused, getattr(T, name + end)) for name in ("addcmul", "addcdiv")}
        found |= {"lerp" + end: partial(lerp, getattr(T, "lerp" + end)), "pow" + end: partial(power, getattr(T, "pow" + end))}
        for name, other in (("clamp_min", "maximum"), ("clamp_max", "minimum")):
            clamp = getattr(T, name + end)
            found[name + end] = partial(binary, clamp)
            found[other + end] = partial(binary, clamp if end else partial(bounded, getattr(T, other), clamp))
    return found


def _function(name: str, body: Body) -> Body:
    def each(self: Any, *args: Any, **kwargs: Any) -> Any:
        results = body(self, *args, **kwargs)
        return self if name.endswith("_") else tuple(results)
    each.__name__ = each.__qualname__ = f"_foreach_{name}"
    each.__doc__ = f"{name} of each tensor of a list."
    return each


FOREACH = {f"_foreach_{name}": _function(name, body) for name, body in bodies().items()}
globals().update(FOREACH)
