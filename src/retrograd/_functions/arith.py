"""Arithmetic: torch.add, torch.mul, ... and the methods of the same names."""
from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from .._engine import promote
from .._engine.tensor import TensorBase, wrap
from .._engine.views import check_cast, repeats
from .._rules import arith, number
from .._rules.index import check_number
from .._tensor import dtypes
from .._tensor.dtypes import typename
from .arguments import dim_of, finish, operand, operands, sized, tensor
from .forms import FUNCTIONS
from .forms import METHODS as FORMS
from .parsing import MISSED, as_method, fitted

ONE: Any = 1            # a default told apart from True, which PyTorch refuses for numbers
NAMED = frozenset(["alpha", "out", "rounding_mode"])


def add(input: Any = MISSED, other: Any = MISSED, /, *third: Any, alpha: Any = ONE, out: Any = None, **named: Any) -> Any:
    """input + alpha * other, broadcast; in the common dtype.  https://pytorch.org/docs/stable/generated/torch.add.html"""
    if third or named or other is MISSED:            # add(input, alpha, other), add(x1=input, x2=other)
        return again("add", FUNCTIONS["add"], add, (input, other, *third), {"alpha": alpha, "out": out, **named})
    a, b = operands(input, other, "add")
    y = arith.add(a, b) if alpha is ONE else arith.add_scaled(a, b, factor(alpha, a, b, "add"))
    return finish(y, out, "add", a, b)


def add_(input: Any, other: Any = MISSED, /, *third: Any, alpha: Any = ONE, **named: Any) -> Any:
    """In place: input += alpha * other."""
    if third or named or other is MISSED:            # add_(alpha, other)
        return again("add_", FORMS["add_"], partial(add_, input), (other, *third), {"alpha": alpha, **named})
    if alpha is ONE and isinstance(other, TensorBase):
        return arith.add_(input, other)
    b = operand(other, "add_", position=1)
    return arith.add_(input, b, alpha if alpha is ONE else factor(alpha, input, b, "add_"))


def sub(input: Any = MISSED, other: Any = MISSED, /, *third: Any, alpha: Any = ONE, out: Any = None, **named: Any) -> Any:
    """input - alpha * other, broadcast; bools are refused."""
    if third or named or other is MISSED:            # sub(input, alpha, other), sub(x1=input, x2=other)
        return again("sub", FUNCTIONS["sub"], sub, (input, other, *third), {"alpha": alpha, "out": out, **named})
    a, b = operands(input, other, "sub")
    y = arith.sub(a, b) if alpha is ONE else arith.sub_scaled(a, b, factor(alpha, a, b, "sub"))
    return finish(y, out, "sub", a, b)


def sub_(input: Any, other: Any = MISSED, /, *third: Any, alpha: Any = ONE, **named: Any) -> Any:
    """In place: input -= alpha * other."""
    if third or named or other is MISSED:            # sub_(alpha, other)
        return again("sub_", FORMS["sub_"], partial(sub_, input), (other, *third), {"alpha": alpha, **named})
    if alpha is ONE and isinstance(other, TensorBase):
        return arith.sub_(input, other)
    b = operand(other, "sub_", position=1)
    return arith.sub_(input, b, alpha if alpha is ONE else factor(alpha, input, b, "sub_"))


def again(name: str, forms: str, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """The call with its operands in order, which came by name or in an order that PyTorch has deprecated."""
    given = {name: value for name, value in kwargs.items() if name not in NAMED or (value is not ONE and value is not None)}
    args, kwargs = fitted(name, forms, tuple(a for a in args if a is not MISSED), given, NAMED)
    return function(*args, **kwargs)


def rsub(input: Any, other: Any, alpha: Any = ONE) -> Any:
    """other - alpha * input"""
    return arith.rsub(input, other) if alpha is ONE else arith.rsub(input, other, factor(alpha, input, other, "rsub"))


def factor(alpha: Any, a: Any, b: Any, function: str) -> Any:
    """alpha as a number that goes with the dtype of a and b."""
    if isinstance(alpha, TensorBase) and not alpha.array.ndim:
        alpha = alpha.array.item()
    if not isinstance(alpha, (bool, int, float, complex)):
        raise TypeError(f"{function}(): argument 'alpha' must be Number, not {typename(alpha)}")
    dtype = promote.result_dtype([x.array if isinstance(x, TensorBase) else x for x in (a, b)])
    if isinstance(alpha, bool) and dtype.kind != "b":
        raise RuntimeError("Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, (float, complex)) and dtype.kind in "iub":
        raise RuntimeError("For integral input tensors, argument alpha must not be a floating point number.")
    if isinstance(alpha, complex) and dtype.kind != "c":
        raise RuntimeError("For non-complex input tensors, argument alpha must not be a complex number.")
    dtypes.check_long(alpha)
    check_number(-alpha if "sub" in function else alpha, dtype)     # as PyTorch, which adds the negative
    if dtype.kind not in "fcV":
        return np.asarray(alpha).astype(dtype).item()               # wraps around
    return alpha


def mul(input: Any = MISSED, other: Any = MISSED, /, *more: Any, out: Any = None, **named: Any) -> Any:
    """input * other, broadcast."""
    if named or more or other is MISSED:
        return again("mul", FUNCTIONS["mul"], mul, (input, other, *more), {"out": out, **named})
    a, b = operands(input, other, "mul")
    return finish(arith.mul(a, b), out, "mul", a, b)


def mul_(input: Any, other: Any = MISSED, /, *more: Any, **named: Any) -> Any:
    """In place: input *= other."""
    if named or more or other is MISSED:
        return again("mul_", "Tensor other", partial(mul_, input), (other, *more), named)
    return arith.mul_(input, operand(other, "mul_", position=1))


def div(
    input: Any = MISSED, other: Any = MISSED, /, *more: Any, rounding_mode: str | None = None, out: Any = None, **named: Any,
) -> Any:
    """input / other; integers give the default float.  rounding_mode None, 'trunc' or 'floor'."""
    if named or more or other is MISSED:
        return again("div", FUNCTIONS["div"], div, (input, other, *more), {"rounding_mode": rounding_mode, "out": out, **named})
    a, b = operands(input, other, "div")
    return finish(divided(a, b, rounding_mode), out, "div", a, b)


def divided(a: Any, b: Any, rounding_mode: str | None) -> Any:
    if rounding_mode is None:
        return arith.div(a, b)
    if rounding_mode not in ("trunc", "floor"):
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" + str(rounding_mode) + "'")
    return arith.div_rounded(a, b, rounding_mode)


def div_(input: Any, other: Any = MISSED, /, *more: Any, rounding_mode: str | None = None, **named: Any) -> Any:
    """In place: input /= other; an integer input raises RuntimeError unless rounding_mode is given."""
    if named or more or other is MISSED:
        return again("div_", as_method(FUNCTIONS["div"]), partial(div_, input), (other, *more),
                     {"rounding_mode": rounding_mode, **named})
    b = operand(other, "div_", position=1)
    if rounding_mode is None:
        return arith.div_(input, b)
    return arith.div_rounded_(input, b, rounding_mode)


def floor_divide(input: Any, other: Any, *, out: Any = None) -> Any:
    """floor(input / other); recorded, but PyTorch gives it no derivative."""
    return arith.floor_divide(*operands(input, other, "floor_divide"))


def floor_divide_(input: Any, other: Any) -> Any:
    """In place: input //= other."""
    return arith.floor_divide_(input, operand(other, "floor_divide_", position=1))


def remainder(input: Any, other: Any, *, out: Any = None) -> Any:
    """input modulo other with the divisor's sign, as Python's %."""
    return arith.remainder(input, other)


def remainder_(input: Any, other: Any) -> Any:
    """In place: input %= other."""
    return arith.remainder_(input, other)


def neg(input: Any, *, out: Any = None) -> Any:
    """-input; bools are refused."""
    x = tensor(input, "neg")
    return finish(arith.neg(x), out, "neg", x)


def neg_(input: Any) -> Any:
    """In place: input = -input."""
    return arith.neg_(input)


def reciprocal(input: Any, *, out: Any = None) -> Any:
    """1 / input; integers give the default float."""
    return arith.reciprocal(input)


def reciprocal_(input: Any) -> Any:
    """In place: input = 1 / input."""
    if input.array.dtype.kind in "iub" and not repeats(input.array):
        check_cast(promote.default.float_, input.array.dtype)
    return arith.reciprocal_(input)


def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """input ** exponent; either may be a number.  Negative powers of integers raise RuntimeError."""
    if isinstance(input, TensorBase) and not isinstance(exponent, TensorBase):
        check_power(input, exponent)
    return arith.pow(input, exponent)


def pow_(input: Any, exponent: Any) -> Any:
    """In place: input = input ** exponent."""
    if not isinstance(exponent, TensorBase):
        check_power(input, exponent)
    return arith.pow_(input, exponent)


def check_power(x: TensorBase, n: Any) -> None:
    """RuntimeError for a number that the result's dtype does not hold; float32 and float64 compute with float64."""
    if not (x.array.dtype.kind == "f" and x.array.dtype.itemsize > 2):
        check_number(n, promote.result_dtype([x.array, n]))


def float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """input ** exponent in float64, or complex128."""
    return arith.pow(doubled(input), doubled(exponent))


def doubled(x: Any) -> Any:
    if isinstance(x, (bool, int, float)):
        return float(x)
    return x if isinstance(x, complex) else x.cdouble() if x.array.dtype.kind == "c" else x.double()


def float_power_(input: Any, exponent: Any) -> Any:
    """In place: input ** exponent; of float64 and complex128 only."""
    wide = "ComplexDouble" if input.array.dtype.kind == "c" else "Double"
    if input.array.dtype.name not in ("float64", "complex128"):
        raise RuntimeError(f"the base given to float_power_ has dtype {dtypes.of(input.array.dtype).scalar} but the operation's "
                           f"result requires dtype {wide}")
    return arith.pow_(input, doubled(exponent))


def square(input: Any, *, out: Any = None) -> Any:
    """input ** 2"""
    return arith.pow(input, 2)


def square_(input: Any) -> Any:
    """In place: input = input ** 2."""
    return arith.pow_(input, 2)


def trapezoid(y: Any, x: Any = None, *, dx: Any = 1, dim: int = -1) -> Any:
    """The integral of y along dim by the trapezoidal rule; x are the places of the samples, or dx is their distance."""
    if isinstance(dx, complex):
        raise RuntimeError("trapezoid: Currently, we only support dx as a real number.")
    n = sized(y, dim)
    if x is None and n == 0:
        sizes = y.array.shape
        at = dim % len(sizes)
        return wrap(np.zeros(sizes[:at] + sizes[at + 1:], y.array.dtype))
    if x is None:
        refuse_bools("trapezoid", y=y)
        dx = dx.array.item() if isinstance(dx, TensorBase) else dx
        return number.MulBackward1(dx).run(
            y.sum(dim) - number.MulBackward1(0.5).run(y.select(dim, 0) + y.select(dim, -1)))
    at = dim_of(dim, y.array.ndim)
    steps = steps_of("trapezoid", y, x, at)
    if not n:
        return y.sum(at)
    twice: Any = ((y.narrow(at, 0, n - 1) + y.narrow(at, 1, n - 1)) * steps).sum(at)
    return number.div_number(twice, 2.0)


def steps_of(function: str, y: Any, x: Any, at: int) -> Any:
    """The distances of places x along dim `at` of y."""
    refuse_bools(function, x=x, y=y)
    shape, ndim = x.array.shape, y.array.ndim
    if len(shape) == 1:
        if shape[0] != y.array.shape[at]:
            raise RuntimeError(f"{function}: There must be one `x` value for each sample point")
        x = x.reshape((1,) * at + shape + (1,) * (ndim - 1 - at))
    elif len(shape) < ndim:
        x = x.reshape((1,) * (ndim - len(shape)) + shape)
    return x.diff(dim=at)


def refuse_bools(function: str, **given: Any) -> None:
    if any(v.array.dtype.kind == "b" for v in given.values()):
        named = " or ".join(f"`{name}`" for name in given)
        raise RuntimeError(f"{function}: received a bool input for {named}, but bool is not supported")


subtract, subtract_ = sub, sub_
multiply, multiply_ = mul, mul_
trapz = trapezoid
divide, divide_ = div, div_
negative, negative_ = neg, neg_


def true_divide(input: Any, other: Any, *, out: Any = None) -> Any:
    """input / other"""
    return div(input, other, out=out)


def true_divide_(input: Any, other: Any) -> Any:
    """In place: input /= other."""
    return div_(input, other)
