"""Rows of losses."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .activations import softplus
from .functional import losses
from .pointwise import KINK
from .shared import norm, reduction_of
from .table import WIDE, Make, Op, S, Samples


def smooth_l1(a: Any, b: Any, reduction: str = "mean", beta: float = 1.0) -> Any:
    d = np.abs(a - b)
    return reduction_of(np.where(d < beta, 0.5 * d * d / beta, d - 0.5 * beta), reduction)


def huber(a: Any, b: Any, reduction: str = "mean", delta: float = 1.0) -> Any:
    d = np.abs(a - b)
    return reduction_of(np.where(d < delta, 0.5 * d * d, delta * (d - 0.5 * delta)), reduction)


def bce(a: Any, b: Any, weight: Any = None, reduction: str = "mean") -> Any:
    loss = -(b * np.log(a) + (1 - b) * np.log(1 - a))
    return reduction_of(loss if weight is None else loss * weight, reduction)


def bce_logits(a: Any, b: Any, weight: Any = None, reduction: str = "mean", pos_weight: Any = None) -> Any:
    p = 1.0 if pos_weight is None else pos_weight
    loss = p * b * softplus(-a) + (1 - b) * softplus(a)
    return reduction_of(loss if weight is None else loss * weight, reduction)


def bces(m: Make) -> Iterator[S]:
    for reduction in ("mean", "sum", "none"):
        yield S(m.x(3, 4), m.x(3, 4), reduction=reduction)
    yield S(m.t(3, 4), m.e(3, 4), m.x(3, 4))


def kl_div(a: Any, b: Any, reduction: str = "mean", log_target: bool = False) -> Any:
    loss = np.exp(b) * (b - a) if log_target else b * (np.log(b) - a)
    return loss.sum() / a.shape[0] if reduction == "batchmean" else reduction_of(loss, reduction)


def signs(m: Make, *shape: int) -> Any:
    return (m.rng.integers(0, 2, shape) * 2 - 1).astype(m.dtype)


def multi_margin(x: Any, target: Any, p: int = 1, margin: float = 1.0) -> Any:
    out = []
    for row, t in zip(x, target):
        terms = [max(0.0, margin - row[t] + v) ** p for k, v in enumerate(row) if k != t]
        out.append(sum(terms) / len(row))
    return np.mean(out)


def multilabel_margin(x: Any, target: Any) -> Any:
    out = []
    for row, labels in zip(x, target):
        good = []
        for t in labels:
            if t < 0:
                break
            good.append(int(t))
        out.append(sum(max(0.0,
            1 - (row[g] - row[k])) for g in good for k in range(len(row)) if k not in good) / len(row))
    return np.mean(out)


def triplet(a: Any, p: Any, n: Any, margin: float = 1.0) -> Any:
    return np.mean(np.maximum(0, norm(a - p + 1e-6, 2.0, 1) - norm(a - n + 1e-6, 2.0, 1) + margin))


def loss(name: str, ref: Any, samples: Samples = losses, **kw: Any) -> Op:
    kw.setdefault("dtypes", WIDE)
    return Op(f"F.{name}", samples, ref, path=f"nn.functional.{name}", **kw)


LOSSES = [
    loss("smooth_l1_loss", smooth_l1, node="SmoothL1LossBackward0"),
    loss("huber_loss", huber, node="HuberLossBackward0"),
    loss("binary_cross_entropy", bce, bces, node="BinaryCrossEntropyBackward0", low=0.1, high=0.9, fixed=(2,),
         checks=True),
    loss("binary_cross_entropy_with_logits", bce_logits,
         lambda m: iter([*bces(m), S(m.x(3, 4), m.x(3, 4),
             pos_weight=m.x(4))]), node="BinaryCrossEntropyWithLogitsBackward0", fixed=(2,)),
    loss("kl_div", kl_div, lambda m: iter([S(m.x(3, 4), m.x(3, 4), reduction="batchmean"),
        S(m.x(3, 4), m.x(3, 4), reduction="sum", log_target=True)]),
         low=0.1, high=0.9),
    loss("soft_margin_loss", lambda a, b: np.mean(softplus(-a * b)), lambda m: iter([S(m.x(3, 4), signs(m, 3, 4))]),
        node="SoftMarginLossBackward0",
         fixed=(1,)),
    loss("multi_margin_loss", multi_margin, lambda m: iter([S(m.x(3, 4), m.i(4, 3)), S(m.x(3, 4), m.i(4, 3), 2)]),
        node="MultiMarginLossBackward0", order2=False),
    loss("multilabel_margin_loss", multilabel_margin, lambda m: iter([S(m.x(2, 4),
        np.array([[1, 3, -1, 0], [0, -1, 1, 1]]))]),
         node="MultilabelMarginLossBackward0", order2=False),
    loss("hinge_embedding_loss", lambda x, y: np.mean(np.where(y == 1, x, np.maximum(0, 1 - x))),
         lambda m: iter([S(m.x(3, 4), signs(m, 3, 4))]), fixed=(1,), kinks=(1.0,)),
    loss("margin_ranking_loss", lambda a, b, y: np.mean(np.maximum(0, -y * (a - b))),
        lambda m: iter([S(m.x(3), m.x(3), signs(m, 3))]), fixed=(2,)),
    loss("cosine_similarity", lambda a, b, dim=1: (a * b).sum(dim) / np.sqrt((a * a).sum(dim) * (b * b).sum(dim)),
         lambda m: iter([S(m.x(3, 4), m.x(3, 4)), S(m.t(3, 4), m.x(3, 4), 0)]), tol=10),
    loss("poisson_nll_loss", lambda x, t: np.mean(np.exp(x) - t * x), lambda m: iter([S(m.x(3, 4),
        m.x(3, 4, low=0.1, high=3))])),
    loss("gaussian_nll_loss", lambda x, t, v: np.mean(0.5 * (np.log(v) + (x - t) ** 2 / v)),
         lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(3, 4, low=0.5, high=2))]), order2=False, checks=True),
    loss("triplet_margin_loss", triplet, lambda m: iter([S(m.x(3, 4), m.x(3, 4), m.x(3, 4)),
        S(m.t(3, 4), m.x(3, 4), m.x(3, 4), margin=3.0)]),
         order2=False),
    loss("pairwise_distance", lambda a, b: norm(a - b + 1e-6, 2.0, 1), lambda m: iter([S(m.x(3, 4), m.x(3, 4))]),
        order2=False),
    loss("normalize", lambda x, p=2.0, dim=1: x / norm(x, p, dim, True),
        lambda m: iter([S(m.x(3, 4)), S(m.t(3, 4), 1.0, 0)]), node="DivBackward0", **KINK),
]
