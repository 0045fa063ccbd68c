"""Complex numbers: made of two real ones, shown as such, and conjugated.  NOTE [Complex numbers] in _engine/op.py"""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine.mirror import conjugate, negative, turned
from .._engine.modes import meet_complex
from .._engine.node import Array, Value
from .._engine.op import Binary, Product, Unary, View, is_complex
from .._engine.promote import check_broadcast
from .._engine.region import parts_of, whole_of
from .._engine.tensor import TensorBase, shared_version

np: Final[Any] = numpy


def conj(x: Value) -> Value:
    """The conjugate; x itself where it is real."""
    if isinstance(x, TensorBase):
        return ConjBackward0().copied(x) if x.array.dtype.kind == "c" else x
    return np.conjugate(x) if np.iscomplexobj(x) else x


def conj_view(x: Value) -> Value:
    """The conjugate, which shows x's memory; x itself where it is real."""
    return ConjBackward0().run(x) if is_complex(x) else x


def real(x: Value) -> Value:
    """The real part; x itself where it is real."""
    if isinstance(x, TensorBase):
        return index.select(ViewAsRealBackward0().run(x), x.array.ndim, 0) if x.array.dtype.kind == "c" else x
    return x.real


def imag(x: Value) -> Value:
    """The imaginary part of a complex array or Tensor."""
    if isinstance(x, TensorBase):
        return index.select(ViewAsRealBackward0().run(x), x.array.ndim, 1)
    return x.imag


class Turned(View):
    """What shows x's memory conjugated or negated: NOTE [Lazy conjugates] in _engine/mirror.py"""

    turn: ClassVar[Any] = conjugate

    def forward(self, x: Array) -> Array:
        return self.turn(x)

    def run(self, x: Value) -> Value:
        if not isinstance(x, TensorBase):
            return self.turn(x)
        version = shared_version(x)
        if version.mirrors is None:
            version.mirrors = []
        return self.show(x, turned(version.mirrors, x.array, self.turn))

    def copied(self, x: Value) -> Value:
        """In memory of its own."""
        return Unary.run(self, x)


@final
class ConjBackward0(Turned):
    """conj()"""

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return conj(g)


@final
class NegViewBackward0(Turned):
    """The imaginary part of what is conjugated."""

    turn: ClassVar[Any] = negative

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return -g


class ConjPhysical(Unary):
    conjugates = False

    def forward(self, x: Array) -> Array:
        return np.conjugate(x) if x.dtype.kind == "c" else x

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return conj(g)


@final
class ConjPhysicalBackward0(ConjPhysical):
    """conj_physical()"""


@final
class ConjPhysicalBackward1(ConjPhysical):
    """conj_physical_()"""


@final
class ViewAsRealBackward0(View):
    def forward(self, x: Array) -> Array:
        return parts_of(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return as_complex(g)


@final
class ViewAsComplexBackward0(View):
    def forward(self, x: Array) -> Array:
        meet_complex()
        return whole_of(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return ViewAsRealBackward0().run(g)


def as_complex(g: Value) -> Value:
    """Pairs of real numbers, in memory of any order, as complex ones."""
    if isinstance(g, TensorBase):
        fits = g.array.flags.c_contiguous
        return ViewAsComplexBackward0().run(g if fits else create.contiguous_copy(g))
    return whole_of(np.ascontiguousarray(g))


def both(a: Value, b: Value) -> tuple[Array, Array]:
    """Two arrays that broadcast."""
    x: Array = a.array if isinstance(a, TensorBase) else a
    y: Array = b.array if isinstance(b, TensorBase) else b
    if x.shape != y.shape:
        check_broadcast(x, y)
    return x, y


@final
class ComplexBackward0(Product):
    """a + ib"""

    conjugates = False
    names: ClassVar[Any] = {"real": "a", "imag": "b"}

    def compute(self, a: Value, b: Value, ta: Any, tb: Any) -> Array:
        self.note_shapes(ta, tb)
        return self.forward(*both(a, b))

    def forward(self, a: Array, b: Array) -> Array:
        meet_complex()
        y = np.empty(np.broadcast_shapes(a.shape, b.shape), "complex128" if a.dtype.itemsize == 8 else "complex64")
        y.real = a
        y.imag = b
        return y

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return real(g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return imag(g) if is_complex(g) else create.zeros_like(g)


@final
class PolarBackward0(Binary):
    """a (cos b + i sin b)"""

    conjugates = False
    names: ClassVar[Any] = {"abs": "a", "angle": "b", "result": "y"}

    def compute(self, a: Value, b: Value, ta: Any, tb: Any) -> Array:
        self.note_shapes(ta, tb)
        return self.forward(*both(a, b))

    def forward(self, a: Array, b: Array) -> Array:
        return ComplexBackward0().forward(a * np.cos(b), a * np.sin(b))

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return real(conj(g) * sgn(y))

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return real(conj(g) * (y * 1j))


def sgn(x: Value) -> Value:
    return rounding.SgnBackward0().run(x)



from . import create, index, rounding  # noqa: E402  rules of other families
