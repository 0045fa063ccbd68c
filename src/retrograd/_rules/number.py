"""Arithmetic with a number as a node of its own, as PyTorch's C++ records it inside composed functions."""
from __future__ import annotations

from typing import Any, ClassVar, Final, final

import numpy

from .._engine import promote
from .._engine.node import Array, Value
from .._engine.op import Unary
from . import by_parts

np: Final[Any] = numpy


@final
class AddBackward1(Unary):
    """x + number"""

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.SAME)
        return x + n

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


@final
class SubBackward1(Unary):
    """x - number"""

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.SAME)
        return x - n

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g


@final
class MulBackward1(Unary):
    """x * number"""

    shows: ClassVar[Any] = {"other": "number"}

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.SAME)
        return by_parts.times(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * self.number


@final
class DivBackward1(Unary):
    """x / number"""

    holds = True
    shows: ClassVar[Any] = {"other": "number"}

    def __init__(self, number: Any) -> None:
        self.number: Any = number

    def forward(self, x: Array) -> Array:
        x, n = promote.operands(x, self.number, promote.FLOAT)
        return by_parts.over(x, n)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / self.number


def add_number(x: Value, number: Any) -> Value:
    return AddBackward1(number).run(x)


def sub_number(x: Value, number: Any) -> Value:
    return SubBackward1(number).run(x)


def mul_number(x: Value, number: Any) -> Value:
    return MulBackward1(number).run(x)


def div_number(x: Value, number: Any) -> Value:
    return DivBackward1(number).run(x)
