"""Rprop: resilient backpropagation (Riedmiller and Braun 1993)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import bump, wrap
from .optimizer import CAPTURABLE, Optimizer, check_lr, check_modes, count, descent, scalar, subtract, value, zeros

__all__ = ["Rprop"]


class Rprop(Optimizer):
    """p -= s * sign(grad): the step s of an element grows by etas[1] while its gradient keeps its sign.

    When the sign changes, s shrinks by etas[0] and the element rests for one step.
    s starts at lr and stays within step_sizes (least, largest).
    https://pytorch.org/docs/stable/generated/torch.optim.Rprop.html
    """

    _capturable_foreach = CAPTURABLE
    _later = {"foreach": None, "maximize": False, "differentiable": False, "capturable": False}

    def __init__(
        self, params: Any, lr: Any = 1e-2, etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50), *, capturable: bool = False, foreach: bool | None = None,
        maximize: bool = False, differentiable: bool = False,
    ) -> None:
        check_lr(lr)
        if not 0.0 < etas[0] < 1.0 < etas[1]:
            raise ValueError(f"Invalid eta values: {etas[0]}, {etas[1]}")
        super().__init__(params, {
            "lr": lr, "etas": etas, "step_sizes": step_sizes, "foreach": foreach, "maximize": maximize,
            "differentiable": differentiable, "capturable": capturable})
        check_modes(differentiable)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        (shrink, grow), (least, most) = group["etas"], group["step_sizes"]
        for p in params:
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                state["prev"] = zeros(p)
                state["step_size"] = wrap(np.full_like(p.array, value(group["lr"]), subok=False))
            count(state)
            g = descent(p, group["maximize"], 0)
            before, size = state["prev"], state["step_size"]
            t = np.empty_like(p.array, subok=False)
            np.multiply(g, before.array, out=t)
            turned = np.less(t, 0)
            steps = size.array
            np.multiply(steps, grow, out=steps, where=np.greater(t, 0))
            np.multiply(steps, shrink, out=steps, where=turned)
            np.clip(steps, least, most, out=steps)
            np.copyto(before.array, g)
            np.copyto(before.array, 0, where=turned)
            np.sign(before.array, out=t)
            np.copyto(t, 0, where=np.isnan(t))
            t *= steps
            subtract(p, t, 1)
            bump(before)
            bump(size)
