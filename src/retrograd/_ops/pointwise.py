"""Functions of one number, applied to every element."""
from __future__ import annotations

from typing import Any, Final, final

import numpy

from .._engine.node import Array, Value
from .._engine.op import X, Y, Unary
from .._engine.tensor import TensorBase
from .cast import floating

np: Final[Any] = numpy


@final
class ExpBackward0(Unary):
    keep = Y

    def forward(self, x: Array) -> Array:
        return np.exp(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g * y


@final
class LogBackward0(Unary):
    keep = X

    def forward(self, x: Array) -> Array:
        return np.log(x)

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return g / x


def exp(x: Value) -> Value:
    return ExpBackward0().run(floating(x))


def exp_(x: TensorBase) -> TensorBase:
    return ExpBackward0().run_(x)


def log(x: Value) -> Value:
    return LogBackward0().run(floating(x))


def log_(x: TensorBase) -> TensorBase:
    return LogBackward0().run_(x)
