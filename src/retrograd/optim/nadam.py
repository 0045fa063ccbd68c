"""NAdam: Adam with Nesterov momentum (Dozat 2016)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import bump
from .optimizer import (
    CAPTURABLE,
    Optimizer,
    average,
    average_squares,
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

__all__ = ["NAdam"]


class NAdam(Optimizer):
    """Adam whose step looks one momentum update ahead; momentum_decay warms the momentum up.

    weight_decay as in Adam, decoupled_weight_decay as in AdamW.
    https://pytorch.org/docs/stable/generated/torch.optim.NAdam.html
    """

    _capturable = CAPTURABLE.replace("params and", "params, mu_products and")
    _capturable_foreach = CAPTURABLE.replace("params and", "params, mu_products, and").replace(", 'xla'", "")

    _later = {
        "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
        "decoupled_weight_decay": False}

    def __init__(
        self, params: Any, lr: Any = 2e-3, betas: tuple[float, float] = (0.9, 0.999), eps: float = 1e-8,
        weight_decay: float = 0, momentum_decay: float = 4e-3, decoupled_weight_decay: bool = False, *,
        foreach: bool | None = None, maximize: bool = False, capturable: bool = False, differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(epsilon=eps)
        check_betas(betas)
        check_not_negative(weight_decay=weight_decay, momentum_decay=momentum_decay)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "momentum_decay": momentum_decay,
            "decoupled_weight_decay": decoupled_weight_decay, "maximize": maximize, "foreach": foreach,
            "capturable": capturable, "differentiable": differentiable})
        check_modes(differentiable)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, eps, (beta1, beta2) = number(group["lr"]), group["eps"], map(value, group["betas"])
        decay, decoupled, psi = value(group["weight_decay"]), group["decoupled_weight_decay"], group["momentum_decay"]
        for p in params:
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                state["mu_product"] = scalar(1.0)
                state["exp_avg"] = zeros(p)
                state["exp_avg_sq"] = zeros(p)
            n = count(state)
            g = descent(p, group["maximize"], 0 if decoupled else decay)
            if decoupled and decay != 0:
                p.array *= 1 - lr * decay
                bump(p)
            mu = beta1 * (1.0 - 0.5 * 0.96 ** (n * psi))
            ahead = beta1 * (1.0 - 0.5 * 0.96 ** ((n + 1) * psi))
            product = state["mu_product"]
            product.array *= mu
            bump(product)
            so_far = float(product.array)
            m, v = state["exp_avg"], state["exp_avg_sq"]
            t = np.empty_like(p.array, subok=False)
            average(m, g, 1 - beta1, t)
            average_squares(v, g, beta2, t)
            np.divide(v.array, 1 - beta2**n, out=t)
            np.sqrt(t, out=t)
            t += eps
            part = np.empty_like(t)
            np.divide(g, t, out=part)
            subtract(p, part, lr * (1.0 - mu) / (1.0 - so_far))
            np.divide(m.array, t, out=part)
            subtract(p, part, lr * ahead / (1.0 - so_far * ahead))
