"""Adagrad (Duchi et al. 2011)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import bump, wrap
from ._writing import _device_dtype_check_for_fused
from .optimizer import (
    Optimizer,
    check_first_fused,
    check_lr,
    check_modes,
    check_not_negative,
    count,
    descent,
    scalar,
    subtract,
    value,
)

__all__ = ["Adagrad"]


class Adagrad(Optimizer):
    """p -= lr / (1 + (n - 1) * lr_decay) * grad / (sqrt(s) + eps),   s the sum of grad**2 over the steps 1 ... n.

    s starts at initial_accumulator_value; the state exists from the start.
    https://pytorch.org/docs/stable/generated/torch.optim.Adagrad.html
    """

    _later = {"foreach": None, "maximize": False, "differentiable": False, "fused": None}

    def __init__(
        self, params: Any, lr: Any = 1e-2, lr_decay: float = 0, weight_decay: float = 0,
        initial_accumulator_value: float = 0, eps: float = 1e-10, foreach: bool | None = None, *,
        maximize: bool = False, differentiable: bool = False, fused: bool | None = None,
    ) -> None:
        check_lr(lr)
        check_not_negative(
            lr_decay=lr_decay, weight_decay=weight_decay, initial_accumulator_value=initial_accumulator_value,
            epsilon=eps)
        super().__init__(params, {
            "lr": lr, "lr_decay": lr_decay, "eps": eps, "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "fused": fused})
        check_modes(differentiable, fused, foreach)
        for group in self.param_groups:
            for p in group["params"]:
                self._begin(p, group["fused"])

    def _begin(self, p: Any, fused: Any) -> None:
        state = self.state[p]
        state["step"] = scalar(0.0, fused)
        start = self.defaults["initial_accumulator_value"]
        state["sum"] = wrap(np.full_like(p.array, complex(start, start) if p.is_complex() else start, subok=False))

    def share_memory(self) -> None:
        """Does nothing: memory is shared between threads, and not with other processes."""

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _check_complex(self, group: dict[str, Any], params: list[Any]) -> None:
        if group["fused"]:
            check_first_fused(self, params)
            for p in params:
                if not self.state[p]:                   # of a group added later
                    _device_dtype_check_for_fused(p)
            if any(p.is_complex() for p in params):
                raise RuntimeError("`fused` does not support sparse grad or complex param")

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        maximize, decay = group["maximize"], value(group["weight_decay"])
        lr, eps = value(group["lr"]), group["eps"]
        for p in params:
            if not self.state[p]:
                self._begin(p, group["fused"])
            state = self.state[p]
            n = count(state)
            g = descent(p, maximize, decay)
            s = state["sum"]
            t = np.empty_like(p.array, subok=False)
            np.multiply(g, g, out=t)
            s.array += t
            bump(s)
            np.sqrt(s.array, out=t)
            t += eps
            np.divide(g, t, out=t)
            subtract(p, t, lr / (1 + (n - 1) * group["lr_decay"]))
