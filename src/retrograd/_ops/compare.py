"""Comparisons: bool results, no gradient."""
from __future__ import annotations

from typing import Any, Final

import numpy

from .._engine import promote
from .._engine.node import Value
from .._engine.tensor import TensorBase, wrap

np: Final[Any] = numpy


def compare(how: Any, a: Value, b: Value) -> Value:
    """how(a, b) in PyTorch's common dtype."""
    some = isinstance(a, TensorBase) or isinstance(b, TensorBase)
    if isinstance(a, TensorBase):
        a = a.array
    if isinstance(b, TensorBase):
        b = b.array
    if not some:
        return how(a, b)
    if not (type(a) is np.ndarray and type(b) is np.ndarray and a.dtype is b.dtype):
        a, b = promote.operands(a, b, promote.SAME)
    try:
        return wrap(how(a, b))
    except ValueError:
        promote.check_broadcast(a, b)
        raise


def lt(a: Value, b: Value) -> Value:
    return compare(np.less, a, b)


def le(a: Value, b: Value) -> Value:
    return compare(np.less_equal, a, b)


def gt(a: Value, b: Value) -> Value:
    return compare(np.greater, a, b)


def ge(a: Value, b: Value) -> Value:
    return compare(np.greater_equal, a, b)


def eq(a: Value, b: Value) -> Value:
    return False if b is None or isinstance(b, str) else compare(np.equal, a, b)


def ne(a: Value, b: Value) -> Value:
    return True if b is None or isinstance(b, str) else compare(np.not_equal, a, b)


def bit_and(a: Value, b: Value) -> Value:
    return bitwise("and", np.bitwise_and, a, b)


def bit_or(a: Value, b: Value) -> Value:
    return bitwise("or", np.bitwise_or, a, b)


def bit_xor(a: Value, b: Value) -> Value:
    return bitwise("xor", np.bitwise_xor, a, b)


def bitwise(name: str, how: Any, a: Value, b: Value) -> Value:
    refuse_float(f"bitwise_{name}_cpu", a)
    refuse_float(f"bitwise_{name}_cpu", b)
    return compare(how, a, b)


def invert(x: Value) -> Value:
    refuse_float("bitwise_not_cpu", x)
    return wrap(np.invert(x.array)) if isinstance(x, TensorBase) else np.invert(x)


KINDS: Final = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16"}


def refuse_float(op: str, x: Value) -> None:
    name = "float32" if isinstance(x, float) else ""
    if isinstance(x, TensorBase):
        name = x.array.dtype.name
    if name in KINDS:
        raise NotImplementedError(f"\"{op}\" not implemented for '{KINDS[name]}'")
