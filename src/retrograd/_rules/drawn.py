"""Random numbers in the graph: what they were drawn with, or written over, gets a gradient of zero."""
from __future__ import annotations

from typing import final

from .._engine.node import Array, Value
from .._engine.op import Binary, Unary
from .create import zeros_like


class Drawn(Unary):
    """Numbers drawn with one tensor's parameters, or written over its old values."""

    def __init__(self, numbers: Array) -> None:
        self.numbers: Array = numbers

    def forward(self, x: Array) -> Array:
        y = self.numbers
        self.numbers = None
        return y

    def grad(self, g: Value, x: Value, y: Value) -> Value:
        return zeros_like(g)


@final
class NormalBackward3(Binary):
    """torch.normal(tensor, tensor)"""

    def __init__(self, numbers: Array) -> None:
        self.numbers: Array = numbers

    def forward(self, a: Array, b: Array) -> Array:
        y = self.numbers
        self.numbers = None
        return y

    def grad_a(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return zeros_like(g)

    def grad_b(self, g: Value, a: Value, b: Value, y: Value) -> Value:
        return zeros_like(g)


@final
class NormalBackward0(Drawn):
    """x.normal_()"""


@final
class NormalBackward1(Drawn):
    """torch.normal(tensor, number)"""


@final
class NormalBackward2(Drawn):
    """torch.normal(number, tensor)"""


@final
class UniformBackward0(Drawn):
    """x.uniform_()"""


@final
class BernoulliBackward0(Drawn):
    """torch.bernoulli(x)"""


@final
class BernoulliBackward1(Drawn):
    """x.bernoulli_(tensor)"""


@final
class BernoulliBackward2(Drawn):
    """x.bernoulli_(number)"""


@final
class ExponentialBackward0(Drawn):
    """x.exponential_()"""


@final
class GeometricBackward0(Drawn):
    """x.geometric_(p)"""


@final
class CauchyBackward0(Drawn):
    """x.cauchy_()"""


@final
class LogNormalBackward0(Drawn):
    """x.log_normal_()"""


@final
class RandomBackward0(Drawn):
    """x.random_(low, high)"""


@final
class RandomBackward1(Drawn):
    """x.random_(high)"""


@final
class RandomBackward2(Drawn):
    """x.random_()"""


@final
class PoissonBackward0(Drawn):
    """torch.poisson(x)"""
