"""F.linear_cross_entropy: the cross entropy of a linear layer's outputs."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.warn import warn
from .._rules import linear_loss as ops
from .._tensor.dtypes import int64
from .loss_classes import cross_entropy
from .products import linear

REDUCTIONS = ("mean", "sum", "none")


def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None, reduction: str = "mean",
    ignore_index: Any = None, label_smoothing: float = 0.0, options: Any = None,
) -> Any:
    """cross_entropy(linear(input, linear_weight, linear_bias), target): the last layer of a classifier and its loss.

    input (N, I) or (I,)   linear_weight (C, *K, I)   linear_bias (C, *K)   target: classes (N, *K) or probabilities (N, C, *K)
    options, a LinearCrossEntropyOptions, is for memory in PyTorch; here, too, it rules out second derivatives
    https://pytorch.org/docs/stable/generated/torch.nn.functional.linear_cross_entropy.html
    """
    if input.dim() not in (1, 2):
        raise RuntimeError(f"expected input with dimensionality 1 or 2, got {input.dim()}")
    if linear_weight.dim() < 2:
        raise RuntimeError(f"expected linear_weight with dimensionality at least 2, got {linear_weight.dim()}")
    features, classes, outs = input.shape[-1], linear_weight.shape[0], tuple(linear_weight.shape[1:-1])
    if features != linear_weight.shape[-1]:
        raise RuntimeError(
            "expected equal input and linear_weight last dimensions (in_features), "
            f"got {features} and {linear_weight.shape[-1]}, respectively")
    if linear_bias is not None and tuple(linear_bias.shape) != (classes, *outs):
        raise RuntimeError(f"expected linear_bias shape {(classes, *outs)}, got {tuple(linear_bias.shape)}")
    if outs and input.dim() == 1:
        raise RuntimeError(
            f"K-dimensional loss defined by linear_weight shape {tuple(linear_weight.shape)} requires batched input, "
            f"(N, {features}), got unbatched input with shape {tuple(input.shape)}")
    shape = (*input.shape[:-1], classes, *outs)
    if tuple(target.shape) == shape and ignore_index is not None:
        raise RuntimeError("ignore_index cannot be specified when target contains probabilities")
    if options is not None and (outs or reduction not in REDUCTIONS or label_smoothing != 0.0 or target.dtype != int64):
        warn(
            "linear_cross_entropy: ``options`` ignored; chunked path needs reduction in {'mean','sum','none'}, label_smoothing "
            f"== 0, target.dtype == int64, out_features == (). Got reduction={reduction!r}, label_smoothing={label_smoothing}, "
            f"target.dtype={target.dtype}, out_features={outs}, tracing=False, "
            f"linear_bias.shape={None if linear_bias is None else tuple(linear_bias.shape)}.")
    elif options is not None:
        return chunked(input, linear_weight, target, linear_bias, weight, reduction,
                       -100 if ignore_index is None else ignore_index, options.allow_retain_graph)
    rows = math.prod(outs, start=classes)
    bias = None if linear_bias is None else linear_bias.reshape(rows) if outs else linear_bias
    logits = linear(input, linear_weight.reshape(rows, features) if outs else linear_weight, bias)
    return cross_entropy(
        logits.reshape(shape), target, weight=weight, reduction=reduction,
        ignore_index=-100 if ignore_index is None else ignore_index, label_smoothing=label_smoothing)


def chunked(x: Any, w: Any, target: Any, bias: Any, weight: Any, reduction: str, ignored: int, again: bool) -> Any:
    """The same as one node, whose gradients have no graph."""
    if x.dim() == 1:
        return chunked(x.unsqueeze(0), w, target.unsqueeze(0), bias, weight, reduction, ignored, again).squeeze(0)
    plain = None if bias is None else bias.detach()
    loss = cross_entropy(linear(x.detach(), w.detach(), plain), target, weight=weight, reduction=reduction, ignore_index=ignored)
    left = target.array != ignored
    classes = np.where(left, target.array, 0)
    share = left * (np.float64(1) if weight is None else weight.array.astype(np.float64)[classes])
    if reduction == "none":
        return ops.ChunkedEach(loss.array, classes, share).run([x, w, bias])
    with np.errstate(all="ignore"):
        return ops.Chunked(loss.array, classes, share / share.sum() if reduction == "mean" else share, again).run([x, w, bias])
