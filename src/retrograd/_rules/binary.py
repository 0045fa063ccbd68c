"""Functions of two or three numbers, element by element, that are neither arithmetic nor choices."""

from __future__ import annotations

from typing import Any, ClassVar, Final, Optional, final

import numpy

from .._engine import promote
from .._engine.nary import Nary, carries
from .._engine.node import Array, Value
from .._engine.op import Binary, Unary, Written, watch
from .._kernels import kernel
from . import by_parts
from .by_parts import LN2
from .cast import cast_like
from .packed import packed
from .pointwise import exp, exp2, like, log, wide
from .select import select

np: Final[Any] = numpy
FEW: Final = 32
SMALLEST: Final[Any] = numpy.finfo(numpy.float32).smallest_normal
quick_fmod: Final[Any] = kernel("fmod")
quick_xlogy: Final[Any] = kernel("xlogy")
quick_hypot: Final[Any] = kernel("hypot")
quick_logaddexp: Final[Any] = kernel("logaddexp")
quick_logaddexp2: Final[Any] = kernel("logaddexp2")
quick_lerp: Final[Any] = kernel("lerp")
quick_lerp_into: Final[Any] = kernel("lerp_into")
complex_blend: Final[Any] = kernel("complex_blend")
complex_add_product: Final[Any] = kernel("complex_add_product")
quick_blend: Final[Any] = kernel("blend")
quick_add_product: Final[Any] = kernel("add_product")
quick_add_quotient: Final[Any] = kernel("add_quotient")


@final
class LdexpBackward0(Binary):
    """a * 2 ** b"""

    kind = promote.FLOAT

    def forward(self, a: Array, b: Array) -> Array:
        return a * packed(np.exp2(b))

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * exp2(b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (y * LN2)


@final
class FmodBackward0(Unary):
    """Remainder of x / number, with the sign of x."""

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def quick(self, x: Array) -> Array:
        return quick_fmod(x, self.number)

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.SAME)
        arith.refuse_zero(x, n, "fmod")
        return np.fmod(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


@final
class CopysignBackward1(Unary):
    """|x| with the sign of a number."""

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.FLOAT)
        return np.copysign(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * choose.where(x == 0, 0.0, y / x)


def xlogy_of(a: Array, b: Array) -> Array:
    """a log b, 0 where a is 0 unless b is nan."""
    y = a * np.log(b)
    return np.where((np.equal(a, 0)) & (b == b), np.zeros((), y.dtype), y)


@final
class XlogyBackward1(Unary):
    """number * log(x)"""

    names: ClassVar[Any] = {"other": "x"}
    shows: ClassVar[Any] = {"self": "number"}

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.number, x, promote.FLOAT)
        return xlogy_of(np.asarray(n, x.dtype), x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * self.number / x


@final
class XlogyBackward2(Unary):
    """x * log(number)"""

    shows: ClassVar[Any] = {"other": "number"}

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        n, x = promote.operands(self.number, x, promote.FLOAT)
        return xlogy_of(x, np.asarray(n, x.dtype))

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        slope = float(np.log(self.number))
        return choose.where(x == 0, 0.0, g * slope) if self.number <= 0 else g * slope


@final
class XlogyBackward0(Binary):
    """a * log(b)"""

    kind = promote.FLOAT

    def quick(self, a: Array, b: Array) -> Array:
        return quick_xlogy(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        return xlogy_of(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a == 0) & (b <= 0), 0.0, g * log(cast_like(b, g)))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * a / b


def subnormal(x: Array) -> bool:
    """Is one of these closer to 0 than a normal float32?"""
    return bool((np.abs(x) < SMALLEST).any())


@final
class Atan2Backward0(Binary):
    """The angle of the point (b, a)."""

    kind = promote.FLOAT

    def forward(self, a: Array, b: Array) -> Array:
        if b.dtype.char == "f" and b.size > FEW and (subnormal(a) or subnormal(b)):        # libm takes 200 ns for each then
            return np.arctan2(a, b, dtype=np.float64).astype(np.float32)
        return np.arctan2(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * b * per_square(a, b)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * -a * per_square(a, b)


def per_square(a: Value, b: Value) -> Value:
    """1 / (a^2 + b^2), 0 at the origin."""
    s = a * a + b * b
    return choose.where(s == 0, 0.0, arith.reciprocal(s))   # 1.0 / s would be float32 where s is bfloat16


@final
class HypotBackward0(Binary):
    """sqrt(a^2 + b^2) without overflow."""

    kind = promote.FLOAT

    def quick(self, a: Array, b: Array) -> Array:
        return quick_hypot(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        return np.hypot(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (a / y)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (b / y)


def log_of_sum(a: Array, b: Array) -> Array:
    """log(exp(a) + exp(b)) of complex numbers, from the one of the greater real part."""
    first = a.real >= b.real
    top, low = np.where(first, a, b), np.where(first, b, a)
    with np.errstate(all="ignore"):
        gap = low - top
        y = np.log1p(np.where(np.isneginf(gap.real), 0, by_parts.of(np.exp, gap))) + top
        level = (a.real == b.real) & np.isinf(a.real)
        if level.any():
            y = np.where(level, np.where(a.real < 0, low, np.log(np.exp(a) + np.exp(b))), y)
        return np.where(np.isnan(a) | np.isnan(b), complex(np.nan, np.nan), y).astype(a.dtype)


@final
class LogaddexpBackward0(Binary):
    """log(exp(a) + exp(b))"""

    kind = promote.FLOAT

    def quick(self, a: Array, b: Array) -> Array:
        return quick_logaddexp(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        return log_of_sum(a, b) if a.dtype.kind == "c" else np.logaddexp(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp(b - a) + 1)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp(a - b) + 1)


@final
class Logaddexp2Backward0(Binary):
    """log2(2^a + 2^b)"""

    kind = promote.FLOAT

    def quick(self, a: Array, b: Array) -> Array:
        return quick_logaddexp2(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        return np.logaddexp2(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp2(b - a) + 1)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g / (exp2(a - b) + 1)


@final
class CopysignBackward0(Binary):
    """|a| with the sign of b."""

    kind = promote.FLOAT

    def forward(self, a: Array, b: Array) -> Array:
        return np.copysign(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * choose.where(a == 0, 0.0, y / a)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class FmodBackward1(Binary):
    """Remainder of a / b, with the sign of a."""

    def quick(self, a: Array, b: Array) -> Array:
        return quick_fmod(a, b)

    def forward(self, a: Array, b: Array) -> Array:
        arith.refuse_zero(a, b, "fmod")
        return np.fmod(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return -g * arith.div_rounded(a, b, "trunc")


@final
class FmaxBackward0(Binary):
    """The larger; a number wins against nan."""

    def forward(self, a: Array, b: Array) -> Array:
        return np.fmax(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a >= b) | (b != b), g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a >= b) | (b != b), 0.0, g)


@final
class FminBackward0(Binary):
    """The smaller; a number wins against nan."""

    def forward(self, a: Array, b: Array) -> Array:
        return np.fmin(a, b)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a <= b) | (b != b), g, 0.0)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where((a <= b) | (b != b), 0.0, g)


@final
class NextafterBackward0(Binary):
    """The next number after a towards b."""

    def forward(self, a: Array, b: Array) -> Array:
        if a.dtype.kind != "V":
            return np.nextafter(a, b)
        up = a < b                                          # bfloat16: the upper half of a float32, and so its integer
        bits = a.view(np.int16).astype(np.int32)
        moved = np.where(a == 0, np.where(up, 1, -32767), np.where(up == (a > 0), bits + 1, bits - 1))
        y = moved.astype(np.int16).view(a.dtype)
        return np.where((a != a) | (b != b), a + b, np.where(a == b, b, y))

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(a == b, 0.0, g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return create.zeros_like(g)


@final
class MaskedFillBackward1(Written):
    """a, but b (0-dim) where the mask holds."""

    holds = True
    names: ClassVar[Any] = {}
    shows: ClassVar[Any] = {"mask": "mask"}

    def __init__(self, mask: Value) -> None:
        self.mask: Any = watch(self, mask)

    def drop(self) -> None:
        self.mask = None

    def forward(self, a: Array, b: Array) -> Array:
        return packed(select(self.mask, b.astype(a.dtype), a))

    def overlapped(self) -> Optional[str]:
        return "masked_fill_"

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(self.mask, 0.0, g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return choose.where(self.mask, g, 0.0)


def mix(a: Array, b: Array, w: Any) -> Array:
    """From a to b; written so that w = 1 gives b exactly."""
    own = a
    a = wide(a)
    b = wide(b)
    d = b - a
    if isinstance(w, (float, complex)):
        return like(a + d * w if abs(w) < 0.5 else b - d * (1.0 - w), own)
    w = wide(w)
    near = np.asarray(d * w)                    # in place from here: memory that is new to the process costs as much as the sums
    near += a
    far = np.asarray((1 - w) * d)
    np.subtract(b, far, far)
    return like(select(np.abs(w) < 0.5, near, far), own)


@final
class LerpBackward0(Binary):
    """a + weight * (b - a)"""

    names: ClassVar[Any] = {}
    shows: ClassVar[Any] = {"weight": "weight"}

    def __init__(self, weight: Any) -> None:
        self.weight: Any = weight               # a float; of complex tensors a complex number, too

    def quick(self, a: Array, b: Array) -> Array:
        return quick_lerp(a, b, self.weight, 1.0 - self.weight)

    def quick_(self, a: Array, b: Array) -> bool:
        return quick_lerp_into(a, b, self.weight, 1.0 - self.weight) is not None

    def forward(self, a: Array, b: Array) -> Array:
        return mix(a, b, self.weight)

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * (1.0 - self.weight)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return g * self.weight


def together(xs: list[Array]) -> list[Array]:
    """All in the common dtype; None stays None."""
    some = [x for x in xs if x is not None]
    dtype = promote.result_dtype(some)
    for x in some[1:]:
        if x.shape != some[0].shape:
            promote.check_broadcast(some[0], x)
    return [None if x is None else promote.to(x, dtype) for x in xs]


@final
class LerpBackward1(Nary):
    """a + w * (b - a), w a tensor"""

    names: ClassVar[Any] = {"self": 0, "end": 1, "weight": 2}

    def link(self, xs: list[Value]) -> None:
        reads = (4 if carries(xs[0]) or carries(xs[1]) else 0) | (3 if carries(xs[2]) else 0)
        self.reads = reads
        super().link(xs)

    def forward(self, xs: list[Array]) -> Array:
        if xs[2].dtype is not xs[0].dtype:      # a weight without dims
            dtype = promote.result_dtype(xs)
            xs = [promote.to(x, dtype) for x in xs]
        quick = quick_blend(xs[0], xs[1], xs[2])
        if quick is None:
            quick = complex_blend(xs[0], xs[1], xs[2], 0)
        return mix(xs[0], xs[1], xs[2]) if quick is None else quick

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = [None, None, None]
        if want[0]:
            outs[0] = g * (1 - xs[2])
        if want[1]:
            outs[1] = g * xs[2]
        if want[2]:
            outs[2] = g * (xs[1] - xs[0])
        return outs


@final
class AddcmulBackward0(Nary):
    """x + value * a * b"""

    names: ClassVar[Any] = {"tensor1": 1, "tensor2": 2}
    shows: ClassVar[Any] = {"value": "value"}

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value: Any = value

    def link(self, xs: list[Value]) -> None:
        reads = (4 if carries(xs[1]) else 0) | (2 if carries(xs[2]) else 0)
        self.reads = reads
        super().link(xs)

    def forward(self, xs: list[Array]) -> Array:
        quick = quick_add_product(xs[0], xs[1], xs[2], self.value)
        if quick is None:
            quick = complex_add_product(xs[0], xs[1], xs[2], self.value)
        if quick is not None:
            return quick
        xs = together(xs)
        if promote.is_half(xs[0]):
            return like(wide(xs[0]) + wide(xs[1]) * wide(xs[2]) * np.float32(self.value), xs[0])
        product = by_parts.times(xs[1], xs[2])
        return xs[0] + (product if self.value == 1 else product * self.value)

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = [None, None, None]
        if want[0]:
            outs[0] = g
        if want[1]:
            outs[1] = g * (xs[2] * self.value)
        if want[2]:
            outs[2] = g * (xs[1] * self.value)
        return outs


@final
class AddcdivBackward0(Nary):
    """x + value * a / b"""

    names: ClassVar[Any] = {"tensor1": 1, "tensor2": 2}
    shows: ClassVar[Any] = {"value": "value"}

    def __init__(self, value: Any) -> None:
        super().__init__()
        self.value: Any = value

    def link(self, xs: list[Value]) -> None:
        reads = (4 if carries(xs[1]) or carries(xs[2]) else 0) | (2 if carries(xs[2]) else 0)
        self.reads = reads
        super().link(xs)

    def forward(self, xs: list[Array]) -> Array:
        quick = quick_add_quotient(xs[0], xs[1], xs[2], self.value)
        if quick is not None:
            return quick
        xs = together(xs)
        if promote.is_half(xs[0]):
            return like(wide(xs[0]) + wide(xs[1]) / wide(xs[2]) * np.float32(self.value), xs[0])
        return xs[0] + by_parts.over(xs[1] * self.value, xs[2])

    def grads(self, g: Value, xs: list[Value], y: Value, want: list[bool]) -> list[Value]:
        outs: list[Value] = [None, None, None]
        if want[0]:
            outs[0] = g
        if want[1]:
            outs[1] = g * (self.value / xs[2])
        if want[2]:
            outs[2] = -g * ((xs[1] * self.value) / (xs[2] * xs[2]))
        return outs


from . import arith, choose, create  # noqa: E402  rules of other families
