"""Losses of each element for itself: F.mse_loss, F.binary_cross_entropy, ...   input, target (*)

`reduction` "none" keeps every element, "mean" and "sum" give one number; `size_average` and `reduce` are its deprecated
forms.

pos_weight   factor of the positive term, one that broadcasts with the target
log_target   True: the target holds log-probabilities
log_input    True: the input is the logarithm of the rate
full         True: add Stirling's approximation of log(target!)
eps          added inside the logarithm of a rate
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine import names, promote
from .._engine.op import recording
from .._engine.tensor import TensorBase, wrap
from .._engine.views import check_cast
from .._engine.warn import warn
from .._rules import activation, arith, choose, create, loss, number, pointwise, rounding, shape
from .._rules import reduce as sums
from .._rules.cast import cast
from .._rules.index import check_number
from .._tensor import dtypes, size
from .arguments import operand, real_only, refused, tensor
from .pointwise import not_implemented, xlogy

NUMBERS = {"none": loss.NONE, "mean": loss.MEAN, "elementwise_mean": loss.MEAN, "sum": loss.SUM}
FLOAT = dtypes.float32.numpy
CLAMP = "clamp is not supported for complex types"


def kind_of(reduction: Any, size_average: bool | None = None, reduce: bool | None = None) -> int:
    """PyTorch's number for a reduction."""
    if size_average is not None or reduce is not None:
        reduction = older_reduction(size_average, reduce)
    if isinstance(reduction, int) and not isinstance(reduction, bool):      # what C++ and torch.* take
        return reduction
    if reduction == "elementwise_mean":
        warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.")
    found = NUMBERS.get(reduction) if isinstance(reduction, str) else None
    if found is None:
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return found


def older_reduction(size_average: bool | None, reduce: bool | None) -> str:
    """The reduction that two older flags meant (None is True), with the warning that they are old."""
    mean, reduced = size_average is None or size_average, reduce is None or reduce
    reduction = "mean" if mean and reduced else "sum" if reduced else "none"
    warn(f"size_average and reduce args will be deprecated, please use reduction='{reduction}' instead.")
    return reduction


def reduced(y: Any, kind: int) -> Any:
    return sums.mean(y) if kind == loss.MEAN else sums.sum(y) if kind == loss.SUM else y


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
    warn(
        f"Using a target size ({size.of(b)}) that is different to the input size ({size.of(a)}). This will likely "
        "lead to incorrect results due to broadcasting. Please ensure they have the same size.")
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
    """(input - target) ** 2: (*) and (*) -> (), or (*) with reduction="none".  Other shapes broadcast, with a warning.

    weight (*): "mean" divides by its sum.  ValueError when its shape is not input's.
    """
    x, t = paired(input, target)
    kind = kind_of(reduction, size_average, reduce)
    if weight is not None:
        return weighted(arith.pow(arith.sub(x, t), 2), tensor(weight, "mse_loss", "weight"), x, kind)
    if x.array.dtype is not FLOAT or t.array.dtype is not FLOAT:
        floats("mse_cpu", x, t)
    return loss.MseLossBackward0(kind).run(x, t)


def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:
    """|input - target|, shapes as in mse_loss."""
    x, t = paired(input, target)
    kind = kind_of(reduction, size_average, reduce)
    y = pointwise.abs(arith.sub(x, t))
    if weight is not None:
        return weighted(y, tensor(weight, "l1_loss", "weight"), x, kind)
    return float_mean(y) if kind == loss.MEAN else reduced(y, kind)


def float_mean(y: TensorBase) -> Any:
    if y.array.dtype.kind not in "fV":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + names.SCALAR[y.array.dtype.name])
    return sums.mean(y)


def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Any:
    """A parabola where |input - target| < beta, the distance less beta / 2 elsewhere.   Shapes as in mse_loss.  Girshick 2015"""
    x, t = paired(input, target)
    kind = kind_of(reduction, size_average, reduce)
    if beta == 0.0:
        return l1_loss(x, t, reduction=reduction)
    if not beta >= 0:                                        # nan, too
        raise RuntimeError("smooth_l1_loss does not support negative values for beta.")
    floats("smooth_l1_cpu", x, t)
    return loss.SmoothL1LossBackward0(kind, beta).run(x, t)


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """A parabola where |input - target| <= delta, delta times the distance less delta / 2 elsewhere.   Huber 1964"""
    x, t = paired(input, target)
    kind = kind_of(reduction)
    if not delta > 0:
        raise RuntimeError("huber_loss does not support non-positive values for delta.")
    own = x.array.dtype
    if t.array.dtype.kind in "fVc":
        check_cast(promote.result_dtype([x.array, t.array]), own)
    floats("huber_cpu", x, t)
    if t.array.dtype != own:                                # the result is of input's dtype
        t = cast(t, own)
    if weight is None:
        return loss.HuberLossBackward0(kind, delta).run(x, t)
    y = loss.HuberLossBackward0(loss.NONE, delta).run(x, t)
    return weighted(y, tensor(weight, "huber_loss", "weight"), x, kind, by_weight=False)


def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """-(target log input + (1 - target) log(1 - input)) for probabilities; logarithms no smaller than -100.

    (*) and (*) -> (), or (*) with reduction="none"; weight broadcasts.  ValueError for other shapes, RuntimeError outside 0..1.
    """
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "binary_cross_entropy"), tensor(target, "binary_cross_entropy", "target", 2)
    a, b = x.array, t.array
    if a.shape != b.shape:
        raise ValueError(
            f"Using a target size ({size.of(b.shape)}) that is different to the input size ({size.of(a.shape)}) is "
            "deprecated. Please ensure they have the same size.")
    w = None if weight is None else fitting(tensor(weight, "binary_cross_entropy", "weight", 3).array, a)
    unwidened(w, a)
    real_weight(w, a)
    if b.dtype != a.dtype:
        raise RuntimeError(f"Found dtype {names.SCALAR[b.dtype.name]} but expected {names.SCALAR[a.dtype.name]}")
    floats("binary_cross_entropy", x)
    for name, z in (("input", a), ("target", b)):
        if not np.all((z >= 0) & (z <= 1)):
            raise RuntimeError(f"all elements of {name} should be between 0 and 1")
    return loss.BinaryCrossEntropyBackward0(kind, w).run(x, t)


def unwidened(w: Any, a: Any) -> None:
    """RuntimeError when the weight would broadcast the loss to another shape."""
    if w is not None and (whole := np.broadcast_shapes(a.shape, w.shape)) != a.shape:
        raise RuntimeError(f"output with shape {list(a.shape)} doesn't match the broadcast shape {list(whole)}")


def real_weight(w: Any, a: Any) -> None:
    """RuntimeError when the weight would make the loss complex."""
    if w is not None and w.dtype.kind == "c":
        check_cast(w.dtype, a.dtype)


def fitting(w: Any, a: Any) -> Any:
    for i in range(1, min(w.ndim, a.ndim) + 1):
        n = w.shape[-i]
        if 1 not in (n, a.shape[-i]) and n != a.shape[-i]:
            raise RuntimeError(
                f"Attempting to broadcast a dimension of length {n} at {-i}! Mismatching argument at index 1 had "
                f"{size.of(w.shape)}; but expected shape should be broadcastable to {list(a.shape)}")
    return w


# NOTE [Losses of torch]
# Seven losses stand in torch, too, where `reduction` is a number.  PyTorch's parser reads its default, Mean, as 0: nothing is
# reduced, and so it is with any number but 1, the mean, and 2, the sum.  `F_x` is the x of nn.functional.

def F_binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean", pos_weight: Any = None,
) -> Any:
    """binary_cross_entropy of sigmoid(input) without its overflow; pos_weight weighs the targets 1.

    (*) and (*) -> (), or (*) with reduction="none"; weights broadcast.  ValueError for other shapes.
    """
    return binary_cross_entropy_with_logits(input, target, weight, pos_weight, kind_of(reduction, size_average, reduce))


def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, pos_weight: Any = None, reduction: int = 0,
) -> Any:
    """F.binary_cross_entropy_with_logits with reduction 0 (none), 1 (mean) or 2 (sum)."""
    kind = reduction if reduction in (loss.MEAN, loss.SUM) else loss.NONE
    x = tensor(input, "binary_cross_entropy_with_logits")
    t = tensor(target, "binary_cross_entropy_with_logits", "target", 2)
    a, b = x.array, t.array
    if a.shape != b.shape:
        raise ValueError(f"Target size ({size.of(b.shape)}) must be the same as input size ({size.of(a.shape)})")
    if b.dtype.kind == "b" and a.dtype.kind in "fV":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead.")
    if b.dtype.kind in "iub" and a.dtype.kind in "fV":
        check_cast(a.dtype, b.dtype)
    w = None if weight is None else tensor(weight, "binary_cross_entropy_with_logits", "weight", 3).array
    p = None if pos_weight is None else tensor(pos_weight, "binary_cross_entropy_with_logits", "pos_weight", 4).array
    if p is not None:
        if p.dtype.kind == "b":
            raise RuntimeError(
                "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
                "`~` or `logical_not()` operator instead.")
        if p.dtype.kind == "u":
            p = (p - 1).astype(a.dtype) + 1                 # what it is less 1 is a uint8, too
        promote.check_broadcast(p, b)
    if w is not None:
        promote.check_broadcast(b, w)
    floats("log_sigmoid_cpu", x)
    unwidened(w, a)
    for v in (w, p, None if p is None else b):
        real_weight(v, a)
    if b.dtype.kind == "c":
        return reduced(complex_targets(x, t, w), kind)
    return loss.BinaryCrossEntropyWithLogitsBackward0(kind, w, p, b.dtype).run(x, t)


def complex_targets(x: TensorBase, t: TensorBase, weight: Any) -> Any:
    """binary_cross_entropy_with_logits of each element, for complex targets."""
    if recording(x) or recording(t):
        raise RuntimeError(
            "binary_cross_entropy_with_logits does not support automatic differentiation for outputs with complex dtype.")
    y = arith.sub(arith.mul(arith.rsub(t, 1), x), activation.logsigmoid(x))
    return y if weight is None else arith.mul(y, wrap(weight))


def F_kl_div(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    log_target: bool = False,
) -> Any:
    """target * (log(target) - input): input holds log probabilities, target too if log_target.

    "batchmean" divides the sum by the length of dim 0, which is the divergence.   Kullback and Leibler 1951
    """
    if size_average is not None or reduce is not None:
        kind = kind_of(reduction, size_average, reduce)
    else:
        if reduction == "mean":
            warn(
                "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' "
                "divides only by the batch size, and aligns with the KL div math definition.'mean' will be changed to "
                "behave the same as 'batchmean' in the next major release.")
        kind = loss.SUM if reduction == "batchmean" else kind_of(reduction)
    y = kl_div(input, target, kind, log_target=log_target)
    if reduction == "batchmean" and input.array.ndim:
        return arith.div(y, input.array.shape[0])
    return y


def kl_div(input: Any, target: Any, reduction: int = 0, *, log_target: bool = False) -> Any:
    """F.kl_div with reduction 0 (none), 1 (mean) or 2 (sum)."""
    x, t = tensor(input, "kl_div"), tensor(target, "kl_div", "target", 2)
    if x.array.dtype.kind in "iub" or t.array.dtype.kind in "iub":
        raise RuntimeError("kl_div: Integral inputs not supported.")
    if "c" in (x.array.dtype.kind, t.array.dtype.kind):
        raise RuntimeError("kl_div: Complex inputs not supported.")
    if log_target:
        y = arith.mul(pointwise.exp(t), arith.sub(t, x))
    else:
        y = arith.sub(xlogy(t, t), arith.mul(t, x))
    return reduced(y, reduction)


def F_poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: bool | None = None,
    eps: float = 1e-8, reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """exp(input) - target * input; or, unless log_input, input - target * log(input + eps).

    full: plus Stirling's approximation of log(target!) where target > 1.
    """
    return poisson_nll_loss(input, target, log_input, full, eps, kind_of(reduction, size_average, reduce))


def poisson_nll_loss(input: Any, target: Any, log_input: bool, full: bool, eps: float, reduction: int) -> Any:
    """F.poisson_nll_loss with reduction 0 (none), 1 (mean) or 2 (sum)."""
    x, t = tensor(input, "poisson_nll_loss"), tensor(target, "poisson_nll_loss", "target", 2)
    if log_input:
        y = arith.sub(pointwise.exp(x), arith.mul(t, x))
    else:
        y = arith.sub(x, arith.mul(t, pointwise.log(number.add_number(x, eps))))
    if full:
        half = number.mul_number(pointwise.log(number.mul_number(t, 2 * math.pi)), 0.5)
        term = arith.add(arith.sub(arith.mul(t, pointwise.log(t)), t), half)
        y = arith.add(y, choose.masked_fill(term, t.array <= 1, 0.0))
    return reduced(y, reduction)


def gaussian_nll_loss(
    input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean",
) -> Any:
    """(log(var) + (input - target) ** 2 / var) / 2, var no smaller than eps; full: plus log(2 pi) / 2.

    var: a number, or a tensor in the shape of input, or with its last dim missing or 1.   Nix and Weigend 1994
    """
    x, t = tensor(input, "gaussian_nll_loss"), operand(target, "gaussian_nll_loss", "target")
    a = x.array
    v: Any = var
    if isinstance(var, float):
        v = wrap(np.full(a.shape, var, a.dtype if a.dtype.kind in "fcV" else dtypes.get_default_dtype().numpy))
    elif not isinstance(var, TensorBase):
        raise refused("any", (var < 0,), "(Tensor input, *, Tensor out = None)",
                      "(Tensor input, int dim, bool keepdim = False, *, Tensor out = None)")
    else:
        real_only(v, "lt_cpu")
    if np.any(v.array < 0):
        raise ValueError("var has negative entry/entries")
    have = v.array.shape
    if have != a.shape:
        if a.shape[:-1] == have:
            v = shape.unsqueeze(v, -1)
        elif a.ndim != len(have) or sum(k for n, k in zip(a.shape, have) if n != k) != 1:
            raise ValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ValueError(reduction + " is not valid")
    if v.array.dtype.kind == "c":
        raise NotImplementedError(CLAMP)
    v = create.clone(v)
    v.detach().clamp_(min=eps)                          # outside the graph: the gradient passes the bound
    y = arith.mul(arith.add(pointwise.log(v), arith.div(arith.pow(arith.sub(x, t), 2), v)), 0.5)
    if full:
        y = arith.add(y, 0.5 * math.log(2 * math.pi))
    return reduced(y, NUMBERS[reduction])


def above(y: Any) -> Any:
    """max(y, 0)"""
    if y.array.dtype.kind == "c":
        raise NotImplementedError(CLAMP)
    return rounding.ClampMinBackward0(0).run(y)


def F_hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: bool | None = None, reduce: bool | None = None,
    reduction: str = "mean",
) -> Any:
    """input where target is 1, max(0, margin - input) where it is -1; input and target broadcast."""
    return hinge_embedding_loss(input, target, margin, kind_of(reduction, size_average, reduce))


def hinge_embedding_loss(input: Any, target: Any, margin: float = 1.0, reduction: int = 0) -> Any:
    """F.hinge_embedding_loss with reduction 0 (none), 1 (mean) or 2 (sum)."""
    x, t = tensor(input, "hinge_embedding_loss"), tensor(target, "hinge_embedding_loss", "target", 2).array
    promote.check_broadcast(t, x.array)
    zeros = wrap(np.zeros_like(x.array))
    if x.array.dtype.kind == "b":
        raise RuntimeError(
            "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
            "instead.")
    gap = float(margin) if x.array.dtype.kind in "fV" else int(margin)         # written into a tensor of input's dtype
    check_number(gap, x.array.dtype)
    other = choose.where(t != 1, above(arith.sub(gap, x)), zeros)
    y = arith.add(other, choose.where(t != -1, x, zeros))
    if reduction == loss.MEAN and y.array.dtype.kind not in "fV":
        raise RuntimeError(
            "mean(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: "
            + names.SCALAR[y.array.dtype.name])
    return reduced(y, reduction)


def soft_margin_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
) -> Any:
    """log(1 + exp(-target * input)), target 1 or -1; input and target broadcast."""
    kind = kind_of(reduction, size_average, reduce)
    x, t = tensor(input, "soft_margin_loss"), tensor(target, "soft_margin_loss", "target", 2).array
    promote.check_broadcast(x.array, t)
    if x.array.dtype.kind == "b":
        raise RuntimeError("Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, "
                           "use the `~` or `logical_not()` operator instead.")
    check_cast(t.dtype if t.dtype.kind == "c" else promote.default.float_, x.array.dtype)
    whole = np.broadcast_shapes(x.array.shape, t.shape)
    if whole != x.array.shape:
        raise RuntimeError(f"output with shape {list(x.array.shape)} doesn't match the broadcast shape {list(whole)}")
    return loss.SoftMarginLossBackward0(t.astype(x.array.dtype), kind).run(x)
