"""Comparisons: bool results, no gradient."""
from __future__ import annotations

from typing import Any, Final, Optional, final

import numpy

from .._engine import names, promote, views
from .._engine.modes import modes
from .._engine.node import Array, Value
from .._engine.op import Binary, Unary
from .._engine.tensor import TensorBase, wrap

np: Final[Any] = numpy


def compare(how: Any, a: Value, b: Value) -> Value:
    """how(a, b) in PyTorch's common dtype."""
    ours, its = isinstance(a, TensorBase), isinstance(b, TensorBase)
    if not ours and not its:
        return how(a, b)
    if ours:
        a = a.array
    if its:
        b = b.array
    if not (its and ours) and not comparable(a if its else b):
        return NotImplemented                   # Python words the TypeError of x < None
    if not its:
        b = promote.beside(b, a, promote.SAME)
    elif not ours:
        a = promote.beside(a, b, promote.SAME)
    if not (type(a) is np.ndarray and type(b) is np.ndarray and a.dtype is b.dtype):
        a, b = promote.operands(a, b, promote.SAME)
    if modes.imaginary and (is_imaginary(a) or is_imaginary(b)):
        if how in ORDERS:
            promote.check_broadcast(a, b)
            raise NotImplementedError(f"\"{ORDERS[how]}_cpu\" not implemented for '{names.SCALAR[np.asarray(a).dtype.name]}'")
        same = same_parts(a, b)
        if same is not None:
            return wrap(how(same, BOTH))
    try:
        if is_huge(a) or is_huge(b):
            with np.errstate(over="ignore"):        # inf, in a narrow dtype
                return wrap(how(a, b))
        return wrap(how(a, b))
    except ValueError:
        promote.check_broadcast(a, b)
        raise


BOTH: Final[Any] = numpy.uint16(257)        # two bools that are true


def same_parts(a: Array, b: Array) -> Array:
    """Which parts of complex numbers are equal, as pairs of bools; None unless both lie in C order, of one shape or b a number.

    NumPy's loops over complex numbers take no vectors.
    """
    if type(a) is np.ndarray and not np.ndim(b):
        b = np.full(a.shape, b, a.dtype)
    if type(a) is not np.ndarray or type(b) is not np.ndarray or a.dtype is not b.dtype or a.shape != b.shape or not a.ndim:
        return None
    if not (a.flags.c_contiguous and b.flags.c_contiguous):
        return None
    parts: Any = a.real.dtype
    return np.equal(a.view(parts), b.view(parts)).view(np.uint16)


def is_imaginary(x: Value) -> bool:
    if type(x) is np.ndarray:
        kind: str = x.dtype.kind
        return kind == "c"
    return isinstance(x, (complex, np.complexfloating))


def nonzero(x: Array) -> Array:
    """Which numbers are not zero; bools as they are."""
    if x.dtype.kind == "c" and x.ndim and x.flags.c_contiguous:
        parts: Any = x.real.dtype
        return np.not_equal(np.not_equal(x.view(parts), 0).view(np.uint16), 0)
    return x if x.dtype.kind == "b" else x != 0


ORDERS: Final = {np.less: "lt", np.less_equal: "le", np.greater: "gt", np.greater_equal: "ge"}


def is_huge(x: Value) -> bool:
    return isinstance(x, float) and not -60000.0 < x < 60000.0


def comparable(x: Value) -> bool:
    if isinstance(x, (np.ndarray, np.generic)):
        return x.dtype.kind in promote.NUMBERS
    return isinstance(x, (bool, int, float, complex))


def lt(a: Value, b: Value) -> Value:
    return compare(np.less, a, b)


def le(a: Value, b: Value) -> Value:
    return compare(np.less_equal, a, b)


def gt(a: Value, b: Value) -> Value:
    return compare(np.greater, a, b)


def ge(a: Value, b: Value) -> Value:
    return compare(np.greater_equal, a, b)


def eq(a: Value, b: Value) -> Value:
    return compare(np.equal, a, b)


def ne(a: Value, b: Value) -> Value:
    return compare(np.not_equal, a, b)


def bit_and(a: Value, b: Value) -> Value:
    return bitwise("and", np.bitwise_and, a, b)


def bit_or(a: Value, b: Value) -> Value:
    return bitwise("or", np.bitwise_or, a, b)


def bit_xor(a: Value, b: Value) -> Value:
    return bitwise("xor", np.bitwise_xor, a, b)


def bitwise(name: str, how: Any, a: Value, b: Value) -> Value:
    refuse_floats(f"bitwise_{name}_cpu", a, b)
    return compare(how, a, b)


def left_shift(a: Value, b: Value) -> Value:
    return shifted("lshift_cpu", np.left_shift, a, b)


def right_shift(a: Value, b: Value) -> Value:
    return shifted("rshift_cpu", np.right_shift, a, b)


def shifted(op: str, how: Any, a: Value, b: Value) -> Value:
    refuse_floats(op, a, b)
    return compare(how, a, b)


def truth(how: Any, a: TensorBase, b: TensorBase) -> TensorBase:
    """A logical ufunc of two tensors of any dtypes."""
    try:
        if modes.imaginary:
            return wrap(how(nonzero(a.array), nonzero(b.array)))
        return wrap(how(a.array, b.array))
    except ValueError:
        promote.check_broadcast(a.array, b.array)
        raise


class Overwritten(Unary):
    """In place, a value compared with a number: the gradient is zero."""

    def __init__(self, value: Array) -> None:
        self.value: Any = value

    def forward(self, x: Array) -> Array:
        value = self.value
        self.value = None
        return value

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return create.zeros_like(g)


class OverwrittenByTwo(Binary):
    """In place, a value compared with a tensor: both gradients are zero."""

    def __init__(self, value: Array) -> None:
        self.value: Any = value

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        self.note_shapes(ta, tb)
        value = self.value
        self.value = None
        return value

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class EqBackward0(Overwritten):
    pass


@final
class EqBackward1(OverwrittenByTwo):
    pass


@final
class NeBackward0(Overwritten):
    pass


@final
class NeBackward1(OverwrittenByTwo):
    pass


@final
class LtBackward0(Overwritten):
    pass


@final
class LtBackward1(OverwrittenByTwo):
    pass


@final
class LeBackward0(Overwritten):
    pass


@final
class LeBackward1(OverwrittenByTwo):
    pass


@final
class GtBackward0(Overwritten):
    pass


@final
class GtBackward1(OverwrittenByTwo):
    pass


@final
class GeBackward0(Overwritten):
    pass


@final
class GeBackward1(OverwrittenByTwo):
    pass


NODES: Final[Any] = {
    "eq": (EqBackward0, EqBackward1),
    "ne": (NeBackward0, NeBackward1),
    "lt": (LtBackward0, LtBackward1),
    "le": (LeBackward0, LeBackward1),
    "gt": (GtBackward0, GtBackward1),
    "ge": (GeBackward0, GeBackward1),
}


def into(x: TensorBase, y: TensorBase, name: str, other: Value) -> Any:
    """Write the comparison `name` of x and other into x."""
    if isinstance(other, TensorBase):
        return NODES[name][1](y.array).run_(x, other)
    return NODES[name][0](y.array).run_(x)


def replace(x: TensorBase, y: TensorBase) -> TensorBase:
    """Write y into x; PyTorch does not record it."""
    views.guard_memory(x)
    views.store(x, y.array, False)
    return x


def invert(x: Value) -> Value:
    if isinstance(x, TensorBase) and x.array.dtype.kind in "fVc":
        raise TypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
    return wrap(np.invert(x.array)) if isinstance(x, TensorBase) else np.invert(x)


KINDS: Final = {"float32": "Float", "float64": "Double", "float16": "Half", "bfloat16": "BFloat16",
                "complex64": "ComplexFloat", "complex128": "ComplexDouble"}


def refuse_floats(op: str, a: Value, b: Value) -> None:
    """Of two tensors of different dtypes, the one in which they would meet is named."""
    if not isinstance(b, (TensorBase, bool, int, float, complex, np.generic)):
        return                                  # no operand, which is said instead
    if isinstance(a, TensorBase) and isinstance(b, TensorBase):
        name = promote.result_dtype([a.array, b.array]).name
        if name in KINDS:
            promote.check_broadcast(a.array, b.array)
            raise NotImplementedError(f"\"{op}\" not implemented for '{KINDS[name]}'")
    refuse_float(op, a)
    refuse_float(op, b)


def refuse_float(op: str, x: Value) -> None:
    name = "float32" if isinstance(x, (float, np.floating, np.bool_)) else "complex64" if is_imaginary(x) else ""
    if isinstance(x, TensorBase):
        name = x.array.dtype.name
    if name in KINDS:
        raise NotImplementedError(f"\"{op}\" not implemented for '{KINDS[name]}'")


from . import create  # noqa: E402
