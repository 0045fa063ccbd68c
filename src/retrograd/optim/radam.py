"""RAdam: Adam with a rectified start (Liu et al. 2020)."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.tensor import bump
from .optimizer import (
    Optimizer,
    average,
    average_squares,
    check_betas,
    check_lr,
    check_modes,
    check_not_negative,
    count,
    descent,
    scalar,
    subtract,
    value,
    zeros,
)

__all__ = ["RAdam"]


class RAdam(Optimizer):
    """Adam that steps by momentum alone until enough gradients have come to estimate v.

    weight_decay as in Adam, decoupled_weight_decay as in AdamW.
    https://pytorch.org/docs/stable/generated/torch.optim.RAdam.html
    """

    _later = {
        "foreach": None, "maximize": False, "differentiable": False, "decoupled_weight_decay": False,
        "capturable": False}

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, decoupled_weight_decay: bool = False, *, foreach: bool | None = None,
        maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "foreach": foreach, "capturable": capturable, "decoupled_weight_decay": decoupled_weight_decay,
            "differentiable": differentiable})
        check_modes(differentiable)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, eps, (beta1, beta2) = value(group["lr"]), group["eps"], map(value, group["betas"])
        decay, decoupled = value(group["weight_decay"]), group["decoupled_weight_decay"]
        rho_end = 2 / (1 - beta2) - 1
        for p in params:
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                state["exp_avg"] = zeros(p)
                state["exp_avg_sq"] = zeros(p)
            n = count(state)
            g = descent(p, group["maximize"], 0 if decoupled else decay)
            if decoupled and decay != 0:
                p.array *= 1 - lr * decay
                bump(p)
            m, v = state["exp_avg"], state["exp_avg_sq"]
            t = np.empty_like(p.array, subok=False)
            average(m, g, 1 - beta1, t)
            average_squares(v, g, beta2, t)
            correction = 1 - beta2**n
            rho = rho_end - 2 * n * beta2**n / correction
            size = lr / (1 - beta1**n)
            if rho > 5.0:
                size *= math.sqrt(
                    correction * (rho - 4) * (rho - 2) * rho_end / ((rho_end - 4) * (rho_end - 2) * rho))
                np.sqrt(v.array, out=t)
                t += eps
                np.divide(m.array, t, out=t)
            else:
                np.copyto(t, m.array)
            subtract(p, t, size)
