"""Averaged stochastic gradient descent (Polyak and Juditsky 1992)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import bump
from .optimizer import (
    CAPTURABLE,
    Optimizer,
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

__all__ = ["ASGD"]


class ASGD(Optimizer):
    """p = (1 - lambd * eta) * p - eta * grad,   eta = lr / (1 + lambd * lr * n)**alpha.

    state["ax"] is p, and from step t0 on the average of p.

    https://pytorch.org/docs/stable/generated/torch.optim.ASGD.html
    """

    _capturable = CAPTURABLE.replace("params and", "params, mus, etas, and")
    _capturable_foreach = _capturable.replace(", 'xla'", "")

    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self, params: Any, lr: Any = 1e-2, lambd: float = 1e-4, alpha: float = 0.75, t0: float = 1e6,
        weight_decay: float = 0, foreach: bool | None = None, maximize: bool = False, differentiable: bool = False,
        capturable: bool = False,
    ) -> None:
        check_lr(lr)
        check_not_negative(weight_decay=weight_decay)
        super().__init__(params, {
            "lr": lr, "lambd": lambd, "alpha": alpha, "t0": t0, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize, "differentiable": differentiable, "capturable": capturable})
        check_modes(differentiable)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        maximize, decay = group["maximize"], value(group["weight_decay"])
        lr, lambd = number(group["lr"]), group["lambd"]
        for p in params:
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                state["eta"] = scalar(lr)
                state["mu"] = scalar(1.0)
                state["ax"] = zeros(p)
            n = count(state)
            g = descent(p, maximize, decay)
            eta, mu, mean = state["eta"], state["mu"], state["ax"]
            now = float(eta.array)
            p.array *= 1 - lambd * now
            bump(p)
            t = np.empty_like(p.array, subok=False)
            np.copyto(t, g)
            subtract(p, t, now)
            if float(mu.array) != 1:
                np.subtract(p.array, mean.array, out=t)
                t *= float(mu.array)
                mean.array += t
            else:
                np.copyto(mean.array, p.array)
            # PyTorch rounds both to float32, also where a loaded state is float64, but for the rate of a tensor lr
            rate = lr / (1 + lambd * lr * n) ** group["alpha"]
            eta.array[...] = rate if isinstance(rate, np.floating) else scalar(rate).array
            mu.array[...] = scalar(1 / max(1, n - group["t0"])).array
            for changed in (mean, eta, mu):
                bump(changed)
