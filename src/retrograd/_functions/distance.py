"""How far two vectors are apart, and losses made of that: F.cosine_similarity, F.triplet_margin_loss, ...

eps    added to differences or norms, against division by zero
swap   True: take |p - n| where that is smaller than |a - n|
"""
from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.tensor import wrap
from .._rules import arith, choose, create, loss, moment, number, pointwise, shape
from .._rules import reduce as sums
from .._rules.cast import cast
from .._rules.index import check_number
from .._tensor import size as _size
from .arguments import dim_of, tensor
from .loss import above, kind_of, reduced
from .reduce import nonempty


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """x1 . x2 / (|x1| |x2|) along dim; norms no smaller than eps."""
    if not eps >= 0:
        raise RuntimeError(f"eps must be non-negative, got: {float(eps):g}")
    promote.check_broadcast(x1.array, x2.array)
    dtype = promote.result_dtype([x1.array, x2.array])
    if dtype.kind not in "fV":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {names.SCALAR[dtype.name]}")
    both = np.broadcast_shapes(x1.array.shape, x2.array.shape)
    at = dim_of(dim, len(both))
    check_number(float(eps), dtype)
    units = []
    for x in (x1, x2):
        x = x if x.array.dtype == dtype else cast(x, dtype)
        x = x if x.array.shape == both else shape.expand(x, both)
        size = create.clone(moment.norm(x, 2, (at,) if both else None, bool(both), None))
        size.array = np.maximum(size.array, float(eps)).astype(dtype)      # outside the graph: the gradient passes the bound
        units.append(arith.div(x, size))
    return sums.sum_dims(arith.mul(units[0], units[1]), (at,) if both else (), False)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dim."""
    p, eps = float(p), float(eps)                           # ints beyond those of a tensor are numbers here
    d = number.add_number(arith.sub(x1, x2), eps)
    if (p < 0 or p == math.inf) and d.array.ndim:
        nonempty(p, d.array.shape, d.array.ndim - 1)
    return loss.NormBackward1(p, (d.array.ndim - 1,) if d.array.ndim else (), keepdim).run(d)


def pdist(input: Any, p: float = 2.0) -> Any:
    """The p-distances of each two rows of input (N, M), as one vector of N (N - 1) / 2: (0, 1), (0, 2), ..., (1, 2), ..."""
    if input.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.array.ndim}D")
    if input.array.dtype.kind not in "fV":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if not p >= 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows, columns = np.triu_indices(input.array.shape[0], 1)
    gaps = arith.sub(input[wrap(rows.astype(np.int64))], input[wrap(columns.astype(np.int64))])
    y = moment.norm(gaps, p, (1,), False, None)
    return y if p else y + gaps[:, :0].sum(1)           # a count has no gradient, pdist's are zeros


def F_cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1.

    inputs (N, C) or (C,)   target (N,) or ()
    """
    return cosine_embedding_loss(input1, input2, target, margin, kind_of(reduction, size_average, reduce))


def cosine_embedding_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0) -> Any:
    """F.cosine_embedding_loss with reduction 0 (none), 1 (mean) or 2 (sum)."""
    a, b = tensor(input1, "cosine_embedding_loss", "input1"), tensor(input2, "cosine_embedding_loss", "input2", 2)
    t = tensor(target, "cosine_embedding_loss", "target", 3).array
    if t.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    if not a.array.ndim == b.array.ndim == t.ndim + 1:
        raise RuntimeError(
            f"{t.ndim}D target tensor expects {t.ndim + 1}D input tensors, but found inputs with sizes "
            f"{list(a.array.shape)} and {list(b.array.shape)}.")

    def dot(x: Any, y: Any) -> Any:
        return sum_last(arith.mul(x, y), t.ndim)

    product = dot(a, b)
    sizes = arith.mul(number.add_number(dot(a, a), 1e-12), number.add_number(dot(b, b), 1e-12))
    cosine = arith.div(product, pointwise.sqrt(sizes))
    promote.check_broadcast(t, cosine.array)
    zeros = wrap(np.zeros_like(cosine.array))
    same = choose.where(t == 1, arith.sub(1.0, cosine), zeros)
    other = choose.where(t == -1, above(number.sub_number(cosine, float(margin))), zeros)
    return reduced(arith.add(same, other), reduction)


def sum_last(x: Any, at: int) -> Any:
    return sums.sum_dims(x, (at,), False)


def F_margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """max(0, -target * (input1 - input2) + margin), target 1 or -1."""
    return margin_ranking_loss(input1, input2, target, margin, kind_of(reduction, size_average, reduce))


def margin_ranking_loss(input1: Any, input2: Any, target: Any, margin: float = 0.0, reduction: int = 0) -> Any:
    """F.margin_ranking_loss with reduction 0 (none), 1 (mean) or 2 (sum)."""
    a, b = tensor(input1, "margin_ranking_loss", "input1"), tensor(input2, "margin_ranking_loss", "input2", 2)
    t = tensor(target, "margin_ranking_loss", "target", 3)
    if not a.array.ndim == b.array.ndim == t.array.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {_size.of(a.array.shape)}, input2: {_size.of(b.array.shape)}, target: {_size.of(t.array.shape)} ")
    apart = arith.sub(a, b)
    return reduced(above(number.add_number(arith.mul(arith.neg(t), apart), float(margin))), reduction)


def F_triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm along the last dim.

    swap: use d(positive, negative) where it is smaller.   Balntas et al. 2016
    """
    kind = kind_of(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    return triplet_margin_loss(anchor, positive, negative, margin, p, eps, swap, kind)


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2.0, eps: float = 1e-6, swap: bool = False,
    reduction: int = 0,
) -> Any:
    """F.triplet_margin_loss with reduction 0 (none), 1 (mean) or 2 (sum)."""
    margin = float(margin)
    a, b, c = (tensor(x, "triplet_margin_loss", n, i) for i, (x, n) in enumerate(
        ((anchor, "anchor"), (positive, "positive"), (negative, "negative")), 1))
    same_dims(a, b, c)
    near, far = pairwise_distance(a, b, p, eps), pairwise_distance(a, c, p, eps)
    if swap:
        far = choose.minimum(far, pairwise_distance(b, c, p, eps))
    return reduced(above(arith.sub(number.add_number(near, margin), far)), reduction)


def same_dims(a: Any, b: Any, c: Any) -> None:
    if not a.ndim == b.ndim == c.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {a.ndim}D, positive {b.ndim}D, and negative {c.ndim}D inputs")


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Callable[..., Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Any:
    """triplet_margin_loss with distance_function(a, b), by default pairwise_distance; swap as there."""
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    same_dims(anchor, positive, negative)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = choose.minimum(far, distance(positive, negative))
    return reduced(above(arith.sub(arith.add(near, margin), far)), kind_of(reduction))
