"""Adamax: Adam with the infinity norm (Kingma and Ba 2015, section 7.1)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import bump
from .optimizer import (
    Optimizer,
    average,
    check_betas,
    check_lr,
    check_modes,
    check_not_negative,
    count,
    descent,
    number,
    scalar,
    subtract,
    value,
    zeros,
)

__all__ = ["Adamax"]


class Adamax(Optimizer):
    """p -= lr * m / u,   m the corrected running mean of grad, u = max(beta2 * u, |grad| + eps).

    https://pytorch.org/docs/stable/generated/torch.optim.Adamax.html
    """

    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, foreach: bool | None = None, *, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})
        check_modes(differentiable)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        maximize, decay = group["maximize"], value(group["weight_decay"])
        lr, eps, (beta1, beta2) = number(group["lr"]), group["eps"], map(value, group["betas"])
        for p in params:
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                state["exp_avg"] = zeros(p)
                state["exp_inf"] = zeros(p)
            n = count(state)
            g = descent(p, maximize, decay)
            m, u = state["exp_avg"], state["exp_inf"]
            t = np.empty_like(p.array, subok=False)
            average(m, g, 1 - beta1, t)
            np.abs(g, out=t)
            t += eps
            top = u.array
            top *= beta2
            np.maximum(top, t, out=top)
            bump(u)
            np.divide(m.array, top, out=t)
            subtract(p, t, lr / (1 - beta1**n))
