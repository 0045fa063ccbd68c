"""Rows of activations."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from .pointwise import KINK
from .shared import one, sigmoid, softmax, softmaxes
from .table import Make, Op, S, Samples


def activation(name: str, ref: Any, samples: Samples = one, **kw: Any) -> Op:
    kw.setdefault("node", "".join(p.capitalize() for p in name.split("_")) + "Backward0")
    return Op(f"F.{name}", samples, ref, path=f"nn.functional.{name}", **kw)


def with_number(*numbers: Any, **kw: Any) -> Samples:
    def samples(m: Make) -> Iterator[S]:
        yield S(m.x(3, 4))
        yield S(m.t(3, 4), *numbers, **kw)
        yield S(m.e(3, 4))
        yield S(m.x())
        yield S(m.x(0, 2))

    return samples


def in_place_flag(*numbers: Any) -> Samples:
    """F.f(x * 1, ..., inplace=True) by a row of its own: the node may differ."""
    def samples(m: Make) -> Iterator[S]:
        yield S(m.x(3, 4), *numbers)
        yield S(m.t(3, 4), *numbers)

    return samples


def edited(name: str) -> Callable[[Any], Any]:
    """F.name in place on a copy."""
    def find(torch: Any) -> Any:
        f = getattr(torch.nn.functional, name, None)
        return None if f is None else lambda x, *a: f(x * 1, *a, inplace=True)

    return find


def elu(x: Any, alpha: float = 1.0, scale: float = 1.0) -> Any:
    return scale * np.where(x > 0, x, alpha * np.expm1(x))


def softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def glu(x: Any, dim: int = -1) -> Any:
    a, b = np.split(x, 2, axis=dim)
    return a * sigmoid(b)


def prelu(x: Any, w: Any) -> Any:
    if w.size > 1:
        w = w.reshape([-1 if i == 1 else 1 for i in range(x.ndim)])
    return np.where(x > 0, x, w * x)


SELU = (1.6732632423543772848170429916717, 1.0507009873554804934193349852946)
ACTIVATIONS = [
    activation("leaky_relu", lambda x, s=0.01: np.where(x > 0, x, s * x), with_number(0.2), **KINK),
    Op("F.leaky_relu_", in_place_flag(0.2), lambda x, s: np.where(x > 0, x, s * x), call=edited("leaky_relu"),
       node="LeakyReluBackward1", **KINK),
    activation("elu", elu, with_number(0.7), **KINK),
    Op("F.elu_", in_place_flag(0.7), elu, call=edited("elu"), node="EluBackward1", **KINK),
    activation("selu", lambda x: elu(x, *SELU), node="EluBackward0", **KINK),
    activation("celu", lambda x, a=1.0: np.where(x > 0, x, a * np.expm1(x / a)), with_number(0.7), **KINK, rough=True),
    Op("F.celu_", in_place_flag(0.7), lambda x, a: np.where(x > 0, x, a * np.expm1(x / a)), call=edited("celu"),
       node="CeluBackward1", **KINK, rough=True),
    activation("silu", lambda x: x * sigmoid(x)),
    activation("mish", lambda x: x * np.tanh(softplus(x))),
    activation("softplus", softplus, with_number(2.0, 1.0), kinks=(0.5,)),
    activation("softsign", lambda x: x / (1 + np.abs(x)), node="DivBackward0", **KINK),
    activation("logsigmoid", lambda x: -softplus(-x), node="LogSigmoidBackward0"),
    activation("hardtanh", lambda x, a=-1.0, b=1.0: np.clip(x, a, b), with_number(-0.5, 0.5), kinks=(-1, -0.5, 0.5, 1),
        gap=0.01),
    activation("relu6", lambda x: np.clip(x, 0, 6), node="HardtanhBackward0", low=-3, high=9, kinks=(0, 6)),
    activation("hardswish", lambda x: x * np.clip(x + 3, 0, 6) / 6, low=-5, high=5, kinks=(-3, 3)),
    activation("hardsigmoid", lambda x: np.clip(x + 3, 0, 6) / 6, low=-5, high=5, kinks=(-3, 3), rough=True, order2=False),
    activation("tanhshrink", lambda x: x - np.tanh(x), node="SubBackward0"),
    activation("softshrink", lambda x, a=0.5: np.sign(x) * np.maximum(np.abs(x) - a, 0), with_number(0.3),
        kinks=(-0.5, -0.3, 0.3, 0.5), gap=0.01),
    activation("hardshrink", lambda x, a=0.5: np.where(np.abs(x) > a, x, 0), with_number(0.3),
        kinks=(-0.5, -0.3, 0.3, 0.5), gap=0.01),
    activation("threshold", lambda x, t, v: np.where(x > t, x, v), lambda m: iter([S(m.x(3, 4), 0.1, 20),
        S(m.t(3, 4), 0.1, -1.0)]), kinks=(0.1,)),
    Op("F.threshold_", in_place_flag(0.1, 2.0), lambda x, t, v: np.where(x > t, x, v), call=edited("threshold"),
       node="ThresholdBackward1", kinks=(0.1,)),
    Op("F.relu_", in_place_flag(), lambda x: np.maximum(x, 0), call=edited("relu"), node="ReluBackward0", **KINK),
    activation("glu", glu, lambda m: iter([S(m.x(3, 4)), S(m.t(4, 3), 0), S(m.x(2, 4, 3), 1)])),
    activation("prelu", prelu, lambda m: iter([S(m.x(3, 4), m.x(4)), S(m.t(3, 4), m.x(1)), S(m.x(2, 3, 2), m.x(3))]),
        node="PreluKernelBackward0", **KINK),
    activation("rrelu", lambda x, a, b, t: np.where(x > 0, x, x * (a + b) / 2),
        lambda m: iter([S(m.x(3, 4), 0.1, 0.3, False)]),
               node="RreluWithNoiseBackward0", **KINK),
    activation("softmin", lambda x, dim: softmax(-x, dim), softmaxes, node="SoftmaxBackward0"),
]
