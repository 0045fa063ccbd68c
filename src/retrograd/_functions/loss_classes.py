"""Losses of scores of classes: F.cross_entropy, F.nll_loss, F.multi_margin_loss, ...   N batch, C classes, d spatial dims"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine import names
from .._engine.op import watch
from .._engine.tensor import TensorBase, wrap
from .._rules import activation, arith, choose, index, loss, number, shape
from .._rules import reduce as sums
from .._rules.index import check_number
from .activation import log_softmax
from .arguments import dim_of, long, operand, sized, tensor
from .loss import floats, kind_of, older_reduction, reduced
from .pointwise import not_implemented


def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """-input at the target class, for log probabilities.

    input (C,), (N, C) or (N, C, d...)   target int64 (), (N,) or (N, d...)   weight (C,)
    "mean" divides by the weights of the targets that are not `ignore_index`.
    """
    kind = kind_of(reduction, size_average, reduce)
    return nll(tensor(input, "nll_loss_nd"), tensor(target, "nll_loss_nd", "target", 2), weight, kind, long(ignore_index))


def nll(x: TensorBase, target: TensorBase, weight: Any, kind: int, ignored: int) -> Any:
    a, t = x.array, target.array
    if not a.ndim:
        raise ValueError("Expected 1 or more dimensions (got 0)")
    if a.ndim == 1:
        if t.ndim == 1 and t.shape[0] != 1:
            check_target(t)
            raise ValueError(f"For 1D input, 1D target must have size 1, but got target size: {t.shape[0]}")
    elif a.shape[0] != (t.shape[0] if t.ndim else 0):
        raise ValueError(
            f"Expected input batch_size ({a.shape[0]}) to match target batch_size ({t.shape[0] if t.ndim else 0}).")
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
    check_target(t)
    if a.ndim > 2 and t.dtype.kind == "u":
        raise RuntimeError("expected scalar type Long but found Byte")
    classes = a.shape[0] if a.ndim == 1 else a.shape[1]
    w = None if weight is None else tensor(weight, "nll_loss_nd", "weight", 3).array
    if w is not None and (w.ndim != 1 or w.size != classes):
        raise RuntimeError(
            f"weight tensor should be defined either for all {classes} classes or no classes but got weight tensor of "
            f"shape: {list(w.shape)}")
    if not a.size and t.size and a.ndim not in (1, 2, 4):
        raise RuntimeError(f"size mismatch (got input: {[a.shape[0], 0, 0, 0]} , target: {[t.shape[0], 1, t[0].size]}")
    if a.dtype.kind not in "fV":
        raise not_implemented("nll_loss_out_frame" if a.ndim < 3 else "nll_loss2d_forward_out_frame", a.dtype)
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
        if not classes:
            return of_no_classes(x, kind)
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


def check_target(t: Any) -> None:
    if t.dtype.name not in ("int64", "uint8"):
        raise RuntimeError(f"expected target dtype to be Long or Byte, but got {names.SCALAR[t.dtype.name]}")


def of_no_classes(x: TensorBase, kind: int) -> Any:
    """nll where every target is ignored, as there is no class."""
    each = sums.sum_dims(x, (0 if x.array.ndim == 1 else 1,), False)
    return number.div_number(sums.sum(each), 0.0) if kind == loss.MEAN else reduced(each, kind)


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
    ignore_index = long(ignore_index)
    a, at = x.array, 0 if x.array.ndim == 1 else 1
    if a.shape == t.array.shape:
        return soft_targets(x, t, w, kind, ignore_index, label_smoothing, at)
    if label_smoothing > 0:
        check_smoothing(label_smoothing)
    y = log_softmax(x, at)
    hard = nll(y, t, weight, kind, ignore_index)
    if not label_smoothing > 0:
        return hard
    return smoothed(y, hard, t.array, w, kind, ignore_index, label_smoothing, at)


def check_smoothing(label_smoothing: float) -> None:
    if label_smoothing > 1.0:
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
            if t.dtype.kind == "u":
                raise RuntimeError("gather(): Expected dtype int32/int64 for index")
            with np.errstate(all="ignore"):
                count = np.asarray(np.where(skip, 0, w.array[np.where(skip, 0, t)]).sum()).astype(w.array.dtype)
        each = arith.div(sums.sum(each), wrap(count))
    else:
        each = reduced(each, kind)
    return arith.add(number.mul_number(hard, 1 - smoothing), number.mul_number(each, smoothing / classes if classes else np.nan))


def soft_targets(
    x: TensorBase, t: TensorBase, w: TensorBase | None, kind: int, ignored: int, smoothing: float, at: int,
) -> Any:
    d = t.array.dtype
    if d.kind not in "fV":
        raise RuntimeError(f"Expected floating point type for target with class probabilities, got {names.SCALAR[d.name]}")
    if ignored >= 0:
        raise RuntimeError("ignore_index is not supported for floating point target")
    if not x.array.ndim:
        raise IndexError("Dimension specified as 1 but tensor has no dimensions")
    classes = x.array.shape[at]
    if w is not None and (w.array.ndim != 1 or w.array.size != classes):
        raise RuntimeError(
            f"cross_entropy: weight tensor should be defined either for all {classes} classes or no classes but got "
            f"weight tensor of shape: {list(w.array.shape)}")
    y = log_softmax(x, at)
    if smoothing > 0:
        check_smoothing(smoothing)
        t = number.add_number(number.mul_number(t, 1 - smoothing), smoothing / classes if classes else math.inf)
    y = arith.mul(y, t)
    if w is not None:
        y = arith.mul(y, across(w, x.array.ndim, at))
    if kind == loss.NONE:
        return arith.neg(sums.sum_dims(y, (at,), False) if x.array.ndim else y)
    y = sums.sum(y)
    if not x.array.size:
        return arith.neg(index.fill_(y, math.nan if kind == loss.MEAN else 0.0))
    y = arith.neg(y)
    return number.div_number(y, x.array.size / classes) if kind == loss.MEAN else y


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
    check_number(margin, a.dtype)
    check_classes(a)
    n, classes = (a.shape[0], a.shape[1]) if a.ndim == 2 else (1, a.shape[0] if a.ndim else 1)
    if t.ndim > 1 or t.size != n:
        raise RuntimeError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch "
            f"size). Expected target size [{n}], but got {list(t.shape)}. Input has shape {list(a.shape)}.")
    if w is not None and w.size != classes:
        raise RuntimeError(f"inconsistent weight size, expected {classes} but got {list(w.shape)}")
    if a.dtype.kind in "iub" or a.dtype.itemsize == 2:
        raise not_implemented("multi_margin_loss_cpu_kernel", a.dtype)
    if t.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {names.SCALAR[t.dtype.name]}")
    if np.any((t < 0) | (t >= classes)):
        raise RuntimeError("target out of range")
    if w is not None and w.dtype != a.dtype:
        raise RuntimeError(f"expected scalar type {names.SCALAR[a.dtype.name]} but found {names.SCALAR[w.dtype.name]}")
    return loss.MultiMarginLossBackward0(t, int(p), margin, w, kind).run(x)


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
    if np.any((t < -1) | (t >= a.shape[-1])):
        raise RuntimeError("argument #2 'target' is out of range")
    if a.dtype.kind in "iub" or a.dtype.itemsize == 2:
        raise not_implemented("multilabel_margin_loss_forward_out_frame", a.dtype)
    if t.dtype != np.int64:
        raise RuntimeError(f"expected scalar type Long but found {names.SCALAR[t.dtype.name]}")
    return loss.MultilabelMarginLossBackward0(t, kind).run(x)


def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """binary_cross_entropy_with_logits averaged over the last dim."""
    if size_average is not None or reduce is not None:
        reduction = older_reduction(size_average, reduce)
    x, t = tensor(input, "log_sigmoid"), operand(target, "mul", "other")
    floats("log_sigmoid_cpu", x)
    yes = arith.mul(t, activation.logsigmoid(x))
    no = arith.mul(arith.rsub(t, 1) if isinstance(t, TensorBase) else 1 - t, activation.logsigmoid(arith.neg(x)))
    y = arith.neg(arith.add(yes, no))
    if weight is not None:
        y = arith.mul(y, operand(weight, "mul", "other"))
    at, count = x.array.ndim - 1, sized(x, -1)
    y = arith.div(sums.sum_dims(y, (dim_of(at, y.array.ndim),), False), count)
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    return reduced(y, kind_of(reduction))
