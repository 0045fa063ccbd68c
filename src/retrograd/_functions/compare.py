"""Comparisons, logic and bits: torch.eq, torch.isnan, torch.logical_and, ...; bool results, no gradients.

rtol, atol      close means |input - other| <= atol + rtol * |other|
equal_nan       True: NaN equals NaN
elements        what is looked up in test_elements, one by one
assume_unique   True: no value comes twice, which changes no result
invert          True: what is not in test_elements
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.tensor import TensorBase, wrap
from .._rules import compare, order
from .arguments import tensor
from .parsing import refuse_edit
from .rows import replaced, replacing

# name: (op, sign, other name)
ORDER = {
    "eq": (compare.eq, "==", ""), "ne": (compare.ne, "!=", "not_equal"), "lt": (compare.lt, "<", "less"),
    "le": (compare.le, "<=", "less_equal"), "gt": (compare.gt, ">", "greater"),
    "ge": (compare.ge, ">=", "greater_equal"),
}
# name: (what NumPy computes, the question)
LOGIC = {
    "logical_and": (np.logical_and, "Are both"), "logical_or": (np.logical_or, "Is either"),
    "logical_xor": (np.logical_xor, "Is exactly one"),
}
# name: (op, what it computes)
BITS = {
    "bitwise_and": (compare.bit_and, "input & other"), "bitwise_or": (compare.bit_or, "input | other"),
    "bitwise_xor": (compare.bit_xor, "input ^ other"),
    "bitwise_left_shift": (compare.left_shift, "input << other"),
    "bitwise_right_shift": (compare.right_shift, "input >> other"),
}


def named(function: Any, name: str, doc: str) -> Any:
    """function under its name."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = doc
    globals()[name] = function
    return function


def ordered(name: str, op: Any, sign: str, other_name: str) -> None:
    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        return op(input, other)

    def function_(input: Any, other: Any) -> Any:
        return compare.into(input, op(input, other), name, other)

    named(function, name, f"input {sign} other, element by element, in the common dtype; other a tensor or a number.")
    named(function_, name + "_", f"In place: input {sign} other, in input's dtype.")
    if other_name:
        globals()[other_name], globals()[other_name + "_"] = function, function_


def logical(name: str, how: Any, doc: str) -> None:
    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        return compare.truth(how, input, other)

    replacing(named(function, name, f"{doc} nonzero?"))


def bits(name: str, op: Any, doc: str) -> None:
    def function(input: Any, other: Any, *, out: Any = None) -> Any:
        return op(input, other)

    replacing(named(function, name, f"{doc}, of integers or bools."))


for _name, (_op, _sign, _other) in ORDER.items():
    ordered(_name, _op, _sign, _other)
for _name, (_how, _doc) in LOGIC.items():
    logical(_name, _how, _doc)
for _name, (_op, _doc) in BITS.items():
    bits(_name, _op, _doc)


@replacing
def logical_not(input: Any, *, out: Any = None) -> Any:
    """Is input zero?"""
    x = input.array                             # in NumPy's loop of logical_not no vectors are used
    return wrap(np.equal(x, 0) if x.dtype.kind == "f" else np.logical_not(compare.nonzero(x)))


@replacing
def bitwise_not(input: Any, *, out: Any = None) -> Any:
    """~input, of integers or bools."""
    compare.refuse_float("bitwise_not_cpu", input)
    return compare.invert(input)


def __lshift__(input: Any, other: Any) -> Any:
    """input << other; floats are multiplied by 2 ** other."""
    return compare.left_shift(input, other)


def __rshift__(input: Any, other: Any) -> Any:
    """input >> other"""
    return compare.right_shift(input, other)


def __ilshift__(input: Any, other: Any) -> Any:
    """In place: input << other, in input's dtype."""
    return shifted(compare.left_shift, input, other)


def __irshift__(input: Any, other: Any) -> Any:
    """In place: input >> other, in input's dtype."""
    return shifted(compare.right_shift, input, other)


def shifted(shift: Any, input: Any, other: Any) -> Any:
    if isinstance(other, (TensorBase, int, float, complex, np.generic)):
        refuse_edit(input, [other])             # before the kernel is looked for
    return replaced(shift, input, other)


def __rlshift__(input: Any, other: Any) -> Any:
    """other << input"""
    return compare.left_shift(other, input)


def __rrshift__(input: Any, other: Any) -> Any:
    """other >> input"""
    return compare.right_shift(other, input)


def equal(input: Any, other: Any) -> bool:
    """Are shapes and all elements equal?  A bool; nan equals nothing."""
    a, b = input.array, other.array
    return a.shape == b.shape and bool(np.all(compare.eq(wrap(a), wrap(b)).array))


def isclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Is |input - other| <= atol + rtol * |other|, element by element?  Infinities are close to themselves."""
    a, b = input.array, other.array
    if a.dtype != b.dtype:
        raise RuntimeError(f"{names.SCALAR[a.dtype.name]} did not match {names.SCALAR[b.dtype.name]}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value:g}")
    promote.check_broadcast(a, b)
    with np.errstate(all="ignore"):
        close = a == b
        if a.dtype.kind in "fcV":
            if equal_nan:
                close = close | ((a != a) & (b != b))
            error = np.abs(a - b)
            close = close | (np.isfinite(error) & (error <= atol + np.abs(b) * rtol))
        elif a.dtype.kind in "iu" and (rtol or atol):
            error = np.abs(a - b).astype(promote.default.float_)
            close = close | (error <= atol + np.abs(b * rtol))
    return wrap(close)


def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Are all elements close (isclose)?  A bool."""
    return bool(isclose(input, other, rtol, atol, equal_nan).array.all())


def isnan(input: Any) -> Any:
    """Is it nan?"""
    x = input.array
    return wrap(x != x)


def flags(x: TensorBase, floats: Any, otherwise: bool) -> Any:
    """`floats` of the array, if it is one of floats, else the same everywhere."""
    a = x.array
    return wrap(floats(a) if a.dtype.kind in "fcV" else np.full(a.shape, otherwise))


def isinf(input: Any) -> Any:
    """Is it inf or -inf?"""
    return flags(input, infinite, False)


def infinite(a: Any) -> Any:
    return np.isinf(a) if a.dtype.kind == "c" else (a == np.inf) | (a == -np.inf)


def isfinite(input: Any) -> Any:
    """Is it neither infinite nor nan?"""
    return flags(input, np.isfinite, True)


def isposinf(input: Any, *, out: Any = None) -> Any:
    """Is it inf?"""
    return flags(input, lambda a: a == np.inf, False)


def isneginf(input: Any, *, out: Any = None) -> Any:
    """Is it -inf?"""
    return flags(input, lambda a: a == -np.inf, False)


def signbit(input: Any, *, out: Any = None) -> Any:
    """Is the sign bit set?  It is for -0.0."""
    x = input.array
    return wrap(np.signbit(x) if x.dtype.kind in "fV" else np.less(x, 0))


def is_nonzero(input: Any) -> bool:
    """Is the only element nonzero?  RuntimeError unless there is exactly one."""
    x = input.array
    if x.size != 1:
        what = "no values" if x.size == 0 else "more than one value"
        raise RuntimeError(f"Boolean value of Tensor with {what} is ambiguous")
    return bool(x.reshape(()))


def is_floating_point(input: Any) -> bool:
    """Is the dtype a float?"""
    return tensor(input, "is_floating_point").array.dtype.kind in "fV"


def is_signed(input: Any) -> bool:
    """Can the dtype hold negative numbers?"""
    return input.array.dtype.kind in "ifcV"


def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """Is each element among test_elements?"""
    def array(x: Any) -> Any:
        a = x.array if isinstance(x, TensorBase) else np.asarray(x)
        if a.dtype.kind in "bc":
            raise RuntimeError(f"Unsupported input type encountered for isin(): {names.SCALAR[a.dtype.name]}")
        return order.sortable(a)
    return wrap(np.isin(array(elements), array(test_elements), invert=invert))
