"""Functions applied element by element: torch.exp, torch.clamp, torch.where, ... and the methods of the same names."""
from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from .. import dtypes
from .._engine import names, promote
from .._engine.tensor import TensorBase, wrap
from .._engine.views import check_cast
from .._rules import binary, choose, pointwise, rounding
from .._rules.cast import floating
from .._rules.index import check_number
from .._tensor import Tensor
from .arguments import OPERANDS, finish, operand, read_first, refused, tensor, tensor_first

Function = Callable[..., Any]
__all__: list[str] = []
METHODS: list[str] = []
FUNCTIONAL = ["sigmoid", "tanh"]

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


def named(function: Function, name: str, doc: str, public: bool = True, method: bool = True) -> Function:
    """function under its name, listed for the torch namespace and for Tensor."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    globals()[name] = function
    listed(name, public, method)
    return function


def listed(name: str, public: bool = True, method: bool = True) -> None:
    if public:
        __all__.append(name)
    if method:
        METHODS.append(name)


def not_implemented(kernel: str, dtype: Any) -> NotImplementedError:
    return NotImplementedError(f"\"{kernel}\" not implemented for '{names.SCALAR[dtype.name]}'")


def floats_only(x: TensorBase) -> None:
    """RuntimeError when a float result cannot be written into x."""
    if x.array.dtype.kind not in "fV":
        check_cast(promote.default.float_, x.array.dtype)


def floating_function(name: str, op: Any, doc: str) -> None:
    name_ = name + "_"

    def function(input: Any, *, out: Any = None) -> Any:
        x = input if isinstance(input, TensorBase) else tensor(input, name)
        y = pointwise.floats(op, x)
        return y if out is None else finish(y, out, name, x)

    def function_(input: Any) -> Any:
        x = tensor(input, name_)
        floats_only(x)
        return op().run_(x)

    named(function, name, f"{doc}; integers give the default float.")
    named(function_, name_, f"In place: {name}.", public=name not in ("erfinv", "lgamma", "digamma"))


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
        return op().run_(check(tensor(input, name_)))

    named(function, name, f"{doc}; in the dtype of input.")
    named(function_, name_, f"In place: {name}.", public=name not in ("sign", "sgn"))


def alias(new: str, old: str, public: bool = True) -> None:
    globals()[new] = globals()[old]
    listed(new, public)


for _name, (_op, _doc, _others) in FLOATING.items():
    floating_function(_name, _op, _doc)
    for _other in _others:
        alias(_other, _name)
        alias(_other + "_", _name + "_")
for _name, (_op, _doc, _others, _bools, _integers) in KEEPING.items():
    keeping_function(_name, _op, _doc, _bools, _integers)
    for _other in _others:
        alias(_other, _name)
        alias(_other + "_", _name + "_", public=_other != "absolute")


def rounded(x: TensorBase, decimals: int) -> Any:
    kind = x.array.dtype.kind
    if kind == "b":
        raise not_implemented("round_vml_cpu", x.array.dtype)
    if not decimals:
        return rounding.RoundBackward0()
    if kind in "iu":
        raise not_implemented("round_cpu", x.array.dtype)
    return rounding.RoundBackward1(decimals)


def round(input: Any, *, decimals: int = 0, out: Any = None) -> Any:
    """To the nearest integer or number of decimals, halves to even; negative decimals round to tens, ..."""
    x = tensor(input, "round")
    return finish(rounded(x, decimals).run(x), out, "round", x)


def round_(input: Any, *, decimals: int = 0) -> Any:
    """In place: round."""
    x = tensor(input, "round_")
    return rounded(x, decimals).run_(x)


def positive(input: Any) -> Any:
    """input itself; bools are refused."""
    if tensor(input, "positive").array.dtype.kind == "b":
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return input


def angle(input: Any, *, out: Any = None) -> Any:
    """0, or pi for negative numbers: the angle in the complex plane; integers give the default float."""
    x = tensor(input, "angle")
    return finish(rounding.AngleBackward0().run(floating(x)), out, "angle", x)


def polygamma(n: int, input: Any, *, out: Any = None) -> Any:
    """The n-th derivative of digamma, n >= 0."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    x = tensor(input, "polygamma", position=2)
    return finish(pointwise.polygamma(n, x), out, "polygamma", x)


def replacements(x: TensorBase, nan: Any, posinf: Any, neginf: Any) -> Any:
    if x.array.dtype.kind in "fV":
        limits = dtypes.finfo(dtypes.of(x.array.dtype))
        posinf = limits.max if posinf is None else posinf
        neginf = limits.min if neginf is None else neginf
    return rounding.NanToNumBackward0(0.0 if nan is None else nan, posinf, neginf)


def nan_to_num(input: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None, *, out: Any = None) -> Any:
    """nan, inf and -inf replaced; by 0, the largest and the smallest finite number unless said otherwise."""
    x = tensor(input, "nan_to_num")
    return finish(replacements(x, nan, posinf, neginf).run(x), out, "nan_to_num", x)


def nan_to_num_(input: Any, nan: Any = 0.0, posinf: Any = None, neginf: Any = None) -> Any:
    """In place: nan_to_num."""
    x = tensor(input, "nan_to_num_")
    return replacements(x, nan, posinf, neginf).run_(x)


def logit(input: Any, eps: float | None = None, *, out: Any = None) -> Any:
    """log(input / (1 - input)), the inverse of sigmoid; input is first clamped to [eps, 1 - eps] if eps is given."""
    x = tensor(input, "logit")
    return finish(pointwise.LogitBackward0(eps).run(floating(x)), out, "logit", x)


def logit_(input: Any, eps: float | None = None) -> Any:
    """In place: logit."""
    x = tensor(input, "logit_")
    floats_only(x)
    return pointwise.LogitBackward0(eps).run_(x)


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
CHANGING = ("atan2", "ldexp", "hypot", "heaviside")       # have an in-place method


def pair_function(name: str, op: Any, doc: str, integers: str) -> None:
    second = "values" if name == "heaviside" else "other"
    name_ = name + "_"

    def check(a: TensorBase, b: TensorBase) -> None:
        if integers and promote.result_dtype([a.array, b.array]).kind in "iub":
            raise not_implemented(integers, promote.result_dtype([a.array, b.array]))
        if name == "heaviside" and a.array.dtype != b.array.dtype:
            raise RuntimeError("heaviside is not yet implemented for tensors with different dtypes.")

    def run(input: Any, other: Any, out: Any) -> Any:
        a, b = tensor(input, name), tensor(other, name, second, 2)
        check(a, b)
        return finish(op().run(a, b), out, name, a, b)

    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        return run(input, other, out)

    def step(input: Any, values: Any, *, out: Any = None) -> Any:
        return run(input, values, out)

    def function_(input: Any, other: Any) -> Any:
        a, b = tensor(input, name_), tensor(other, name_, second, 1)
        check(a, b)
        if name == "ldexp" and a.array.dtype.kind not in "fV":
            raise RuntimeError(f"ldexp can't be cast to the desired output type {names.SCALAR[a.array.dtype.name]}")
        return op().run_(a, b)

    named(rounding if name == "heaviside" else function, name, f"{doc}.  Both are tensors and broadcast.")
    if name in CHANGING:
        named(function_, name_, f"In place: {name}.", public=False)


for _name, (_op, _doc, _integers) in PAIRS.items():
    pair_function(_name, _op, _doc, _integers)
alias("arctan2", "atan2")
alias("arctan2_", "atan2_", public=False)


def copysign_op(b: Any) -> Any:
    return binary.CopysignBackward0() if isinstance(b, TensorBase) else binary.CopysignBackward1(b)


def fmod_op(b: Any) -> Any:
    return binary.FmodBackward1() if isinstance(b, TensorBase) else binary.FmodBackward0(b)


def apply(op: Any, a: Any, b: Any) -> Any:
    """An op that is of two tensors, or of a tensor and a number it already has."""
    return op.run(a, b) if isinstance(b, TensorBase) else op.run(a)


def apply_(op: Any, a: Any, b: Any) -> Any:
    return op.run_(a, b) if isinstance(b, TensorBase) else op.run_(a)


def copysign(input: Any, other: Any, *, out: Any = None) -> Any:
    """|input| with the sign of other, a tensor or a number."""
    a, b = tensor_first("copysign", input, other), operand(other, "copysign")
    return finish(apply(copysign_op(b), a, b), out, "copysign", a, b)


def copysign_(input: Any, other: Any) -> Any:
    """In place: copysign."""
    a, b = tensor(input, "copysign_"), operand(other, "copysign_", position=1)
    return apply_(copysign_op(b), a, b)


def fmod(input: Any, other: Any, *, out: Any = None) -> Any:
    """Remainder of input / other with the sign of input (remainder has other's); of integers by 0, RuntimeError."""
    a, b = tensor_first("fmod", input, other), operand(other, "fmod")
    return finish(apply(fmod_op(b), a, b), out, "fmod", a, b)


def fmod_(input: Any, other: Any) -> Any:
    """In place: fmod."""
    a, b = tensor(input, "fmod_"), operand(other, "fmod_", position=1)
    return apply_(fmod_op(b), a, b)


def xlogy(input: Any, other: Any, *, out: Any = None) -> Any:
    """input * log(other), 0 where input is 0; either may be a number."""
    if not isinstance(other, TensorBase):
        tensor_first("xlogy", input, other)
    a, b = operand(input, "xlogy", "input", 1), operand(other, "xlogy")
    if isinstance(a, TensorBase) and isinstance(b, TensorBase):
        y = binary.XlogyBackward0().run(a, b)
    elif isinstance(b, TensorBase):
        y = binary.XlogyBackward1(a).run(b)
    else:
        y = binary.XlogyBackward2(b).run(tensor(a, "xlogy"))
    return finish(y, out, "xlogy", a, b)


def xlogy_(input: Any, other: Any) -> Any:
    """In place: xlogy."""
    a, b = tensor(input, "xlogy_"), operand(other, "xlogy_", position=1)
    return apply_(binary.XlogyBackward0() if isinstance(b, TensorBase) else binary.XlogyBackward2(b), a, b)


def lerp_op(a: TensorBase, b: TensorBase, weight: Any) -> Any:
    for what, t in (("end", b), ("weight", weight)):
        if isinstance(t, TensorBase) and t.array.dtype != a.array.dtype:
            raise RuntimeError(
                f"expected dtype {names.C[a.array.dtype.name]} for `{what}` but got dtype "
                f"{names.C[t.array.dtype.name]}")
    if a.array.dtype.kind in "iub":
        raise not_implemented("lerp_kernel_tensor" if isinstance(weight, TensorBase) else "lerp_kernel_scalar",
                              a.array.dtype)
    if isinstance(weight, TensorBase):
        binary.together([a.array, b.array, weight.array])
        return binary.LerpBackward1()
    return binary.LerpBackward0(float(weight))


def lerp(input: Any, end: Any, weight: Any, *, out: Any = None) -> Any:
    """input + weight * (end - input); weight a number or a tensor; all of one dtype."""
    a, b = tensor(input, "lerp"), tensor(end, "lerp", "end", 2)
    op = lerp_op(a, b, weight)
    y = op.run([a, b, weight]) if isinstance(weight, TensorBase) else op.run(a, b)
    return finish(y, out, "lerp", a, b, weight)


def lerp_(input: Any, end: Any, weight: Any) -> Any:
    """In place: lerp."""
    a, b = tensor(input, "lerp_"), tensor(end, "lerp_", "end", 1)
    op = lerp_op(a, b, weight)
    return op.run_([a, b, weight]) if isinstance(weight, TensorBase) else op.run_(a, b)


ADDCDIV_INT = (
    "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
    "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
    "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
    "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
    "tensor2), for all dtypes."
)


def triple(name: str, input: Any, tensor1: Any, tensor2: Any, value: Any, first: int) -> tuple[Any, list[TensorBase]]:
    xs = [tensor(input, name), tensor(tensor1, name, "tensor1", first), tensor(tensor2, name, "tensor2", first + 1)]
    if name.startswith("addcdiv"):
        if all(x.array.dtype.kind in "iub" for x in xs[1:]):
            raise RuntimeError(ADDCDIV_INT)
        return binary.AddcdivBackward0(value), xs
    kind = promote.result_dtype([x.array for x in xs]).kind
    if kind == "b":
        raise not_implemented("addcmul_cpu_out", np.dtype(bool))
    if kind in "iu":
        value = int(value)
    return binary.AddcmulBackward0(value), xs


def addcmul(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1, out: Any = None) -> Any:
    """input + value * tensor1 * tensor2"""
    op, xs = triple("addcmul", input, tensor1, tensor2, value, 2)
    return finish(op.run(xs), out, "addcmul", *xs)


def addcmul_(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """In place: addcmul."""
    op, xs = triple("addcmul_", input, tensor1, tensor2, value, 1)
    return op.run_(xs)


def addcdiv(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1, out: Any = None) -> Any:
    """input + value * tensor1 / tensor2; not for integers."""
    op, xs = triple("addcdiv", input, tensor1, tensor2, value, 2)
    return finish(op.run(xs), out, "addcdiv", *xs)


def addcdiv_(input: Any, tensor1: Any, tensor2: Any, *, value: Any = 1) -> Any:
    """In place: addcdiv."""
    op, xs = triple("addcdiv_", input, tensor1, tensor2, value, 1)
    return op.run_(xs)


def bounds(name: str, x: TensorBase, min: Any, max: Any) -> Iterable[Any]:
    if min is None and max is None:
        raise RuntimeError("torch.clamp: At least one of 'min' or 'max' must not be None")
    given = [x for x in (min, max) if x is not None]
    if not all(isinstance(x, OPERANDS) for x in given) or len({isinstance(x, TensorBase) for x in given}) > 1:
        raise refused(
            name, (x, *given), "(Tensor input, Tensor min = None, Tensor max = None)",
            "(Tensor input, Number min = None, Number max = None)")
    found = [None if bound is None else operand(bound, name) for bound in (min, max)]
    numbers = [bound for bound in found if bound is not None and not isinstance(bound, TensorBase)]
    for n in numbers:
        check_number(n, promote.result_dtype([x.array, *numbers]))
    return found


def clamp(input: Any, min: Any = None, max: Any = None, *, out: Any = None) -> Any:
    """input raised to min and lowered to max (numbers, or tensors that broadcast); both bounds pass the gradient."""
    x = tensor(input, "clamp")
    low, high = bounds("clamp", x, min, max)
    refuse_bools(x, low, high)
    if isinstance(low, TensorBase) or isinstance(high, TensorBase):
        return finish(rounding.ClampBackward0().run([x, low, high]), out, "clamp", x, low, high)
    return finish(choose.clamp(x, low, high), out, "clamp", x)


def clamp_(input: Any, min: Any = None, max: Any = None) -> Any:
    """In place: clamp."""
    x = tensor(input, "clamp_")
    low, high = bounds("clamp_", x, min, max)
    refuse_bools(x, low, high)
    if isinstance(low, TensorBase) or isinstance(high, TensorBase):
        return rounding.ClampBackward0().run_([x, low, high])
    clamp_cast(x, low, high)
    return choose.clamp_(x, low, high)


def refuse_bools(x: TensorBase, low: Any, high: Any) -> None:
    """NotImplementedError for a bool tensor between bools: there is no kernel for them."""
    given = [n for n in (low, high) if n is not None]
    if x.array.dtype.kind == "b" and all(isinstance(n, bool) for n in given):
        loop = "clamp_scalar_cpu" if len(given) == 2 else "clamp_max_scalar_cpu" if low is None else "clamp_min_scalar_cpu"
        raise NotImplementedError(f"\"{loop}\" not implemented for 'Bool'")


def clamp_cast(x: TensorBase, *numbers: Any) -> None:
    have = promote.result_dtype([x.array, *[n for n in numbers if n is not None]])
    if have.kind in "fViu" and x.array.dtype.kind == "b" or have.kind in "fV" and x.array.dtype.kind in "iu":
        raise RuntimeError(
            f"result type {names.SCALAR[have.name]} can't be cast to the desired output type {names.C[x.array.dtype.name]}")


def bound(function: str, input: Any, value: Any, name: str, position: int = 2) -> tuple[Any, Any]:
    """The operands of clamp_min or clamp_max; RuntimeError for a number that the result's dtype does not hold."""
    x: Any = tensor_first(function, input, value, name)
    limit = operand(value, function, name, position)
    if not isinstance(limit, TensorBase):
        check_number(limit, promote.result_dtype([x.array, limit]))
    return x, limit


def clamp_min(input: Any, min: Any, *, out: Any = None) -> Any:
    """max(input, min), min a number or a tensor."""
    x, low = bound("clamp_min", input, min, "min")
    refuse_bools(x, low, None)
    op: Any = rounding.ClampMinBackward1() if isinstance(low, TensorBase) else rounding.ClampMinBackward0(low)
    return finish(apply(op, x, low), out, "clamp_min", x, low)


def clamp_min_(input: Any, min: Any) -> Any:
    """In place: clamp_min."""
    x, low = bound("clamp_min_", input, min, "min", 1)
    refuse_bools(x, low, None)
    if isinstance(low, TensorBase):
        return rounding.ClampMinBackward1().run_(x, low)
    clamp_cast(x, low)
    return rounding.ClampMinBackward0(low).run_(x)


def clamp_max(input: Any, max: Any, *, out: Any = None) -> Any:
    """min(input, max), max a number or a tensor."""
    x, high = bound("clamp_max", input, max, "max")
    refuse_bools(x, None, high)
    op: Any = rounding.ClampMaxBackward1() if isinstance(high, TensorBase) else rounding.ClampMaxBackward0(high)
    return finish(apply(op, x, high), out, "clamp_max", x, high)


def clamp_max_(input: Any, max: Any) -> Any:
    """In place: clamp_max."""
    x, high = bound("clamp_max_", input, max, "max", 1)
    refuse_bools(x, None, high)
    if isinstance(high, TensorBase):
        return rounding.ClampMaxBackward1().run_(x, high)
    clamp_cast(x, high)
    return rounding.ClampMaxBackward0(high).run_(x)


clip, clip_ = clamp, clamp_


def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """input where condition holds, else other; each a tensor or a number, and all broadcast.

    where(condition) alone: the indices at which it holds, as a tuple with one int64 tensor per dim.
    """
    if input is None and other is None:
        found = np.nonzero(np.atleast_1d(tensor(condition, "where", "condition").array))
        return tuple(wrap(i.astype(np.int64)) for i in found)
    if not isinstance(condition, TensorBase) or not isinstance(input, OPERANDS) or not isinstance(other, OPERANDS):
        given = tuple(x for x in (condition, input, other) if x is not None)
        raise refused("where", given, "(Tensor condition)", "(Tensor condition, Tensor input, Tensor other)",
                      "(Tensor condition, Number self, Number other)")
    c, a, b = condition, operand(input, "where"), operand(other, "where")
    mask = c.array
    if mask.dtype == np.uint8:
        warnings.warn(
            "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future "
            "version of PyTorch. Use a boolean condition instead.", UserWarning, stacklevel=2)
        mask = mask != 0
    elif mask.dtype != np.bool_:
        raise RuntimeError(
            f"where expected condition to be a boolean tensor, but got a tensor with dtype {names.SCALAR[mask.dtype.name]}")
    for t in (a, b):
        if isinstance(t, TensorBase):
            promote.check_broadcast(mask, t.array)
        else:
            check_number(t, promote.result_dtype([x.array if isinstance(x, TensorBase) else x for x in (a, b)]), False)
    if not isinstance(a, TensorBase) and not isinstance(b, TensorBase):
        dtype = promote.result_dtype([a, b])
        return finish(wrap(np.where(mask, promote.to(a, dtype), promote.to(b, dtype)).astype(dtype)), out, "where")
    return finish(choose.where(c if mask is c.array else mask, a, b), out, "where", a, b)


def where_method(input: Any, condition: Any, other: Any) -> Any:
    """input where condition holds, else other."""
    return where(condition, input, other)


def polygamma_method(input: Any, n: int) -> Any:
    """The n-th derivative of digamma."""
    return polygamma(n, input)


# the methods whose first argument is another one than the function's
setattr(Tensor, "where", where_method)          # noqa: B010
setattr(Tensor, "polygamma", polygamma_method)  # noqa: B010


def fill_op(x: TensorBase, mask: Any, value: Any, name: str) -> Any:
    if not isinstance(mask, TensorBase) or not isinstance(value, OPERANDS):
        raise refused(name, (mask, value), "(Tensor mask, Tensor value)", "(Tensor mask, Number value)")
    dtypes.check_long(value)
    kept = mask
    m = kept.array
    if isinstance(value, TensorBase) and value.array.ndim:
        raise RuntimeError(
            f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.array.ndim} "
            "dimension(s).")
    if m.dtype != np.bool_:
        raise RuntimeError(
            f"masked_fill_ only supports boolean masks, but got mask with dtype {names.C[m.dtype.name]}")
    promote.check_broadcast(*((x.array, m) if name == "masked_fill_" else (m, x.array)))
    if isinstance(value, TensorBase):
        check_number(value.array.item(), x.array.dtype)
        return binary.MaskedFillBackward1(kept)
    return choose.MaskedFillBackward0(kept, operand(value, name, "value", 3))


def masked_fill(input: Any, mask: Any, value: Any) -> Any:
    """input with value (a number or a 0-dim tensor) where the bool mask holds; both broadcast."""
    x = tensor(input, "masked_fill")
    return apply(fill_op(x, mask, value, "masked_fill"), x, value)


def masked_fill_(input: Any, mask: Any, value: Any) -> Any:
    """In place: masked_fill."""
    x = tensor(input, "masked_fill_")
    value = read_first(x, value)
    return apply_(fill_op(x, mask, value, "masked_fill_"), x, value)


__all__ += [
    "round", "round_", "positive", "angle", "polygamma", "nan_to_num", "nan_to_num_", "logit", "logit_", "copysign",
    "fmod",
    "xlogy", "xlogy_", "lerp", "addcmul", "addcdiv", "clamp", "clamp_", "clip", "clip_", "clamp_min", "clamp_min_",
    "clamp_max", "clamp_max_", "where", "masked_fill",
]
METHODS += [
    "round", "round_", "positive", "angle", "nan_to_num", "nan_to_num_", "logit", "logit_", "copysign", "copysign_",
    "fmod",
    "fmod_", "xlogy", "xlogy_", "lerp", "lerp_", "addcmul", "addcmul_", "addcdiv", "addcdiv_", "clamp", "clamp_",
    "clip", "clip_", "clamp_min", "clamp_min_", "clamp_max", "clamp_max_", "masked_fill", "masked_fill_",
]
