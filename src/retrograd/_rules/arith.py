"""Arithmetic."""
from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .. import _kernels
from .._engine import names, promote
from .._engine.modes import modes, state
from .._engine.node import Array, Node, Value
from .._engine.op import A, B, Binary, Unary, Y, foreign, is_complex, once, recording
from .._engine.tensor import TensorBase, bump, wrap
from .._engine.warn import instead
from .._kernels import kernel
from . import by_parts
from .packed import packed

np: Final[Any] = numpy
FEW: Final = 32                             # so few powers take no longer than finding out their signs
WIDE: Final[Any] = (numpy.dtype("float32"), numpy.dtype("float64"))
quick_remainder: Final[Any] = kernel("remainder")
quick_floor_divide: Final[Any] = kernel("floor_divide")
quick_scaled: Final[Any] = kernel("add_scaled")
quick_scaled_into: Final[Any] = kernel("add_scaled_into")
ONE: Final[Any] = 1                         # as an object: CPython has one of each small int
add_kernel: Final[Any] = _kernels.add
sub_kernel: Final[Any] = _kernels.sub
mul_kernel: Final[Any] = _kernels.mul
div_kernel: Final[Any] = _kernels.div
add_into_kernel: Final[Any] = _kernels.add_into
sub_into_kernel: Final[Any] = _kernels.sub_into
mul_into_kernel: Final[Any] = _kernels.mul_into
div_into_kernel: Final[Any] = _kernels.div_into
quick_mul: Final[Any] = _kernels.absent if _kernels.mul is None else _kernels.mul       # for rules, which get Tensors, too
quick_div: Final[Any] = _kernels.absent if _kernels.div is None else _kernels.div
quick_once: Final[Any] = _kernels.absent if _kernels.once is None else _kernels.once


@final
class AddBackward0(Binary):
    """a + alpha * b"""

    shows: ClassVar[Any] = {"alpha": "alpha"}
    alpha: Any = 1

    def quick(self, a: Array, b: Array) -> Array:
        if self.alpha != 1:
            return quick_scaled(a, b, self.alpha)
        return None if add_kernel is None else add_kernel(a, b)

    def quick_(self, a: Array, b: Array) -> bool:
        if self.alpha != 1:
            return quick_scaled_into(a, b, self.alpha) is not None
        return add_into_kernel is not None and add_into_kernel(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        return a + b if self.alpha == 1 else promote.plus(a, b, self.alpha)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g if self.alpha == 1 else promote.times(g, self.alpha)


@final
class SubBackward0(Binary):
    """a - alpha * b"""

    shows: ClassVar[Any] = {"alpha": "alpha"}
    alpha: Any = 1

    def quick(self, a: Array, b: Array) -> Array:
        if self.alpha != 1:
            return quick_scaled(a, b, -self.alpha)
        return None if sub_kernel is None else sub_kernel(a, b)

    def quick_(self, a: Array, b: Array) -> bool:
        if self.alpha != 1:
            return quick_scaled_into(a, b, -self.alpha) is not None
        return sub_into_kernel is not None and sub_into_kernel(a, b)

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        refuse_bool(ta.array if ta is not None else a, tb.array if tb is not None else b)
        return super().compute(a, b, ta, tb)

    def forward(self, a: Array, b: Array) -> Array:
        return a - b if self.alpha == 1 else promote.minus(a, b, self.alpha)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        quick = quick_minus(g, self.alpha)
        return (-g if self.alpha == 1 else promote.times(g, -self.alpha)) if quick is None else quick


@final
class RsubBackward0(Binary):
    """b - alpha * a"""

    shows: ClassVar[Any] = {"alpha": "alpha"}
    alpha: Any = 1

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        refuse_bool(tb.array if tb is not None else b, ta.array if ta is not None else a)
        return super().compute(a, b, ta, tb)

    def forward(self, a: Array, b: Array) -> Array:
        return b - a if self.alpha == 1 else promote.minus(b, a, self.alpha)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return -g if self.alpha == 1 else promote.times(g, -self.alpha)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g


@final
class RsubBackward1(Unary):
    """number - alpha * x"""

    shows: ClassVar[Any] = {"alpha": "alpha"}
    alpha: Any = 1

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        refuse_bool(x, self.number)
        n, x = promote.operands(self.number, x, promote.SAME)
        return n - x if self.alpha == 1 else promote.minus(n, x, self.alpha)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return -g if self.alpha == 1 else promote.times(g, -self.alpha)


class Scaling(Binary):
    """A product or quotient.  NOTE [Numbers beside half precision] in promote.py"""

    def compute(self, a: Value, b: Value, ta: Optional[TensorBase], tb: Optional[TensorBase]) -> Array:
        xa: Array = ta.array if ta is not None else a
        xb: Array = tb.array if tb is not None else b
        if promote.is_half(xa) and promote.is_one(xb) and (tb is None or xa.ndim):
            self.note_shapes(ta, tb)
            return np.asarray(self.forward(xa.astype(promote.SINGLE), np.float32(xb))).astype(xa.dtype)
        return super().compute(a, b, ta, tb)


@final
class MulBackward0(Scaling):
    def quick(self, a: Array, b: Array) -> Array:
        return None if mul_kernel is None else mul_kernel(a, b)

    def quick_(self, a: Array, b: Array) -> bool:
        return mul_into_kernel is not None and mul_into_kernel(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        return by_parts.times(a, b) if modes.imaginary else a * b

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        quick = quick_mul(g, b)
        return by_parts.times(g, b) if quick is None else quick

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        quick = quick_mul(g, a)
        return by_parts.times(g, a) if quick is None else quick


@final
class DivBackward0(Scaling):
    kind = promote.FLOAT

    def quick(self, a: Array, b: Array) -> Array:
        return None if div_kernel is None else div_kernel(a, b)

    def quick_(self, a: Array, b: Array) -> bool:
        return div_into_kernel is not None and div_into_kernel(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        return by_parts.over(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        quick = quick_div(g, b)
        return by_parts.over(g, b) if quick is None else quick

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return -g * ((a / b) / b)


@final
class DivBackward2(Binary):
    """a / b rounded down or towards zero: the derivative is zero."""

    reads_a = B                                 # as PyTorch
    reads_b = A | B
    shows: ClassVar[Any] = {"rounding_mode": "rounding"}

    def __init__(self, rounding: str) -> None:
        self.rounding = rounding

    def quick(self, a: Array, b: Array) -> Array:
        return quick_floor_divide(a, b) if self.rounding == "floor" else None

    def forward(self, a: Array, b: Array) -> Array:
        if np.asarray(a).dtype.kind in "iubc":
            refuse_zero(a, b, f"div_{self.rounding}")
            down = np.floor_divide(a, b)
            if self.rounding == "floor":
                return down
            return down + ((down < 0) & (down * b != a))
        return np.floor_divide(a, b) if self.rounding == "floor" else np.trunc(np.true_divide(a, b))

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class NegBackward0(Unary):
    def quick(self, x: Array) -> Array:
        return once(np.negative, x)

    def forward(self, x: Array) -> Array:
        if x.dtype.kind == "b":
            raise RuntimeError(
                "Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                "use the `~` or `logical_not()` operator instead.")
        if x.dtype.kind == "c" and x.ndim and x.flags.c_contiguous:
            parts: Any = x.real.dtype           # NumPy's loop over them takes vectors, that over complex numbers does not
            return np.negative(x.view(parts)).view(x.dtype)
        return -x

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        quick = quick_once(np.negative, g)
        return -g if quick is None else quick


@final
class ReciprocalBackward0(Unary):
    def forward(self, x: Array) -> Array:
        return by_parts.over(promote.to(1, x.dtype), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return -g * (y * y)


@final
class PowBackward0(Unary):
    """x ** number"""

    shows: ClassVar[Any] = {"exponent": "exponent"}

    def __init__(self, exponent: Any) -> None:
        self.exponent: Any = exponent

    def quick(self, x: Array) -> Array:
        n = self.exponent
        if mul_kernel is None or (type(n) is not int and type(n) is not float) or (n != 2 and n != 3):
            return None
        y = mul_kernel(x, x)
        if y is None:
            return by_parts.quick_times(x, x) if n == 2 else None
        return y if n == 2 else mul_kernel(y, x)

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.exponent, promote.SAME)
        if x.dtype.kind in "iu" and self.exponent < 0:
            raise RuntimeError("Integers to negative integer powers are not allowed.")
        if x.dtype.kind in "iu" and self.exponent > np.iinfo(x.dtype).max:
            raise RuntimeError(f"value cannot be converted to type {index.FIXED[x.dtype.name]} without overflow")
        if x.dtype.kind == "b":
            return x if self.exponent else ~x | x
        return x ** n if x.dtype.kind in "iu" else raised(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        quick = quick_square_grad(g, x, self.exponent)
        if quick is not None:
            return quick
        if self.exponent == 0:
            return create.zeros_like(g)
        if self.exponent == 2 and not isinstance(x, TensorBase):
            return g * (x * 2)
        return g * (pow(x, self.exponent - 1) * self.exponent)


@final
class PowBackward1(Binary):
    """a ** b"""

    reads_a = A | B | Y                         # as PyTorch
    names: ClassVar[Any] = {"self": "a", "exponent": "b", "result": "y"}

    def forward(self, a: Array, b: Array) -> Array:
        return power(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(b == 0.0, 0.0, g * (b * pow(a, b - 1)))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        still = keeps_zero(b)
        zero = (a == 0.0) & still if isinstance(a, TensorBase) else np.logical_and(a == 0.0, still)
        return choose.where(zero, 0.0, g * (y * pointwise.log(cast.cast_like(a, g))))


def keeps_zero(b: Value) -> Value:
    """Where b, an exponent, is real and not negative: 0 ** b does not change with it."""
    return (complexes.real(b) >= 0.0) & (complexes.imag(b) == 0.0) if is_complex(b) else b >= 0.0


@final
class PowBackward2(Unary):
    """number ** x"""

    names: ClassVar[Any] = {"exponent": "x", "result": "y"}
    shows: ClassVar[Any] = {"self": "number"}

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.number, x, promote.SAME)
        if self.number == 1 and x.dtype.kind == "c":        # of infinity and nan, too
            return np.ones_like(x)
        return packed(power(n, x))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        if self.number == 0:
            return choose.where(keeps_zero(x), 0.0, g * (y * float("-inf")))
        return g * (y * (np.log(complex(self.number)) if is_complex(y) else float(np.log(self.number))))


@final
class RemainderBackward0(Unary):
    """x % number"""

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def quick(self, x: Array) -> Array:
        return quick_remainder(x, self.number)

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.SAME)
        return modulo(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


@final
class RemainderBackward1(Binary):
    """a - floor(a / b) * b: the sign of the divisor, as Python's %."""

    def quick(self, a: Array, b: Array) -> Array:
        return quick_remainder(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        quick = spread_quotient(quick_remainder, a, b)
        return modulo(a, b) if quick is None else quick

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return -g * div_rounded(a, b, "floor")


@final
class NotImplemented_(Binary):
    """floor_divide, and what else (set_) PyTorch records without a derivative."""

    def __init__(self, what: str) -> None:
        self.what = what

    def name(self) -> str:
        return "torch::autograd::NotImplemented"

    def edge_count(self) -> int:
        return int(self.a_next is not None) + int(self.b_next is not None)

    def edge_node(self, i: int) -> Optional[Node]:
        return self.a_next if i == 0 and self.a_next is not None else self.b_next

    def edge_nr(self, i: int) -> int:
        return self.a_nr if i == 0 and self.a_next is not None else self.b_nr

    def rules(self, g: Value, graph: bool, want_a: bool, want_b: bool) -> tuple[Value, Value]:
        raise RuntimeError(f"derivative for {self.what} is not implemented")

    def quick(self, a: Array, b: Array) -> Array:
        return quick_floor_divide(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        refuse_zero(a, b, "div_floor")
        quick = spread_quotient(quick_floor_divide, a, b)
        return np.floor_divide(a, b) if quick is None else quick


def spread_quotient(quick: Any, a: Array, b: Array) -> Array:
    """Of one number by many: libm's fmod, which NumPy takes, is far slower than a pass more to write the number out."""
    if np.ndim(a) or not isinstance(b, np.ndarray) or b.size <= FEW or b.dtype not in WIDE:
        return None
    return quick(np.full(b.shape, a, b.dtype), b)


def refuse_bool(a: Value, b: Value) -> None:
    """RuntimeError where a bool takes part in a subtraction."""
    bool_a = isinstance(a, bool) or (isinstance(a, np.ndarray) and a.dtype.kind == "b")
    bool_b = isinstance(b, bool) or (isinstance(b, np.ndarray) and b.dtype.kind == "b")
    if bool_a and bool_b:
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
            "operator instead.")
    if bool_a or bool_b:
        raise RuntimeError(BOOL_MIX)


BOOL_MIX: Final = (
    "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)


def refuse_zero(a: Array, b: Array, name: str) -> None:
    """RuntimeError where integers are divided by 0; NotImplementedError where bools are, by the kernel of that name."""
    kind: str = np.asarray(a).dtype.kind
    if kind == "b" or kind == "c":
        promote.check_broadcast(a, b)
        raise NotImplementedError(f"\"{name}_cpu\" not implemented for '{names.SCALAR[np.asarray(a).dtype.name]}'")
    if (kind == "i" or kind == "u") and not np.all(b) and 0 not in np.broadcast_shapes(np.shape(a), np.shape(b)):
        raise RuntimeError("ZeroDivisionError")


def modulo(a: Array, b: Array) -> Array:
    if np.asarray(a).dtype.kind != "f":
        refuse_zero(a, b, "remainder")
        return np.remainder(a, b)
    rest = np.fmod(a, b)
    return np.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)      # keeps the -0. that np.remainder loses


def raised(x: Array, n: Any) -> Array:
    """Floats to the power of a number: by products, quotients and roots for the exponents for which PyTorch does so."""
    if (n in (3, -2) and x.dtype.char == "e") or (n in (-0.5, -1) and x.dtype.kind == "V"):
        return raised(x.astype(promote.SINGLE), float(n)).astype(x.dtype)
    if n == 2:
        return by_parts.times(x, x)
    if n == 3:
        return by_parts.times(by_parts.times(x, x), x)
    if n == 0.5 and x.dtype.char != "e":
        return by_parts.of(np.sqrt, x)
    if n == -0.5 and x.dtype.char != "e":
        return by_parts.over(1.0, by_parts.of(np.sqrt, x))
    if n == -1:
        return by_parts.over(1.0, x)
    if n == -2:
        return raised(by_parts.times(x, x), -1)
    if n == 1:
        return +x
    return np.ones_like(x) if n == 0 else power(x, n)


def power(a: Array, b: Array) -> Array:
    if np.asarray(a).dtype.kind in "iu":
        down = np.asarray(b) < 0
        if np.any(down):                        # 1 / a ** -b, rounded towards 0
            return np.where(down, (a == 1) + (a == -1) * (1 - 2 * (b & 1)), np.power(a, np.where(down, 0, b))).astype(
                np.asarray(a).dtype)
    if np.asarray(a).dtype.kind == "b":
        raise NotImplementedError("\"pow\" not implemented for 'Bool'")
    if isinstance(a, np.ndarray) and a.size > FEW and a.dtype in WIDE and np.minimum.reduce(a, None) < 0:
        return power_of_negative(a, b)
    return by_parts.power(a, b) if modes.imaginary else np.power(a, b)


def power_of_negative(a: Array, b: Array) -> Array:
    """np.power, which takes 100 ns for a negative number and 1 ns for a positive one: by its size, then the sign."""
    y = np.power(np.abs(a), b)
    whole = np.floor(b) == b
    odd = whole & (np.floor(b * 0.5) * 2 != b)
    if np.ndim(b) == 0:
        return np.copysign(y, a) if odd else y if whole else np.where((a < 0) & np.isfinite(a), np.nan, y)
    return np.where(odd, np.copysign(y, a), np.where(whole | ~((a < 0) & np.isfinite(a)), y, np.nan))


def quick_minus(g: Value, alpha: Any) -> Array:
    """-alpha * g"""
    return quick_once(np.negative, g) if alpha == 1 else quick_mul(g, -alpha)


def quick_square_grad(g: Value, x: Value, n: Any) -> Array:
    """The rule of x ** n for n = 2."""
    return quick_mul(g, quick_mul(x, 2)) if n == 2 else None


def plain(kernel: Any, a: Value, b: Value) -> Optional[TensorBase]:
    """The result of an op that nobody records or observes, when a kernel can make it: no node is made for it."""
    if kernel is None or not isinstance(a, TensorBase) or modes.observer is not None or recording(a):
        return None
    y: Array = None
    if isinstance(b, TensorBase):
        if not recording(b):
            y = kernel(a.array, b.array)
    elif type(b) is float or type(b) is int:
        y = kernel(a.array, b)
    return None if y is None else wrap(y)


def plain_(kernel: Any, a: TensorBase, b: Value) -> bool:
    """In place: did a kernel do it?  As for `plain`; what may be refused or overlaps is left to the node."""
    if kernel is None or modes.observer is not None or recording(a):
        return False
    if not modes.usual and state().mutation is not None:
        return False
    done = False
    if isinstance(b, TensorBase):
        if not recording(b) and (b is a or b.version is None or b.version is not a.version):
            views.guard(a, False)
            done = kernel(a.array, b.array)
    elif type(b) is float or type(b) is int:
        views.guard(a, False)
        done = kernel(a.array, b)
    if done:
        bump(a)
    return done


def add(a: Value, b: Value) -> Value:
    y = plain(add_kernel, a, b)
    return AddBackward0().run(a, b) if y is None else y


def add_scaled(a: Value, b: Value, alpha: Any) -> Value:
    op = AddBackward0()
    op.alpha = alpha
    return op.run(a, b)


def add_(a: TensorBase, b: Value, alpha: Any = 1) -> Any:
    if alpha is ONE and plain_(add_into_kernel, a, b):
        return a
    op = AddBackward0()
    op.alpha = alpha
    return op.run_(a, b)


def accumulate(total: TensorBase, x: Array) -> None:
    """total += x, outside any graph."""
    if total.inference:
        views.guard(total, False)
    if add_into_kernel is None or not add_into_kernel(total.array, x):
        np.add(total.array, x, out=total.array, casting="unsafe")
    bump(total)


def sub(a: Value, b: Value) -> Value:
    y = plain(sub_kernel, a, b)
    return SubBackward0().run(a, b) if y is None else y


def sub_scaled(a: Value, b: Value, alpha: Any) -> Value:
    op = SubBackward0()
    op.alpha = alpha
    return op.run(a, b)


def sub_(a: TensorBase, b: Value, alpha: Any = 1) -> Any:
    if alpha is ONE and plain_(sub_into_kernel, a, b):
        return a
    op = SubBackward0()
    op.alpha = alpha
    return op.run_(a, b)


def rsub(a: Value, b: Value, alpha: Any = 1) -> Value:
    """b - alpha * a"""
    if isinstance(b, (bool, int, float, complex)):
        of_number = RsubBackward1(b)
        of_number.alpha = alpha
        return of_number.run(a)
    op = RsubBackward0()
    op.alpha = alpha
    return op.run(a, b)


def mul(a: Value, b: Value) -> Value:
    y = plain(mul_kernel, a, b)
    return MulBackward0().run(a, b) if y is None else y


def mul_(a: TensorBase, b: Value) -> Any:
    return a if plain_(mul_into_kernel, a, b) else MulBackward0().run_(a, b)


def div(a: Value, b: Value) -> Value:
    y = plain(div_kernel, a, b)
    return DivBackward0().run(a, b) if y is None else y


def div_(a: TensorBase, b: Value) -> Any:
    return a if plain_(div_into_kernel, a, b) else DivBackward0().run_(a, b)


def div_rounded(a: Value, b: Value, rounding: str) -> Value:
    """rounding 'floor' or 'trunc'"""
    return DivBackward2(rounding).run(a, b)


def div_rounded_(a: TensorBase, b: Value, rounding: str) -> TensorBase:
    return DivBackward2(rounding).run_(a, b)


def neg(x: Value) -> Value:
    return NegBackward0().run(x)


def neg_(x: TensorBase) -> TensorBase:
    return NegBackward0().run_(x)


def reciprocal(x: Value) -> Value:
    return ReciprocalBackward0().run(cast.floating(x))


def reciprocal_(x: TensorBase) -> TensorBase:
    return ReciprocalBackward0().run_(x)


def pow(a: Value, b: Value) -> Value:
    if isinstance(a, np.generic):                   # a number beside a tensor, else what arithmetic of 0-dim arrays made
        a = promote.plain(a) if isinstance(b, TensorBase) else np.asarray(a)
    try:
        if not isinstance(b, (TensorBase, np.ndarray, np.generic)):
            return PowBackward0(b).run(a)
        if not isinstance(a, (TensorBase, np.ndarray, np.generic)):
            return PowBackward2(a).run(b)
    except promote.Foreign:
        if hasattr(b, "__rpow__") or hasattr(type(b), "__torch_function__"):
            return NotImplemented
        raise instead(TypeError(                        # compiled, the operator would name itself `**`, not `** or pow()`
            f"unsupported operand type(s) for ** or pow(): '{type(a).__name__}' and '{type(b).__name__}'")) from None
    return PowBackward1().run(a, b)


def pow_(a: TensorBase, b: Value) -> Any:
    if isinstance(b, TensorBase):
        return PowBackward1().run_(a, b)
    if not isinstance(b, (int, float, complex)) and foreign(a, b):
        return NotImplemented
    return PowBackward0(b).run_(a)


def remainder(a: Value, b: Value) -> Value:
    if isinstance(b, (bool, int, float, complex)):
        return RemainderBackward0(b).run(a)
    return RemainderBackward1().run(a, b)


def remainder_(a: TensorBase, b: Value) -> Any:
    if isinstance(b, (bool, int, float, complex)):
        return RemainderBackward0(b).run_(a)
    return RemainderBackward1().run_(a, b)


def floor_divide(a: Value, b: Value) -> Value:
    return NotImplemented_("aten::floor_divide").run(a, b)


def floor_divide_(a: TensorBase, b: Value) -> Any:
    return NotImplemented_("aten::floor_divide").run_(a, b)


from .._engine import views  # noqa: E402  views are ops
from . import cast, choose, complexes, create, index, pointwise  # noqa: E402  rules of other families
