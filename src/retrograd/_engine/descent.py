"""Steps of SGD and Adam, for one parameter after the other, by kernels: from params[at] on, until there is one that its kernel
does not take.  -> which one; their number where there is none
"""
from __future__ import annotations

from typing import Any

import numpy as np

from .tensor import TensorBase, bump, read_grad, wrap


def descend(step: Any, params: list[Any], at: int, state: Any, lr: Any, momentum: Any, dampening: Any, decay: Any, nesterov: bool,
            maximize: bool) -> int:
    still = momentum == 0
    while at < len(params):
        p: TensorBase = params[at]
        grad: TensorBase = read_grad(p)
        if still:
            if not step(p.array, grad.array, None, lr, 0.0, 0.0, decay, False, maximize, False):
                break
        else:
            b: Any = state[p].get("momentum_buffer")
            kept: Any = np.empty_like(p.array, subok=False) if b is None else b.array
            if not step(p.array, grad.array, kept, lr, momentum, dampening, decay, nesterov, maximize, b is None):
                break
            if b is None:
                state[p]["momentum_buffer"] = wrap(kept)
            else:
                bump(b)
        bump(p)
        at += 1
    return at


def adapt(step: Any, params: list[Any], at: int, state: Any, lr: Any, beta1: Any, beta2: Any, eps: Any, decay: Any,
          decoupled: bool, maximize: bool, amsgrad: bool, rounded: bool) -> int:
    """rounded: lr is a float32, and the kernel computes with a double.  A parameter without state is not taken."""
    twice: bool = decoupled and bool(decay != 0)
    while at < len(params):
        p: TensorBase = params[at]
        kept: Any = state[p]
        if not kept or (rounded and p.array.dtype.itemsize >= 8):
            break
        grad: TensorBase = read_grad(p)
        m: TensorBase = kept["exp_avg"]
        v: TensorBase = kept["exp_avg_sq"]
        count: TensorBase = kept["step"]
        top: Any = kept["max_exp_avg_sq"] if amsgrad else None
        if not step(p.array, grad.array, m.array, v.array, None if top is None else top.array, count.array, lr, beta1, beta2, eps,
                    decay, decoupled, maximize):
            break
        bump(count)
        bump(m)
        bump(v)
        bump(p)
        if top is not None:
            bump(top)
        if twice:
            bump(p)
        at += 1
    return at
