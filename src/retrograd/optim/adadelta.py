"""Adadelta (Zeiler 2012)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .optimizer import (
    CAPTURABLE,
    Optimizer,
    average_squares,
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

__all__ = ["Adadelta"]


class Adadelta(Optimizer):
    """p -= lr * d,   d = sqrt(u + eps) / sqrt(v + eps) * grad,   v and u running means of grad**2 and d**2 (weight rho).

    https://pytorch.org/docs/stable/generated/torch.optim.Adadelta.html
    """

    _capturable = CAPTURABLE.replace(", 'xla'", "")
    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self, params: Any, lr: Any = 1.0, rho: float = 0.9, eps: float = 1e-6, weight_decay: float = 0,
        foreach: bool | None = None, *, capturable: bool = False, maximize: bool = False, differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 <= rho <= 1.0:
            raise ValueError(f"Invalid rho value: {rho}")
        check_not_negative(epsilon=eps, weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "rho": rho, "eps": eps, "weight_decay": weight_decay, "maximize": maximize,
            "capturable": capturable, "foreach": foreach, "differentiable": differentiable})
        check_modes(differentiable)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        maximize, decay = group["maximize"], value(group["weight_decay"])
        lr, rho, eps = value(group["lr"]), group["rho"], group["eps"]
        for p in params:
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                state["square_avg"] = zeros(p)
                state["acc_delta"] = zeros(p)
            count(state)
            g = descent(p, maximize, decay)
            v, u = state["square_avg"], state["acc_delta"]
            t = np.empty_like(p.array, subok=False)
            d = np.empty_like(t)
            average_squares(v, g, rho, t)
            np.add(v.array, eps, out=t)
            np.sqrt(t, out=t)
            np.add(u.array, eps, out=d)
            np.sqrt(d, out=d)
            d /= t
            d *= g
            average_squares(u, d, rho, t)
            subtract(p, d, lr)
