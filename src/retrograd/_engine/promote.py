"""Which dtype two operands meet in: PyTorch's rules, where numbers and 0-dim tensors are weak.

Source: PyTorch, "Tensor Attributes", type promotion.  NumPy's rules differ: int64 + float32 is float64 there.
"""
from __future__ import annotations

from typing import Any, Final

import numpy
from mypy_extensions import mypyc_attr, u8

from .modes import meet_complex
from .node import Shape

SAME: Final[u8] = 0         # common dtype
FLOAT: Final[u8] = 1        # common dtype, integers become the default float (division, exp, ...)

np: Final[Any] = numpy
BOOL: Final[Any] = numpy.dtype("bool")
INT: Final[Any] = numpy.dtype("int64")
SINGLE: Final[Any] = numpy.dtype("float32")
COMPLEX: Final[Any] = numpy.dtype("complex64")
WIDE_COMPLEX: Final[Any] = numpy.dtype("complex128")


class Default:
    """torch.get_default_dtype() as a NumPy dtype."""

    def __init__(self) -> None:
        self.float_: Any = numpy.dtype("float32")


default: Final = Default()
_table: Final[dict[Any, Any]] = {}


def is_float(dtype: Any) -> bool:
    return dtype.kind == "f" or dtype.kind == "V"       # ml_dtypes' bfloat16 has kind V


def is_inexact(dtype: Any) -> bool:
    return dtype.kind == "f" or dtype.kind == "V" or dtype.kind == "c"


def complex_of(dtype: Any) -> Any:
    """The complex dtype whose parts are of this one; of integers, the default one."""
    meet_complex()
    if dtype.kind == "c":
        return dtype
    if not is_float(dtype):
        return complex_of(default.float_)
    if dtype.char == "e":
        raise NotImplementedError(NO_HALVES)
    return WIDE_COMPLEX if dtype.itemsize == 8 else COMPLEX


NO_HALVES: Final = "retrograd has no tensors of torch.complex32: write .float() before float16 meets complex numbers"


def promote_types(a: Any, b: Any) -> Any:
    """The dtype both fit in, as torch.promote_types."""
    if a is b:
        return a
    found = _table.get((a, b))
    if found is None:
        fa = is_float(a)
        fb = is_float(b)
        if a.kind == "c" or b.kind == "c":
            meet_complex()
            if a.kind == "c" and b.kind == "c":
                found = a if a.itemsize > b.itemsize else b
            elif not is_inexact(a) or not is_inexact(b):
                found = a if a.kind == "c" else b
            else:
                real, whole = (b, a) if a.kind == "c" else (a, b)
                found = WIDE_COMPLEX if real.itemsize == 8 else whole
        elif fa and fb:
            found = a if a.itemsize > b.itemsize else b
            if a.itemsize == b.itemsize and a != b:     # float16 with bfloat16
                found = SINGLE
        elif fa:
            found = a
        elif fb:
            found = b
        else:
            found = np.promote_types(a, b)
        found = _table[(a, b)] = np.dtype(found.type)      # NumPy's own object: that of an unpickled array is another one
    return found


@mypyc_attr(native_class=False)               # mypyc cannot compile exceptions
class Foreign(TypeError):
    """An operand of no kind we know: operators then return NotImplemented, and Python words the error."""


def check_long(x: int) -> None:
    """OverflowError for an int of more than 64 bits, which no tensor takes as a number."""
    if x >= 1 << 64:
        raise OverflowError("int too big to convert")
    if x < -(1 << 63):
        raise OverflowError("can't convert negative int to unsigned")


def plain(x: Any) -> Any:
    """The Python number that a NumPy scalar stands for, a float where it is a bool, as in PyTorch."""
    return float(x) if isinstance(x, np.bool_) else x.item()


def number_dtype(x: Any) -> Any:
    """The dtype a Python number stands for."""
    if isinstance(x, bool):
        return BOOL
    if isinstance(x, int):
        check_long(x)
        return INT
    if isinstance(x, float):
        return default.float_
    if isinstance(x, complex):
        return complex_of(default.float_)
    raise Foreign(
        f"unsupported operand type: expected a Tensor, a NumPy array or a Python bool, int or float, but got "
        f"{type(x).__name__}")


def combine(high: Any, low: Any) -> Any:
    """The strong category decides, unless the weak one is of a higher kind (bool < int < float < complex)."""
    if high is None or low is None:
        return low if high is None else high
    if high.kind == "c":
        return high
    if is_float(high):
        return complex_of(high) if low.kind == "c" else high
    if high == BOOL or is_inexact(low):
        return promote_types(high, low)
    return high


def result_dtype(xs: list[Any]) -> Any:
    """Common dtype of arrays and Python numbers."""
    dim: Any = None
    zero: Any = None
    number: Any = None
    for x in xs:
        if isinstance(x, np.ndarray):
            if x.ndim > 0:
                dim = x.dtype if dim is None else promote_types(dim, x.dtype)
            else:
                zero = x.dtype if zero is None else promote_types(zero, x.dtype)
        elif isinstance(x, np.generic) and not isinstance(x, (float, complex)):     # what arithmetic of 0-dim arrays made
            zero = x.dtype if zero is None else promote_types(zero, x.dtype)
        else:
            d = number_dtype(x)
            number = d if number is None else promote_types(number, d)
    return combine(dim, combine(zero, number))


def operands(a: Any, b: Any, kind: u8) -> tuple[Any, Any]:
    """Both operands ready for NumPy: arrays in the common dtype, Python numbers that NumPy takes as weak."""
    dtype = result_dtype([a, b])
    if kind == FLOAT and not is_inexact(dtype):
        dtype = default.float_
    return to(a, dtype), to(b, dtype)


NUMBERS: Final = "biufcV"                   # kinds of dtypes; V: bfloat16


def joint(a: Any, b: Any) -> Any:
    """The dtype in which a tensor's array and another one meet: as in PyTorch, NumPy's rules say it."""
    for x in (a, b):
        if x.dtype.kind not in NUMBERS:
            raise TypeError(f"expected an array of numbers beside a tensor, got one of dtype {x.dtype}")
    return np.promote_types(a.dtype, b.dtype)


def beside(b: Any, a: Any, kind: u8) -> Any:
    """What is no tensor, as it goes with a tensor's array a.  NumPy's scalars are Python numbers."""
    if isinstance(b, np.generic):
        return plain(b)
    if not isinstance(b, np.ndarray):
        return b
    dtype = joint(a, b)
    if kind == FLOAT and not is_inexact(dtype):
        dtype = np.dtype("float64")
    return b.astype(dtype).reshape((1,) * (a.ndim - b.ndim) + b.shape)


def to(x: Any, dtype: Any) -> Any:
    if isinstance(x, np.ndarray):
        return x if x.dtype is dtype else x.astype(dtype)
    if dtype.kind == "c":
        return np.asarray(x, dtype)
    if isinstance(x, np.generic) and not isinstance(x, float):
        return np.asarray(x).astype(dtype)
    if is_float(dtype):
        return np.asarray(x, dtype) if dtype.kind == "V" else float(x)
    if dtype == BOOL:
        return np.asarray(x).astype(dtype)
    return np.asarray(int(x)).astype(dtype)             # wraps around, as PyTorch does


# NOTE [Numbers beside half precision]
# As in PyTorch: a product, quotient or scaled sum of half-precision numbers and one number is computed in float32 and
# rounded once.  The number keeps its digits in products and quotients: so a loss in float16 can be scaled by 65536, which no
# float16 is.  In a + number * b it is rounded, too.

def is_half(x: Any) -> bool:
    return isinstance(x, np.ndarray) and x.dtype.itemsize == 2 and is_float(x.dtype)


def is_one(x: Any) -> bool:
    """A number, or a 0-dim array of real ones?"""
    if isinstance(x, np.ndarray):
        return x.ndim == 0 and x.dtype.kind != "c"
    return isinstance(x, float) or (isinstance(x, int) and -(1 << 63) <= x < 1 << 64)


def times(x: Any, number: Any) -> Any:
    """x * number, in x's dtype.  NOTE [Numbers beside half precision]"""
    if is_half(x) and is_one(number):
        return (x.astype(SINGLE) * np.float32(number)).astype(x.dtype)
    return x * number


def over(x: Any, number: Any) -> Any:
    """x / number, in x's dtype.  NOTE [Numbers beside half precision]"""
    if is_half(x) and is_one(number):
        return (x.astype(SINGLE) / np.float32(number)).astype(x.dtype)
    return x / number


def plus(a: Any, b: Any, number: Any) -> Any:
    """a + number * b, in b's dtype.  NOTE [Numbers beside half precision]"""
    if is_half(b):
        return (np.asarray(a).astype(SINGLE) + b.astype(SINGLE) * np.asarray(number, b.dtype).astype(SINGLE)).astype(b.dtype)
    return a + b * number


def minus(a: Any, b: Any, number: Any) -> Any:
    """a - number * b, likewise."""
    return plus(a, b, -number) if is_half(b) else a - b * number


def check_broadcast(a: Any, b: Any) -> None:
    """RuntimeError in PyTorch's words when two operands do not broadcast."""
    check_shapes(getattr(a, "shape", ()), getattr(b, "shape", ()))


def check_shapes(sa: Shape, sb: Shape) -> None:
    n = max(len(sa), len(sb))
    for i in range(1, n + 1):
        na = sa[-i] if i <= len(sa) else 1
        nb = sb[-i] if i <= len(sb) else 1
        if na != nb and na != 1 and nb != 1:
            raise RuntimeError(
                f"The size of tensor a ({na}) must match the size of tensor b ({nb}) at non-singleton dimension {n - i}")
