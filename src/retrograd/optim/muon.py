"""Muon (Jordan 2024): the momentum of a matrix is orthogonalized, approximately, before it is applied."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.tensor import bump
from .optimizer import Optimizer, check_one, check_range, descent, lerp, mixed, number, value, wide, zeros

__all__ = ["Muon"]


class Muon(Optimizer):
    """p -= lr * weight_decay * p;   p -= rate * NS(b),   b the running mean of grad, with nesterov a mean of it and grad.

    momentum          weight of the past in b
    eps               the least norm by which NS divides
    params            matrices only; biases and embeddings go to another optimizer
    ns_coefficients   of the Newton-Schulz step x -> a x + (b x xT + c (x xT)**2) x, which is done ns_steps times in bfloat16
    adjust_lr_fn      rate = lr sqrt(max(1, rows / columns)): None, "original"; 0.2 lr sqrt(max(rows, columns)): "match_rms_adamw"
    https://pytorch.org/docs/stable/generated/torch.optim.Muon.html
    """

    def __init__(
        self, params: Any, lr: Any = 1e-3, weight_decay: float = 0.1, momentum: float = 0.95, nesterov: bool = True,
        ns_coefficients: tuple[float, float, float] = (3.4445, -4.7750, 2.0315), eps: float = 1e-7, ns_steps: int = 5,
        adjust_lr_fn: str | None = None,
    ) -> None:
        check_one(lr)
        check_range("Learning rate", ">=", 0, lr)
        check_range("momentum", ">=", 0, momentum)
        check_range("weight decay", ">=", 0, weight_decay)
        if adjust_lr_fn not in (None, "original", "match_rms_adamw"):
            raise ValueError(f"Adjust learning rate function {adjust_lr_fn} is not supported")
        super().__init__(params, {
            "lr": lr, "weight_decay": weight_decay, "momentum": momentum, "nesterov": nesterov,
            "ns_coefficients": ns_coefficients, "eps": eps, "ns_steps": ns_steps, "adjust_lr_fn": adjust_lr_fn})
        for group in self.param_groups:
            for p in group["params"]:
                if p.ndim != 2:
                    raise ValueError(f"Muon only supports 2D parameters whereas we found a parameter with size: {p.size()}")

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _check_complex(self, group: dict[str, Any], params: list[Any]) -> None:
        if any(p.is_complex() for p in params):
            raise RuntimeError("Muon does not support complex parameters")

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, momentum = number(group["lr"]), group["momentum"]
        if group["ns_steps"] >= 100:
            raise ValueError("Number of steps must be less than 100 for computational efficiency")
        if len(group["ns_coefficients"]) != 3:
            raise ValueError("Coefficients must be a tuple of exactly 3 values")
        for p in params:                                # before a parameter without columns ends the step
            if "momentum_buffer" not in self.state[p]:
                self.state[p]["momentum_buffer"] = zeros(p)
        for p in params:
            g = descent(p, False, 0)
            if g.ndim != 2:
                raise ValueError("Param gradient must be a 2D matrix")
            mean = self.state[p]["momentum_buffer"]
            lerp(mean, g, 1 - momentum)
            update = _unit(mixed(g, mean.array, momentum) if group["nesterov"] else mean.array, group["eps"])
            if not group["nesterov"] and mean.array.dtype.name == "bfloat16":
                mean.array[...] = update                    # PyTorch's copy in bfloat16 is then the mean itself
                bump(mean)
            update = _orthogonal(update, group["ns_coefficients"], group["ns_steps"])
            rows, columns = p.array.shape
            rate = lr
            if group["adjust_lr_fn"] in (None, "original"):
                rate = lr * math.sqrt(max(1, rows / columns))
            elif group["adjust_lr_fn"] == "match_rms_adamw":
                rate = lr * 0.2 * math.sqrt(max(rows, columns))
            p.array[...] = np.multiply(p.array, 1 - lr * value(group["weight_decay"]), dtype=wide(p.array))
            p.array[...] = p.array - rate * update.astype(wide(p.array))
            bump(p)
            bump(p)


def _unit(matrix: Any, eps: float) -> Any:
    """matrix by its norm, or eps; float32 with bfloat16's digits."""
    x = _bfloat16(matrix)
    return _bfloat16(x / np.maximum(_bfloat16(np.sqrt(np.square(x).sum())), _bfloat16(np.float32(eps))))


def _orthogonal(x: Any, coefficients: Any, steps: int) -> Any:
    """A matrix with the singular vectors of x, whose norm is 1, and singular values near 1; float32 with bfloat16's digits."""
    a, b, c = coefficients
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    for _ in range(steps):
        gram = _bfloat16(x @ x.T)
        gram = _bfloat16(np.float32(b) * gram + np.float32(c) * (gram @ gram))
        x = _bfloat16(np.float32(a) * x + gram @ x)
    return x.T if tall else x


def _bfloat16(a: Any) -> Any:
    """a as float32, rounded to bfloat16's 8 significant bits, ties to even; needs no package that knows the dtype."""
    bits = np.asarray(a).astype(np.float32).view(np.uint32)
    kept = (bits + np.uint32(0x7FFF) + ((bits >> np.uint32(16)) & np.uint32(1))) & np.uint32(0xFFFF0000)
    return np.where(np.isnan(a), np.float32(np.nan), kept.view(np.float32))
