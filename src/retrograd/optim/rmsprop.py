"""RMSprop (Hinton 2012, lecture 6), centered: Graves 2013."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import bump
from .._kernels import kernel
from .optimizer import (
    CAPTURABLE,
    Optimizer,
    average,
    average_squares,
    check_lr,
    check_modes,
    check_not_negative,
    count,
    descent,
    scalar,
    subtract,
    subtract_quotient,
    value,
    zeros,
)

__all__ = ["RMSprop"]

quick_step = kernel("rmsprop")


class RMSprop(Optimizer):
    """p -= lr * grad / (sqrt(v) + eps),   v the running mean of grad**2 (weight alpha of the past);
    centered: grad's running variance.

    With momentum the quotient goes through b = momentum * b + quotient.
    https://pytorch.org/docs/stable/generated/torch.optim.RMSprop.html
    """

    _capturable_foreach = CAPTURABLE
    _later = {
        "momentum": 0, "centered": False, "foreach": None, "maximize": False, "differentiable": False,
        "capturable": False}

    def __init__(
        self, params: Any, lr: Any = 1e-2, alpha: float = 0.99, eps: float = 1e-8, weight_decay: float = 0,
        momentum: float = 0, centered: bool = False, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps, momentum=momentum, weight_decay=weight_decay, alpha=alpha)
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "alpha": alpha, "eps": eps, "centered": centered,
            "weight_decay": weight_decay, "capturable": capturable, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable})
        check_modes(differentiable)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        maximize, decay = not not group["maximize"], value(group["weight_decay"])
        lr, alpha, eps = value(group["lr"]), group["alpha"], group["eps"]
        momentum, centered = group["momentum"], group["centered"]
        for p in params:
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                state["square_avg"] = zeros(p)
                if momentum > 0:
                    state["momentum_buffer"] = zeros(p)
                if centered:
                    state["grad_avg"] = zeros(p)
            v = state["square_avg"]
            b = state["momentum_buffer"] if momentum > 0 else None
            if not centered and quick_step(
                p.array, p.grad.array, v.array, None if b is None else b.array, state["step"].array, lr, alpha, eps, decay,
                momentum, maximize,
            ):
                for t in (state["step"], v, p):
                    bump(t)
                if b is not None:
                    bump(b)
                continue
            count(state)
            g = descent(p, maximize, decay)
            t = np.empty_like(p.array, subok=False)
            average_squares(v, g, alpha, t)
            if centered:
                mean = state["grad_avg"]
                average(mean, g, 1 - alpha, t)
                np.multiply(mean.array, mean.array, out=t)
                np.subtract(v.array, t, out=t)
                np.sqrt(t, out=t)
            else:
                np.sqrt(v.array, out=t)
            t += eps
            if b is not None:
                np.divide(g, t, out=t)
                array = b.array
                array *= momentum
                array += t
                bump(b)
                np.copyto(t, array)
                subtract(p, t, lr)
            else:
                subtract_quotient(p, g, t, lr)
