"""Losses: F.mse_loss, F.cross_entropy, ...   N batch, C classes, d spatial dims

`reduction` "none" keeps every element, "mean" and "sum" give one number; `size_average` and `reduce` are its deprecated
forms.
"""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import _size, dtypes
from .._engine import names, promote
from .._engine.op import watch
from .._engine.tensor import TensorBase, wrap
from .._engine.views import check_cast
from .._ops import activation, arith, choose, create, loss, moment, number, pointwise, shape, step
from .._ops import reduce as sums
from .._ops.cast import cast
from ._args import dim_of, tensor
from .activation import log_softmax
from .pointwise import not_implemented, xlogy

__all__ = [
    "cosine_similarity", "pairwise_distance", "pdist", "binary_cross_entropy_with_logits", "cosine_embedding_loss",
    "hinge_embedding_loss", "kl_div", "margin_ranking_loss", "triplet_margin_loss", "poisson_nll_loss",
]
FUNCTIONAL = [
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss", "cross_entropy", "binary_cross_entropy",
    "binary_cross_entropy_with_logits", "kl_div", "cosine_similarity", "pairwise_distance", "pdist", "cosine_embedding_loss",
    "margin_ranking_loss", "triplet_margin_loss", "triplet_margin_with_distance_loss", "poisson_nll_loss",
    "gaussian_nll_loss", "hinge_embedding_loss", "soft_margin_loss", "multi_margin_loss", "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
]
NUMBERS = {"none": loss.NONE, "mean": loss.MEAN, "elementwise_mean": loss.MEAN, "sum": loss.SUM}


FLOAT = dtypes.float32.numpy


def kind_of(reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """PyTorch's number for a reduction."""
    if size_average is not None or reduce is not None:
        size_average = size_average is None or size_average
        reduce = reduce is None or reduce
        reduction = "mean" if size_average and reduce else "sum" if reduce else "none"
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.",
            stacklevel=3)
    if isinstance(reduction, int) and not isinstance(reduction, bool):      # what C++ and torch.* take
        return reduction
    if reduction == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3)
    found = NUMBERS.get(reduction)
    if found is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


def reduced(y: Any, kind: int) -> Any:
    return y if kind == loss.NONE else sums.mean(y) if kind == loss.MEAN else sums.sum(y)


def floats(kernel: str, *xs: TensorBase) -> None:
    dtype = promote.result_dtype([x.array for x in xs])
    if dtype.kind not in "fV":
        raise not_implemented(kernel, dtype)


def paired(input: Any, target: Any) -> tuple[TensorBase, TensorBase]:
    """Both in one shape; a UserWarning when they were not."""
    if not isinstance(target, TensorBase) or not isinstance(input, TensorBase):
        odd = input if isinstance(target, TensorBase) else target
        raise AttributeError(f"'{type(odd).__name__}' object has no attribute 'size'")
    a, b = input.array.shape, target.array.shape
    if a == b:
        return input, target
    warnings.warn(
        f"Using a target size ({_size.of(b)}) that is different to the input size ({_size.of(a)}). This will likely "
        "lead to incorrect results due to broadcasting. Please ensure they have the same size.", stacklevel=3)
    promote.check_broadcast(input.array, target.array)
    both = np.broadcast_shapes(a, b)
    return (input if a == both else shape.expand(input, both)), (target if b == both else shape.expand(target, both))


def weighted(y: Any, weight: TensorBase, input: TensorBase, kind: int, by_weight: bool = True) -> Any:
    """y times weight; MEAN divides by the sum of the weights, or by their number."""
    if weight.array.shape != input.array.shape:
        raise ValueError("Weights and input must have the same size.")
    y = arith.mul(y, weight)
    if kind == loss.MEAN and by_weight:
        return arith.div(sums.sum(y), sums.sum(weight))
    return reduced(y, kind)


def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """(input - target) ** 2, averaged or weighted-averaged."""
    x, t = paired(input, target)
    kind = kind_of(reduction, size_average, reduce)
    if x.array.dtype is not FLOAT or t.array.dtype is not FLOAT:
        floats("mse_cpu", x, t)
    if weight is None:
        return loss.MseLossBackward0(kind).run(x, t)
    return weighted(loss.MseLossBackward0(loss.NONE).run(x, t), tensor(weight, "mse_loss", "weight"), x, kind)


def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """|input - target|, averaged or weighted-averaged."""
    x, t = paired(input, target)
    kind = kind_of(reduction, size_average, reduce)
    y = pointwise.abs(arith.sub(x, t))
    if weight is not None:
        return weighted(y, tensor(weight, "l1_loss", "weight"), x, kind)
    return mean(y) if kind == loss.MEAN else reduced(y, kind)


def mean(y: TensorBase) -> Any:
    if y.array.dtype.kind not in "fV":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + names.SCALAR[y.array.dtype.name])
    return sums.mean(y)


def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """A parabola where |input - target| < beta, the distance less beta / 2 elsewhere.   Girshick 2015"""
    x, t = paired(input, target)
    kind = kind_of(reduction, size_average, reduce)
    if beta == 0.0:
        return l1_loss(x, t, reduction=reduction)
    if beta < 0:
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    floats("smooth_l1_cpu", x, t)
    return loss.SmoothL1LossBackward0(kind, beta).run(x, t)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """A parabola where |input - target| <= delta, delta times the distance less delta / 2 elsewhere.   Huber 1964"""
    x, t = paired(input, target)
    kind = kind_of(reduction)
    if delta <= 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    own = x.array.dtype
    if t.array.dtype.kind in "fV":
        check_cast(promote.result_dtype([x.array, t.array]), own)
    floats("huber_cpu", x, t)
    if t.array.dtype != own:                                # the result is of input's dtype
        t = cast(t, own)
    if weight is None:
        return loss.HuberLossBackward0(kind, delta).run(x, t)
    y = loss.HuberLossBackward0(loss.NONE, delta).run(x, t)
    return weighted(y, tensor(weight, "huber_loss", "weight"), x, kind, by_weight=False)


def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """-input at the target class, for log probabilities.

    input (C,), (N, C) or (N, C, d...)   target int64 (), (N,) or (N, d...)   weight (C,)
    "mean" divides by the weights of the targets that are not `ignore_index`.
    """
    return nll(tensor(input, "nll_loss_nd"), tensor(target, "nll_loss_nd", "target", 2), weight,
               kind_of(reduction, size_average, reduce), ignore_index)


def nll(x: TensorBase, target: TensorBase, weight: Any, kind: int, ignored: int) -> Any:
    a, t = x.array, target.array
    if not a.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if a.ndim == 1:
        if t.ndim == 1 and t.shape[0] != 1:
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t.shape[0]}")
    elif t.ndim and a.shape[0] != t.shape[0]:
        raise ValueError(f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({t.shape[0]}).")
    if a.ndim <= 2 and t.ndim > 1:
        raise RuntimeError("0D or 1D target tensor expected, multi-target not supported")
    sizes = a.shape[:1] + a.shape[2:]
    if a.ndim > 2 and t.shape != sizes:
        if a.ndim != 4:
            raise RuntimeError(f"Expected target size {list(sizes)}, got {list(t.shape)}")
        if t.ndim != 3:
            raise RuntimeError(
                f"only batches of spatial targets supported (3D tensors) but got targets of dimension: {t.ndim}")
        raise RuntimeError(f"size mismatch (got input: {list(a.shape)} , target: {list(t.shape)}")
    if a.ndim == 2 and t.shape != sizes:
        raise RuntimeError(f"size mismatch (got input: {list(a.shape)}, target: {list(t.shape)})")
    if t.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {names.SCALAR[t.dtype.name]}")
    classes = a.shape[0] if a.ndim == 1 else a.shape[1]
    w = None if weight is None else tensor(weight, "nll_loss_nd", "weight", 3).array
    if w is not None and (w.ndim != 1 or w.size != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(w.shape)}")
    if a.dtype.kind not in "fV":
        raise not_implemented("nll_loss_out_frame", a.dtype)
    if w is not None and w.dtype != a.dtype:
        raise RuntimeError(f"expected scalar type {names.SCALAR[a.dtype.name]} but found {names.SCALAR[w.dtype.name]}")
    whole = w is None
    if t.size:
        low, high = int(t.min()), int(t.max())
        whole = whole and not low <= ignored <= high
        if low < 0 or high >= classes:
            bad = t[(t != ignored) & ((t < 0) | (t >= classes))]
            if bad.size:
                raise IndexError(f"Target {int(bad.reshape(-1)[0])} is out of bounds.")
    if a.ndim <= 2:
        if a.ndim == 1 and t.ndim == 1:
            t = t.reshape(())
        node: Any = loss.NllLossBackward0(t, w, kind, ignored, whole)
        node.asked = ignored % 2**64
        y = node.run(x)
        watch(node, target)                             # hooks on saved tensors see the input first
        return y
    if a.ndim != 4:
        flat = (a.shape[0], classes, 1, int(np.prod(a.shape[2:])))
        x, t = shape.reshape(x, flat), t.reshape(flat[:1] + flat[2:])
    node = loss.NllLoss2DBackward0(t, w, kind, ignored, whole)
    node.asked = ignored % 2**64
    y = node.run(x)
    watch(node, target)
    return shape.reshape(y, sizes) if kind == loss.NONE and a.ndim != 4 else y


def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:
    """-log_softmax(input) at the target class.

    input (C,), (N, C) or (N, C, d...)   weight (C,)
    target: class numbers int64 (), (N,) or (N, d...), or probabilities in the shape of input.
    label_smoothing mixes the target with the uniform distribution.   Szegedy et al. 2016
    """
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "cross_entropy_loss"), tensor(target, "cross_entropy_loss", "target", 2)
    w = None if weight is None else tensor(weight, "cross_entropy_loss", "weight", 3)
    a, at = x.array, 0 if x.array.ndim <= 1 else 1
    if a.shape == t.array.shape:
        return soft_targets(x, t, w, kind, ignore_index, label_smoothing, at)
    if label_smoothing:
        check_smoothing(label_smoothing)
    y = log_softmax(x, at)
    hard = nll(y, t, weight, kind, ignore_index)
    if not label_smoothing:
        return hard
    return smoothed(y, hard, t.array, w, kind, ignore_index, label_smoothing, at)


def check_smoothing(label_smoothing: float) -> None:
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing:g}")


def across(w: TensorBase, ndim: int, at: int) -> Any:
    """Class weights shaped to broadcast along the classes."""
    return shape.reshape(w, tuple(-1 if i == at else 1 for i in range(ndim)))


def smoothed(
    y: Any, hard: Any, t: Any, w: TensorBase | None, kind: int, ignored: int, smoothing: float, at: int,
) -> Any:
    ndim, classes = y.array.ndim, y.array.shape[at]
    t = t.reshape(()) if ndim == 1 else t
    each = arith.neg(sums.sum_dims(y if w is None else arith.mul(y, across(w, ndim, at)), (at,), False))
    skip = t == ignored
    each = choose.masked_fill_(each, skip, 0.0)
    if kind == loss.MEAN:
        if w is None:
            count = np.asarray(np.count_nonzero(~skip), np.int64)
        else:
            with np.errstate(all="ignore"):
                count = np.asarray(np.where(skip, 0, w.array[np.where(skip, 0, t)]).sum()).astype(w.array.dtype)
        each = arith.div(sums.sum(each), wrap(count))
    else:
        each = reduced(each, kind)
    return arith.add(number.mul_number(hard, 1 - smoothing), number.mul_number(each, smoothing / classes))


def soft_targets(
    x: TensorBase, t: TensorBase, w: TensorBase | None, kind: int, ignored: int, smoothing: float, at: int,
) -> Any:
    d = t.array.dtype
    if d.kind not in "fV":
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {names.SCALAR[d.name]}")
    if ignored >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    classes = x.array.shape[at] if x.array.ndim else 1
    if w is not None and (w.array.ndim != 1 or w.array.size != classes):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(w.array.shape)}")
    y = log_softmax(x, at)
    if smoothing:
        check_smoothing(smoothing)
        t = number.add_number(number.mul_number(t, 1 - smoothing), smoothing / classes)
    y = arith.mul(y, t)
    if w is not None:
        y = arith.mul(y, across(w, x.array.ndim, at))
    if kind == loss.NONE:
        return arith.neg(sums.sum_dims(y, (at,), False) if x.array.ndim else y)
    y = arith.neg(sums.sum(y))
    return number.div_number(y, x.array.size / classes) if kind == loss.MEAN else y


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """-(target log input + (1 - target) log(1 - input)) for probabilities; logarithms no smaller than -100."""
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "binary_cross_entropy"), tensor(target, "binary_cross_entropy", "target", 2)
    a, b = x.array, t.array
    if a.shape != b.shape:
        raise ValueError(
            f"Using a target size ({_size.of(b.shape)}) that is different to the input size ({_size.of(a.shape)}) is "
            "deprecated. Please ensure they have the same size.")
    w = None if weight is None else fitting(tensor(weight, "binary_cross_entropy", "weight", 3).array, a)
    unwidened(w, a)
    if b.dtype != a.dtype:
        raise RuntimeError(f"Found dtype {names.SCALAR[b.dtype.name]} but expected {names.SCALAR[a.dtype.name]}")
    floats("binary_cross_entropy", x)
    for name, z in (("input", a), ("target", b)):
        if not np.all((z >= 0) & (z <= 1)):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return loss.BinaryCrossEntropyBackward0(kind, w).run(x, t)


def unwidened(w: Any, a: Any) -> None:
    """RuntimeError when the weight would broadcast the loss to another shape."""
    if w is not None and w.ndim > a.ndim:
        whole = np.broadcast_shapes(a.shape, w.shape)
        raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(whole)}")


def fitting(w: Any, a: Any) -> Any:
    for i in range(1, max(w.ndim, a.ndim) + 1):
        n = w.shape[-i] if i <= w.ndim else 1
        if n != 1 and (i > a.ndim or n != a.shape[-i]):
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {n} at {-i}! Mismatching argument at index 1 had "
                f"{_size.of(w.shape)}; but expected shape should be broadcastable to {list(a.shape)}")
    return w


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:
    """binary_cross_entropy of sigmoid(input) without its overflow; pos_weight weighs the targets 1."""
    kind = kind_of(reduction, size_average, reduce)
    x = tensor(input, "binary_cross_entropy_with_logits")
    t = tensor(target, "binary_cross_entropy_with_logits", "target", 2)
    a, b = x.array, t.array
    if a.shape != b.shape:
        raise ValueError(f"Target size ({_size.of(b.shape)}) must be the same as input size ({_size.of(a.shape)})")
    if b.dtype.kind == "b" and a.dtype.kind in "fV":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead.")
    if b.dtype.kind in "iub" and a.dtype.kind in "fV":
        check_cast(a.dtype, b.dtype)
    w = None if weight is None else tensor(weight, "binary_cross_entropy_with_logits", "weight", 3).array
    p = None if pos_weight is None else tensor(pos_weight, "binary_cross_entropy_with_logits", "pos_weight", 4).array
    if p is not None:
        promote.check_broadcast(p, b)
    if w is not None:
        promote.check_broadcast(b, w)
    floats("log_sigmoid_cpu", x)
    unwidened(w, a)
    y = loss.BinaryCrossEntropyWithLogitsBackward0(kind, w, p).run(x, t)
    return y if b.dtype == a.dtype or y.array.dtype == b.dtype else cast(y, b.dtype)        # (1 - target) is multiplied in place


def kl_div(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target * (log(target) - input): input holds log probabilities, target too if log_target.

    "batchmean" divides the sum by the length of dim 0, which is the divergence.   Kullback and Leibler 1951
    """
    x, t = tensor(input, "kl_div"), tensor(target, "kl_div", "target", 2)
    if size_average is not None or reduce is not None:
        kind = kind_of(reduction, size_average, reduce)
    else:
        if reduction == "mean":
            warnings.warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
                "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to "
                "behave the same as 'batchmean' in the next major release.", stacklevel=2)
        kind = loss.SUM if reduction == "batchmean" else kind_of(reduction)
    if x.array.dtype.kind in "iub" or t.array.dtype.kind in "iub":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if log_target:
        y = arith.mul(pointwise.exp(t), arith.sub(t, x))
    else:
        y = arith.sub(xlogy(t, t), arith.mul(t, x))
    y = reduced(y, kind)
    if reduction == "batchmean" and x.array.ndim:
        return arith.div(y, x.array.shape[0])
    return y


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """x1 . x2 / (|x1| |x2|) along dim; norms no smaller than eps."""
    a, b = tensor(x1, "cosine_similarity", "x1"), tensor(x2, "cosine_similarity", "x2", 2)
    promote.check_broadcast(a.array, b.array)
    dtype = promote.result_dtype([a.array, b.array])
    if dtype.kind not in "fV":
        raise RuntimeError(f"expected common dtype to be floating point, yet common dtype is {names.SCALAR[dtype.name]}")
    both = np.broadcast_shapes(a.array.shape, b.array.shape)
    at = dim_of(dim, len(both))
    units = []
    for x in (a, b):
        x = x if x.array.dtype == dtype else cast(x, dtype)
        x = x if x.array.shape == both else shape.expand(x, both)
        size = create.clone(moment.norm(x, 2, (at,) if both else None, bool(both), None))
        size.array = np.maximum(size.array, eps).astype(dtype)      # outside the graph: the gradient passes the bound
        units.append(arith.div(x, size))
    return sums.sum_dims(arith.mul(units[0], units[1]), (at,) if both else (), False)


def pairwise_distance(x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> Any:
    """The p-norm of x1 - x2 + eps along the last dim."""
    a, b = tensor(x1, "pairwise_distance", "x1"), tensor(x2, "pairwise_distance", "x2", 2)
    d = number.add_number(arith.sub(a, b), eps)
    return loss.NormBackward1(p, (d.array.ndim - 1,) if d.array.ndim else (), keepdim).run(d)


def above(y: Any) -> Any:
    """max(y, 0)"""
    return step.ClampMinBackward0(0).run(y)


def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """1 - cos(input1, input2) where target is 1, max(0, cos - margin) where it is -1.

    inputs (N, C) or (C,)   target (N,) or ()
    """
    kind = kind_of(reduction, size_average, reduce)
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
    other = choose.where(t == -1, above(number.sub_number(cosine, margin)), zeros)
    return reduced(arith.add(same, other), kind)


def sum_last(x: Any, at: int) -> Any:
    return sums.sum_dims(x, (at,), False)


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """max(0, -target * (input1 - input2) + margin), target 1 or -1."""
    kind = kind_of(reduction, size_average, reduce)
    a, b = tensor(input1, "margin_ranking_loss", "input1"), tensor(input2, "margin_ranking_loss", "input2", 2)
    t = tensor(target, "margin_ranking_loss", "target", 3)
    if not a.array.ndim == b.array.ndim == t.array.ndim:
        raise RuntimeError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {_size.of(a.array.shape)}, input2: {_size.of(b.array.shape)}, target: {_size.of(t.array.shape)} ")
    return reduced(above(number.add_number(arith.mul(arith.neg(t), arith.sub(a, b)), margin)), kind)


def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """max(0, d(anchor, positive) - d(anchor, negative) + margin), d the p-norm along the last dim.

    swap: use d(positive, negative) where it is smaller.   Balntas et al. 2016
    """
    kind = kind_of(reduction, size_average, reduce)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    a, b, c = (tensor(x, "triplet_margin_loss", n, i) for i, (x, n) in enumerate(
        ((anchor, "anchor"), (positive, "positive"), (negative, "negative")), 1))
    same_dims(a, b, c)
    near, far = pairwise_distance(a, b, p, eps), pairwise_distance(a, c, p, eps)
    if swap:
        far = choose.minimum(far, pairwise_distance(b, c, p, eps))
    return reduced(above(arith.sub(number.add_number(near, margin), far)), kind)


def same_dims(a: TensorBase, b: TensorBase, c: TensorBase) -> None:
    if not a.array.ndim == b.array.ndim == c.array.ndim:
        raise RuntimeError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {a.array.ndim}D, positive {b.array.ndim}D, and negative {c.array.ndim}D inputs")


def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Callable[..., Any] | None = None,
    margin: float = 1.0, swap: bool = False, reduction: str = "mean",
) -> Any:
    """triplet_margin_loss with any distance; by default pairwise_distance."""
    kind = kind_of(reduction)
    if margin <= 0:
        raise ValueError(f"margin must be greater than 0, got {margin}")
    distance = pairwise_distance if distance_function is None else distance_function
    same_dims(anchor, positive, negative)
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = choose.minimum(far, distance(positive, negative))
    return reduced(above(arith.sub(arith.add(near, margin), far)), kind)


def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """exp(input) - target * input, or input - target * log(input + eps); full: plus Stirling's term for target > 1."""
    x, t = tensor(input, "poisson_nll_loss"), tensor(target, "poisson_nll_loss", "target", 2)
    kind = kind_of(reduction, size_average, reduce)
    if log_input:
        y = arith.sub(pointwise.exp(x), arith.mul(t, x))
    else:
        y = arith.sub(x, arith.mul(t, pointwise.log(number.add_number(x, eps))))
    if full:
        half = number.mul_number(pointwise.log(number.mul_number(t, 2 * math.pi)), 0.5)
        term = arith.add(arith.sub(arith.mul(t, pointwise.log(t)), t), half)
        y = arith.add(y, choose.masked_fill(term, t.array <= 1, 0.0))
    return reduced(y, kind)


def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean",
) -> Any:
    """(log(var) + (input - target) ** 2 / var) / 2, var no smaller than eps; full: plus log(2 pi) / 2.

    var: a number, or a tensor in the shape of input, or with its last dim missing or 1.   Nix and Weigend 1994
    """
    x, t = tensor(input, "gaussian_nll_loss"), tensor(target, "gaussian_nll_loss", "target", 2)
    a = x.array
    if isinstance(var, (int, float)):
        if var < 0:
            raise ValueError("var has negative entry/entries")
        v: Any = wrap(np.full(a.shape, var, a.dtype))
    else:
        v = tensor(var, "gaussian_nll_loss", "var", 3)
        have = v.array.shape
        if have != a.shape:
            if a.shape[:-1] == have:
                v = shape.unsqueeze(v, -1)
            elif not (a.ndim == len(have) and a.shape[:-1] == have[:-1] and have[-1] == 1):
                raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    if np.any(v.array < 0):
        raise ValueError("var has negative entry/entries")
    if v.array.dtype.kind in "iub":
        raise RuntimeError(f"result type Float can't be cast to the desired output type {names.C[v.array.dtype.name]}")
    v = create.clone(v)
    v.array = np.maximum(v.array, eps).astype(v.array.dtype)        # outside the graph: the gradient passes the bound
    y = arith.mul(arith.add(pointwise.log(v), arith.div(arith.pow(arith.sub(x, t), 2), v)), 0.5)
    if full:
        y = arith.add(y, 0.5 * math.log(2 * math.pi))
    return reduced(y, NUMBERS[reduction])


def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """input where target is 1, max(0, margin - input) where it is -1."""
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "hinge_embedding_loss"), tensor(target, "hinge_embedding_loss", "target", 2).array
    promote.check_broadcast(t, x.array)
    zeros = wrap(np.zeros_like(x.array))
    if x.array.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead.")
    gap = margin if x.array.dtype.kind in "fV" else int(margin)         # written into a tensor of input's dtype
    other = choose.where(t != 1, above(arith.sub(gap, x)), zeros)
    y = arith.add(other, choose.where(t != -1, x, zeros))
    if kind == loss.MEAN and y.array.dtype.kind not in "fV":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + names.SCALAR[y.array.dtype.name])
    return reduced(y, kind)


def soft_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """log(1 + exp(-target * input)), target 1 or -1."""
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "soft_margin_loss"), tensor(target, "soft_margin_loss", "target", 2).array
    promote.check_broadcast(x.array, t)
    if x.array.dtype.kind == "b":
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                           "use the `~` or `logical_not()` operator instead.")
    check_cast(promote.default.float_, x.array.dtype)
    whole = np.broadcast_shapes(x.array.shape, t.shape)
    if whole != x.array.shape:
        raise RuntimeError(f"output with shape {list(x.array.shape)} doesn't match the broadcast shape {list(whole)}")
    return loss.SoftMarginLossBackward0(t.astype(x.array.dtype), kind).run(x)


def check_classes(a: Any) -> None:
    if a.ndim > 2 or (a.ndim and not a.shape[-1]):
        raise RuntimeError(
            f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(a.shape)}")


def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """The mean over classes j of weight[target] * max(0, margin - input[target] + input[j]) ** p, p 1 or 2.

    input (N, C) or (C,)   target int64 (N,) or ()
    """
    kind = kind_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ValueError("only p == 1 and p == 2 supported")
    w = None if weight is None else tensor(weight, "multi_margin_loss", "weight", 5).array
    if w is not None and w.ndim != 1:
        raise ValueError("weight must be one-dimensional")
    x, t = tensor(input, "multi_margin_loss"), tensor(target, "multi_margin_loss", "target", 2).array
    a = x.array
    if not a.ndim:
        return multi_margin_loss(shape.reshape(x, (1,)), target, p, margin, weight, reduction=kind)  # type: ignore[arg-type]
    check_classes(a)
    n, classes = (a.shape[0], a.shape[1]) if a.ndim == 2 else (1, a.shape[0] if a.ndim else 1)
    if t.ndim > 1 or t.size != n:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{n}], but got {list(t.shape)}. Input has shape {list(a.shape)}.")
    if w is not None and w.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(w.shape)}")
    if t.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {names.SCALAR[t.dtype.name]}")
    if np.any((t < 0) | (t >= classes)):
        raise RuntimeError("target out of range")
    if a.dtype.kind in "iub" or a.dtype.itemsize == 2:
        raise not_implemented("multi_margin_loss_cpu_kernel", a.dtype)
    if w is not None and w.dtype != a.dtype:
        raise RuntimeError(f"expected scalar type {names.SCALAR[a.dtype.name]} but found {names.SCALAR[w.dtype.name]}")
    return loss.MultiMarginLossBackward0(t, p, margin, w, kind).run(x)


def multilabel_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """The mean over classes of max(0, 1 - input[t] + input[j]), t the targets before the first -1, j the others.

    input (N, C) or (C,)   target int64, the same shape
    """
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "multilabel_margin_loss"), tensor(target, "multilabel_margin_loss", "target", 2).array
    a = x.array
    check_classes(a)
    if t.shape != a.shape:
        raise RuntimeError(f"inconsistent target size: {list(t.shape)} for input of size: {list(a.shape)}")
    if not a.ndim:
        x, t, a = shape.reshape(x, (1,)), t.reshape(1), a.reshape(1)
    if a.dtype.kind in "iub" or a.dtype.itemsize == 2:
        raise not_implemented("multilabel_margin_loss_forward_out_frame", a.dtype)
    if t.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {names.SCALAR[t.dtype.name]}")
    if np.any((t < -1) | (t >= a.shape[-1])):
        raise RuntimeError("argument #2 'target' is out of range")
    return loss.MultilabelMarginLossBackward0(t, kind).run(x)


def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """binary_cross_entropy_with_logits averaged over the last dim."""
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "multilabel_soft_margin_loss"), tensor(target, "multilabel_soft_margin_loss", "target", 2)
    floats("log_sigmoid_cpu", x)
    yes = arith.mul(t, activation.logsigmoid(x))
    no = arith.mul(arith.rsub(t, 1), activation.logsigmoid(arith.neg(x)))
    y = arith.neg(arith.add(yes, no))
    if weight is not None:
        y = arith.mul(y, weight)
    ndim = y.array.ndim
    y = arith.div(sums.sum_dims(y, (ndim - 1,), False), x.array.shape[-1])
    return reduced(y, kind)


def pdist(input: Any, p: float = 2.0) -> Any:
    """The p-distances of each two rows of input (N, M), as one vector of N (N - 1) / 2: (0, 1), (0, 2), ..., (1, 2), ..."""
    x: Any = tensor(input, "pdist")
    if x.array.ndim != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {x.array.ndim}D")
    if x.array.dtype.kind not in "fV":
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows, columns = np.triu_indices(x.array.shape[0], 1)
    gaps = arith.sub(x[wrap(rows.astype(np.int64))], x[wrap(columns.astype(np.int64))])
    return moment.norm(gaps, p, (1,), False, None)
