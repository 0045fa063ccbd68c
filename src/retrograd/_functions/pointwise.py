"""Functions applied element by element: torch.exp, torch.clamp, torch.where, ... and the methods of the same names.

posinf, neginf   what replaces the infinities; None: the dtype's largest and lowest number
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.tensor import TensorBase, wrap
from .._engine.views import OVERLAP, check_cast, repeats
from .._engine.warn import warn_once
from .._rules import binary, choose, pointwise, rounding
from .._rules.cast import floating
from .._rules.index import check_number
from .._tensor import dtypes
from .arguments import DOUBLE, finish, read_first, real_number, tensor
from .rows import both

Function = Callable[..., Any]

# name: (op, what it computes, other names); integers become the default float
FLOATING: dict[str, tuple[Any, str, tuple[str, ...]]] = {
    "exp": (pointwise.ExpBackward0, "e ** input", ()),
    "exp2": (pointwise.Exp2Backward0, "2 ** input", ()),
    "expm1": (pointwise.Expm1Backward0, "e ** input - 1, exact near 0", ()),
    "log": (pointwise.LogBackward0, "Natural logarithm; -inf at 0, nan below", ()),
    "log2": (pointwise.Log2Backward0, "Logarithm to base 2", ()),
    "log10": (pointwise.Log10Backward0, "Logarithm to base 10", ()),
    "log1p": (pointwise.Log1PBackward0, "log(1 + input), exact near 0", ()),
    "sqrt": (pointwise.SqrtBackward0, "Square root; its derivative at 0 is inf", ()),
    "rsqrt": (pointwise.RsqrtBackward0, "1 / sqrt(input)", ()),
    "sin": (pointwise.SinBackward0, "Sine of radians", ()),
    "cos": (pointwise.CosBackward0, "Cosine of radians", ()),
    "tan": (pointwise.TanBackward0, "Tangent of radians", ()),
    "asin": (pointwise.AsinBackward0, "Inverse sine, in radians", ("arcsin",)),
    "acos": (pointwise.AcosBackward0, "Inverse cosine, in radians", ("arccos",)),
    "atan": (pointwise.AtanBackward0, "Inverse tangent, in radians", ("arctan",)),
    "sinh": (pointwise.SinhBackward0, "Hyperbolic sine", ()),
    "cosh": (pointwise.CoshBackward0, "Hyperbolic cosine", ()),
    "tanh": (pointwise.TanhBackward0, "Hyperbolic tangent", ()),
    "asinh": (pointwise.AsinhBackward0, "Inverse hyperbolic sine", ("arcsinh",)),
    "acosh": (pointwise.AcoshBackward0, "Inverse hyperbolic cosine", ("arccosh",)),
    "atanh": (pointwise.AtanhBackward0, "Inverse hyperbolic tangent", ("arctanh",)),
    "sigmoid": (pointwise.SigmoidBackward0, "1 / (1 + e ** -input)", ()),
    "erf": (pointwise.ErfBackward0, "The error function", ()),
    "erfc": (pointwise.ErfcBackward0, "1 - erf(input), exact for large input", ()),
    "erfinv": (pointwise.ErfinvBackward0, "The inverse of erf", ()),
    "lgamma": (pointwise.LgammaBackward0, "log of |gamma(input)|", ()),
    "digamma": (pointwise.DigammaBackward0, "The derivative of lgamma", ()),
    "sinc": (pointwise.SincBackward0, "sin(pi input) / (pi input), 1 at 0", ()),
    "deg2rad": (pointwise.Deg2RadBackward0, "Degrees to radians", ()),
    "rad2deg": (pointwise.Rad2DegBackward0, "Radians to degrees", ()),
}
# name: (op, what it computes, other names, the kernel PyTorch names for bools it refuses, ... for integers)
KEEPING: dict[str, tuple[Any, str, tuple[str, ...], str, str]] = {
    "abs": (pointwise.AbsBackward0, "Absolute value; its derivative at 0 is 0", ("absolute",), "abs_cpu", ""),
    "sign": (pointwise.SignBackward0, "-1, 0 or 1; 0 for nan", (), "", ""),
    "sgn": (rounding.SgnBackward0, "sign, for real numbers", (), "", ""),
    "floor": (rounding.FloorBackward0, "Round down", (), "floor_vml_cpu", ""),
    "ceil": (rounding.CeilBackward0, "Round up", (), "ceil_vml_cpu", ""),
    "trunc": (rounding.TruncBackward0, "Round towards 0", ("fix",), "trunc_vml_cpu", ""),
    "frac": (rounding.FracBackward0, "input - trunc(input)", (), "frac_cpu", "frac_cpu"),
}


def named(function: Function, name: str, doc: str) -> Function:
    """function under its name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    globals()[name] = function
    return function


def not_implemented(kernel: str, dtype: Any) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{names.SCALAR[dtype.name]}'")


def floats_only(x: TensorBase) -> None:
    """RuntimeError when a float result cannot be written into x."""
    if x.array.dtype.kind not in "fcV":
        if repeats(x.array):
            raise RuntimeError(OVERLAP)
        check_cast(promote.default.float_, x.array.dtype)


def floating_function(name: str, op: Any, doc: str) -> None:
    name_ = name + "_"

    def function(input: Any, *, out: Any = None) -> Any:
        x = input if isinstance(input, TensorBase) else tensor(input, name)
        y = pointwise.floats(op, x)
        return y if out is None else finish(y, out, name, x)

    def function_(input: Any) -> Any:
        floats_only(input)
        return op().run_(input)

    named(function, name, f"{doc}; integers give the default float.")
    named(function_, name_, f"In place: {name}.")


def keeping_function(name: str, op: Any, doc: str, bools: str, integers: str) -> None:
    name_ = name + "_"

    def check(x: TensorBase) -> TensorBase:
        kind = x.array.dtype.kind
        if (kind == "b" and bools) or (kind in "iu" and integers):
            raise not_implemented(bools if kind == "b" else integers, x.array.dtype)
        return x

    def function(input: Any, *, out: Any = None) -> Any:
        x = check(tensor(input, name))
        return finish(op().run(x), out, name, x)

    def function_(input: Any) -> Any:
        if name == "abs" and input.array.dtype.kind == "c":
            raise RuntimeError("In-place abs is not supported for complex tensors.")
        return op().run_(check(input))

    named(function, name, f"{doc}; in the dtype of input.")
    named(function_, name_, f"In place: {name}.")


for _name, (_op, _doc, _others) in FLOATING.items():
    floating_function(_name, _op, _doc)
    for _other in _others:
        globals()[_other], globals()[_other + "_"] = globals()[_name], globals()[_name + "_"]
for _name, (_op, _doc, _others, _bools, _integers) in KEEPING.items():
    keeping_function(_name, _op, _doc, _bools, _integers)
    for _other in _others:
        globals()[_other], globals()[_other + "_"] = globals()[_name], globals()[_name + "_"]


@both
def round(input: Any, *, decimals: int = 0, out: Any = None) -> Any:
    """To the nearest integer or number of decimals, halves to even; negative decimals round to tens, ..."""
    kind = input.array.dtype.kind
    if kind == "b" or decimals and kind in "iu":
        raise not_implemented("round_vml_cpu" if kind == "b" else "round_cpu", input.array.dtype)
    return rounding.RoundBackward1(decimals) if decimals else rounding.RoundBackward0(), input


def positive(input: Any) -> Any:
    """input itself; bools are refused."""
    if input.array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def angle(input: Any, *, out: Any = None) -> Any:
    """0, or pi for negative numbers: the angle in the complex plane; integers give the default float."""
    return rounding.AngleBackward0().run(floating(input))


def polygamma(n: int, input: Any, *, out: Any = None) -> Any:
    """The n-th derivative of digamma, n >= 0."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    return pointwise.polygamma(n, input)


@both
def nan_to_num(input: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None, *, out: Any = None) -> Any:
    """nan, inf and -inf replaced; by 0, the largest and the smallest finite number unless said otherwise."""
    if input.array.dtype.kind in "fcV":
        limits = dtypes.finfo(input.dtype)
        posinf = limits.max if posinf is None else posinf
        neginf = limits.min if neginf is None else neginf
    return rounding.NanToNumBackward0(0.0 if nan is None else nan, posinf, neginf), input


def logit(input: Any, eps: float | None = None, *, out: Any = None) -> Any:
    """log(input / (1 - input)), the inverse of sigmoid; input is first clamped to [eps, 1 - eps] if eps is given."""
    return pointwise.LogitBackward0(eps).run(floating(input))


def logit_(input: Any, eps: float | None = None) -> Any:
    """In place: logit."""
    floats_only(input)
    return pointwise.LogitBackward0(eps).run_(input)


# name: (op, what it computes, the kernel PyTorch names for integers it refuses)
PAIRS: dict[str, tuple[Any, str, str]] = {
    "atan2": (binary.Atan2Backward0, "The angle of the point (other, input), in radians", ""),
    "hypot": (binary.HypotBackward0, "sqrt(input ** 2 + other ** 2) without overflow", "hypot_cpu"),
    "logaddexp": (binary.LogaddexpBackward0, "log(exp(input) + exp(other)) without overflow", "logaddexp_cpu"),
    "logaddexp2": (binary.Logaddexp2Backward0, "log2(2 ** input + 2 ** other) without overflow", "logaddexp2_cpu"),
    "ldexp": (binary.LdexpBackward0, "input * 2 ** other", ""),
    "maximum": (choose.MaximumBackward0, "The larger; nan if either is; equal operands share the gradient", ""),
    "minimum": (choose.MinimumBackward0, "The smaller; nan if either is; equal operands share the gradient", ""),
    "fmax": (binary.FmaxBackward0, "The larger; a number wins against nan", ""),
    "fmin": (binary.FminBackward0, "The smaller; a number wins against nan", ""),
    "heaviside": (rounding.Heaviside, "0 where input < 0, `values` where it is 0, else 1; no gradient", ""),
}


def pair_function(name: str, op: Any, doc: str, integers: str) -> None:
    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        if integers and (dtype := promote.result_dtype([input.array, other.array])).kind in "iub":
            raise not_implemented(integers, dtype)
        return op(), input, other

    def step(input: Any, values: Any, *, out: Any = None) -> Any:
        if input.array.dtype != values.array.dtype:
            raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")
        return op(), input, values

    made = named(step if name == "heaviside" else function, name, f"{doc}.  Both are tensors and broadcast.")
    globals()[name] = both(made)


for _name, (_op, _doc, _integers) in PAIRS.items():
    pair_function(_name, _op, _doc, _integers)
def ldexp_(input: Any, other: Any) -> Any:
    """In place: ldexp."""
    if input.array.dtype.kind not in "fcV":
        raise RuntimeError(f"ldexp can't be cast to the desired output type {names.SCALAR[input.array.dtype.name]}")
    return binary.LdexpBackward0().run_(input, other)


arctan2, arctan2_ = globals()["atan2"], globals()["atan2_"]


def operation(tensors: Any, number: Any, a: Any, b: Any) -> Any:
    """(op, operands) of two tensors, or of a tensor and a number."""
    if isinstance(b, complex):
        name = tensors.__name__.partition("Backward")[0].lower()
        raise not_implemented(f"{name}_cpu", promote.result_dtype([a.array, b]))
    return (tensors(), a, b) if isinstance(b, TensorBase) else (number(b), a)


@both
def copysign(input: Any, other: Any, *, out: Any = None) -> Any:
    """|input| with the sign of other, a tensor or a number."""
    return operation(binary.CopysignBackward0, binary.CopysignBackward1, input, other)


@both
def fmod(input: Any, other: Any, *, out: Any = None) -> Any:
    """Remainder of input / other with the sign of input (remainder has other's); of integers by 0, RuntimeError."""
    return operation(binary.FmodBackward1, binary.FmodBackward0, input, other)


@both
def xlogy(input: Any, other: Any, *, out: Any = None) -> Any:
    """input * log(other), 0 where input is 0; either may be a number."""
    if not isinstance(input, TensorBase):
        return binary.XlogyBackward1(input), other
    return operation(binary.XlogyBackward0, binary.XlogyBackward2, input, other)


@both
def lerp(input: Any, end: Any, weight: Any, *, out: Any = None) -> Any:
    """input + weight * (end - input); weight a number or a tensor; all of one dtype."""
    several = isinstance(weight, TensorBase)
    for what, t in (("end", end), ("weight", weight if several and weight.ndim else end)):
        if t.array.dtype != input.array.dtype:
            raise RuntimeError(f"expected dtype {names.C[input.array.dtype.name]} for `{what}` but got dtype "
                               f"{names.C[t.array.dtype.name]}")
    dtype = promote.result_dtype([input.array, weight.array]) if several else input.array.dtype
    if dtype.kind in "iub":
        raise not_implemented("lerp_kernel_tensor" if several else "lerp_kernel_scalar", dtype)
    if not several:
        weight = complex(weight) if input.array.dtype.kind == "c" else float(real_number(weight, input.array.dtype))
        return binary.LerpBackward0(weight), input, end
    binary.together([input.array, end.array, weight.array])
    return binary.LerpBackward1(), [input, end, weight]


ADDCDIV_INT = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
    "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
    "tensor2), for all dtypes."
)


@both
def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1, out: Any = None) -> Any:
    """input + value * tensor1 * tensor2"""
    dtype = promote.result_dtype([input.array, tensor1.array, tensor2.array])
    if dtype.kind == "b":
        raise not_implemented("addcmul_cpu_out", dtype)
    if isinstance(value, complex):
        promote.check_broadcast(input.array, tensor1.array)
        value = real_number(value, dtype)
    return binary.AddcmulBackward0(int(value) if dtype.kind in "iu" else value), [input, tensor1, tensor2]


@both
def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1, out: Any = None) -> Any:
    """input + value * tensor1 / tensor2; not for integers."""
    if tensor1.array.dtype.kind in "iub" and tensor2.array.dtype.kind in "iub":
        raise RuntimeError(ADDCDIV_INT)
    value = real_number(value, promote.result_dtype([input.array, tensor1.array, tensor2.array]))
    return binary.AddcdivBackward0(value), [input, tensor1, tensor2]


def check_bounds(x: TensorBase, low: Any, high: Any) -> bool:
    """Are they tensors?  RuntimeError for a number that the result's dtype does not hold."""
    given = [bound for bound in (low, high) if bound is not None]
    if not given:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    if isinstance(given[0], TensorBase):
        return True
    if x.array.dtype.kind not in "fV" and any(isinstance(n, complex) for n in given):
        raise NotImplementedError("clamp is not supported for complex types")
    given = [real_number(n, DOUBLE) for n in given]
    common = promote.result_dtype([x.array, *given])
    for n in given:
        check_number(n, common)
    if x.array.dtype.kind == "b" and all(isinstance(n, bool) for n in given):
        loop = "clamp_scalar_cpu" if len(given) == 2 else "clamp_max_scalar_cpu" if low is None else "clamp_min_scalar_cpu"
        raise NotImplementedError(f"\"{loop}\" not implemented for 'Bool'")
    return False


def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """input raised to min and lowered to max (numbers, or tensors that broadcast); both bounds pass the gradient."""
    if check_bounds(input, min, max):
        return rounding.ClampBackward0().run([input, min, max])
    return choose.clamp(input, real_number(min, DOUBLE), real_number(max, DOUBLE))


def clamp_(input: Any, min: Any = None, max: Any = None) -> Any:
    """In place: clamp."""
    if check_bounds(input, min, max):
        return rounding.ClampBackward0().run_([input, min, max])
    min, max = real_number(min, DOUBLE), real_number(max, DOUBLE)
    clamp_cast(input, min, max)
    return choose.clamp_(input, min, max)


def clamp_cast(x: TensorBase, *numbers: Any) -> None:
    have = promote.result_dtype([x.array, *[n for n in numbers if n is not None]])
    if have.kind in "fViu" and x.array.dtype.kind == "b" or have.kind in "fV" and x.array.dtype.kind in "iu":
        raise RuntimeError(
            f"result type {names.SCALAR[have.name]} can't be cast to the desired output type {names.C[x.array.dtype.name]}")


def clamp_min(input: Any, min: Any, *, out: Any = None) -> Any:
    """max(input, min), min a number or a tensor."""
    if check_bounds(input, min, None):
        return rounding.ClampMinBackward1().run(input, min)
    return rounding.ClampMinBackward0(min).run(input)


def clamp_min_(input: Any, min: Any) -> Any:
    """In place: clamp_min."""
    if check_bounds(input, min, None):
        return rounding.ClampMinBackward1().run_(input, min)
    clamp_cast(input, min)
    return rounding.ClampMinBackward0(min).run_(input)


def clamp_max(input: Any, max: Any, *, out: Any = None) -> Any:
    """min(input, max), max a number or a tensor."""
    if check_bounds(input, None, max):
        return rounding.ClampMaxBackward1().run(input, max)
    return rounding.ClampMaxBackward0(max).run(input)


def clamp_max_(input: Any, max: Any) -> Any:
    """In place: clamp_max."""
    if check_bounds(input, None, max):
        return rounding.ClampMaxBackward1().run_(input, max)
    clamp_cast(input, max)
    return rounding.ClampMaxBackward0(max).run_(input)


clip, clip_ = clamp, clamp_


def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """input where condition holds, else other; each a tensor or a number, and all broadcast.

    where(condition) alone: the indices at which it holds, as a tuple with one int64 tensor per dim.
    """
    if input is None and other is None:
        found = np.nonzero(np.atleast_1d(condition.array))
        return tuple(wrap(i.astype(np.int64)) for i in found)
    c, a, b = condition, input, other
    mask = c.array
    if mask.dtype == np.uint8:
        warn_once(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead.")
        mask = mask != 0
    elif mask.dtype != np.bool_:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {names.SCALAR[mask.dtype.name]}")
    for t in (a, b):
        if not isinstance(t, TensorBase):
            check_number(t, promote.result_dtype([x.array if isinstance(x, TensorBase) else x for x in (a, b)]), False)
    for t in (a, b):
        if isinstance(t, TensorBase):
            promote.check_broadcast(mask, t.array)
    if not isinstance(a, TensorBase) and not isinstance(b, TensorBase):
        dtype = promote.result_dtype([a, b])
        return wrap(np.where(mask, promote.to(a, dtype), promote.to(b, dtype)).astype(dtype))
    return choose.where(c if mask is c.array else mask, a, b)


def T_where(input: Any, condition: Any, other: Any) -> Any:
    """input where condition holds, else other."""
    return where(condition, input, other)


def T_polygamma(input: Any, n: int) -> Any:
    """The n-th derivative of digamma."""
    return polygamma(n, input)


def filled(x: TensorBase, mask: Any, value: Any, first: Any, second: Any) -> tuple[Any, ...]:
    """(op, operands); first and second: the tensors as the error about their shapes names them."""
    dtypes.check_long(value)
    if isinstance(value, TensorBase) and value.array.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.array.ndim} "
            "dimension(s).")
    if first is mask:                                   # out of place PyTorch looks at the shapes first
        promote.check_broadcast(mask.array, x.array)
    if mask.array.dtype != np.bool_:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {names.C[mask.array.dtype.name]}")
    promote.check_broadcast(first.array, second.array)
    if not isinstance(value, TensorBase):
        return choose.MaskedFillBackward0(mask, value), x
    check_number(value.array.item(), x.array.dtype)
    return binary.MaskedFillBackward1(mask), x, value


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """input with value (a number or a 0-dim tensor) where the bool mask holds; both broadcast."""
    op, *operands = filled(input, mask, value, mask, input)
    return op.run(*operands)


def masked_fill_(input: Any, mask: Any, value: Any) -> Any:
    """In place: masked_fill."""
    op, *operands = filled(input, mask, read_first(input, value), input, mask)
    return op.run_(*operands)
