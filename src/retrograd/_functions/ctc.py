"""F.ctc_loss: the probability of a labeling summed over all its alignments.   Graves et al. 2006"""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, wrap
from .._rules import choose
from .._rules import ctc as ops
from .._rules import reduce as sums
from .arguments import long
from .loss import kind_of


def F_ctc_loss(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
               zero_infinity: bool = False) -> Any:
    """-log P(target | input) for each of N sequences.

    log_probs (T, N, C) or (T, C)   targets int (N, S), or all one after the other   input_lengths, target_lengths (N,)
    blank: the class that means no label.
    "mean" divides by the lengths of the targets first.  zero_infinity: 0 where the target is too long for its input.
    """
    return ctc_loss(log_probs, targets, input_lengths, target_lengths, long(blank), kind_of(reduction), zero_infinity)


def lengths(value: Any, name: str) -> Any:
    if isinstance(value, TensorBase):
        if value.array.dtype.kind not in "iu":
            raise RuntimeError(f"{name} must be integral")
        return value.array.reshape(-1).astype(np.int64)
    return np.asarray(value, np.int64).reshape(-1)


def ctc_loss(log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: int = 0,
             zero_infinity: bool = False) -> Any:
    """F.ctc_loss with reduction 0 (none), 1 (mean) or 2 (sum)."""
    x: Any = log_probs
    t: Any = targets
    if x.array.dtype not in (np.dtype(np.float32), np.dtype(np.float64)):
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{x.type()[6:-6]}'")
    single = x.array.ndim != 3
    if single:
        x = x.unsqueeze(1)
    if not x.array.size:
        raise RuntimeError("log_probs tensor must not be empty")
    if x.array.ndim != 3:
        raise RuntimeError(
            f"Expected 3-dimensional tensor, but got {x.array.ndim}-dimensional tensor for argument #1 'log_probs' (while "
            "checking arguments for ctc_loss_allocate_outputs)")
    steps, n, classes = x.array.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    ins, outs = lengths(input_lengths, "input_lengths"), lengths(target_lengths, "target_lengths")
    for name, found in (("input_lengths", ins), ("target_lengths", outs)):
        if len(found) != n:
            raise RuntimeError(f"{name} must be of size batch_size")
    if outs.size and outs.min() < 0:
        raise RuntimeError(f"Expected target_lengths to have value at least 0, but got value {outs[outs < 0][0]} (while checking "
                           "arguments for ctc_loss_allocate_outputs)")
    if t.array.ndim not in (1, 2):
        raise RuntimeError(f"Expected 1 to 2 dimensions, but got {t.array.ndim}-dimensional tensor for argument #2 'targets' "
                           "(while checking arguments for ctc_loss_allocate_outputs)")
    if t.array.ndim == 2 and t.array.shape[0] != n:
        raise RuntimeError(f"Expected tensor to have size {n} at dimension 0, but got size {t.array.shape[0]} for argument #2 "
                           "'targets' (while checking arguments for ctc_loss_allocate_outputs)")
    if single and t.array.ndim == 1 and n == 1:
        t = t.unsqueeze(0)
    if t.array.ndim == 1:
        if t.array.size != outs.sum():
            raise RuntimeError(
                f"Expected tensor to have size {outs.sum()} at dimension 0, but got size {t.array.size} for argument #2 "
                "'targets' (while checking arguments for ctc_loss_allocate_outputs)")
        rows = np.split(t.array, np.cumsum(outs)[:-1]) if n else []
    else:
        if outs.size and t.array.shape[1] < outs.max():
            raise RuntimeError(
                f"Expected tensor to have size at least {outs.max()} at dimension 1, but got size {t.array.shape[1]} for "
                "argument #2 'targets' (while checking arguments for ctc_loss_allocate_outputs)")
        rows = [row[:k] for row, k in zip(t.array, outs)]
    if ins.size and (ins.max() > steps or ins.min() < 0):
        at = int(np.flatnonzero((ins > steps) | (ins < 0))[0])
        if ins[at] < 0:
            raise RuntimeError("Expected input_lengths to have value at least 0, but got value "
                               f"{ins[at]} (while checking arguments for ctc_loss_allocate_outputs)")
        raise RuntimeError(f"Expected input_lengths to have value at most {steps}, but got value {ins[at]} (while checking "
                           "arguments for ctc_loss_allocate_outputs)")
    for row in rows:
        if row.size and not 0 <= row.min() <= row.max() < classes:     # PyTorch reads what lies beside
            raise IndexError(f"Target {int(row.max() if row.min() >= 0 else row.min())} is out of bounds.")
    y: Any = ops.CtcLossBackward0([row.astype(np.int64) for row in rows], ins, blank, bool(zero_infinity)).run(x)
    if zero_infinity:
        y = choose.where(y.array == np.inf, 0.0, y)
    if reduction == 1:
        return (y / wrap(np.maximum(outs, 1).astype(y.array.dtype))).mean()
    if reduction == 2:
        return sums.sum(y)
    return y.squeeze(0) if single else y
