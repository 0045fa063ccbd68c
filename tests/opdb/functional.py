"""Rows of torch.nn.functional that came first: losses of classification, linear, dropout."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from .pointwise import gelu, gelus
from .shared import cross_entropy, linear, nll, one, reduction_of, softmax, softmaxes
from .table import FLOATS, WIDE, Make, Op, S


def losses(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.x(3, 4), reduction=reduction)
    yield S(m.t(3, 4), m.e(3, 4))
    yield S(m.x(), m.x())


def nlls(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.i(4, 3), reduction=reduction)
    yield S(m.x(3, 4), m.i(4, 3), m.x(4, low=0.5))
    yield S(m.t(3, 4), m.i(4, 3), None, ignore_index=1, reduction="sum")
    yield S(m.x(4), m.i(4))
    yield S(m.x(2, 3, 2), m.i(3, 2, 2)).by("NllLoss2DBackward0")


def entropies(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.i(4, 3), reduction=reduction)
    yield S(m.x(3, 4), m.i(4, 3), m.x(4, low=0.5))
    yield S(m.t(3, 4), m.i(4, 3), ignore_index=1)
    yield S(m.x(4), m.i(4))
    yield S(m.x(3, 4), m.i(4, 3), label_smoothing=0.1)
    yield S(m.x(3, 4), m.i(4, 3), m.x(4, low=0.5), label_smoothing=0.1)
    yield S(m.x(2, 3, 2), m.i(3, 2, 2))


def soft_entropies(m: Make) -> Iterator[S]:
    p = softmax(m.x(3, 4).astype(float), 1).astype(m.dtype)
    yield S(m.x(3, 4), p)
    yield S(m.x(3, 4), p, reduction="sum", label_smoothing=0.1)


def linears(m: Make) -> Iterator[S]:
    yield S(m.x(2, 3), m.x(4, 3), m.x(4)).by("AddmmBackward0")
    yield S(m.x(2, 3), m.x(4, 3)).by("MmBackward0")
    yield S(m.x(3), m.x(4, 3), m.x(4)).by("ViewBackward0")
    yield S(m.x(3), m.x(4, 3)).by("SqueezeBackward4")
    yield S(m.x(2, 2, 3), m.x(4, 3), m.x(4)).by("ViewBackward0")
    yield S(m.x(2, 2, 3), m.x(4, 3)).by("UnsafeViewBackward0")
    yield S(m.t(2, 3), m.t(4, 3), m.e(4)).by("AddmmBackward0")


def dropouts(m: Make) -> Iterator[S]:
    yield S(m.x(3, 4), 0.5, False)
    yield S(m.x(3, 4), 0.0, True)
    yield S(m.x(3, 4), 1.0, True)


FUNCTIONAL = [
    Op("F.linear", linears, linear, path="nn.functional.linear", dtypes=FLOATS, tol=4),
    Op("F.mse_loss", losses, lambda a, b, reduction="mean": reduction_of((a - b) ** 2, reduction),
       path="nn.functional.mse_loss",
       node="MseLossBackward0", dtypes=FLOATS),
    Op("F.l1_loss", losses, lambda a, b, reduction="mean": reduction_of(np.abs(a - b), reduction),
       path="nn.functional.l1_loss", dtypes=FLOATS),
    Op("F.nll_loss", nlls, nll, path="nn.functional.nll_loss", node="NllLossBackward0", dtypes=WIDE, fixed=(1,)),
    Op("F.cross_entropy", entropies, cross_entropy, path="nn.functional.cross_entropy", dtypes=WIDE, fixed=(1,)),
    Op("F.cross_entropy_soft", soft_entropies, cross_entropy, path="nn.functional.cross_entropy", dtypes=WIDE),
    Op("F.dropout", dropouts, lambda x, p, training: x * (p < 1 or not training), path="nn.functional.dropout",
       twice=None),
    Op("F.relu", one, lambda x: np.maximum(x, 0), path="nn.functional.relu", node="ReluBackward0", kinks=(0.0,)),
    Op("F.softmax", softmaxes, softmax, path="nn.functional.softmax", node="SoftmaxBackward0"),
    Op("F.log_softmax", softmaxes, lambda x, dim: np.log(softmax(x, dim)), path="nn.functional.log_softmax",
       node="LogSoftmaxBackward0"),
    Op("F.gelu", gelus, gelu, path="nn.functional.gelu", node="GeluBackward0"),
]
