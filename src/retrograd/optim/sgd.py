"""Stochastic gradient descent with momentum (Polyak 1964; Nesterov's form: Sutskever et al. 2013)."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.descent import descend
from .._engine.tensor import TensorBase, bump, wrap
from .._functions.pointwise import not_implemented
from .._kernels import kernel
from .optimizer import Optimizer, check_first_fused, check_modes, descent, subtract, value

__all__ = ["SGD"]

quick_step = kernel("sgd")
NUMBERS = frozenset({int, float})


class SGD(Optimizer):
    """p -= lr * b,   b = momentum * b + (1 - dampening) * (grad + weight_decay * p).

    The first b is the gradient itself, not damped.  nesterov goes down grad + momentum * b; maximize goes up.
    https://pytorch.org/docs/stable/generated/torch.optim.SGD.html
    """

    _later = {"nesterov": False, "maximize": False, "foreach": None, "differentiable": False, "fused": False}

    def __init__(
        self, params: Any, lr: Any = 1e-3, momentum: float = 0, dampening: float = 0, weight_decay: Any = 0,
        nesterov: bool = False, *, maximize: bool = False, foreach: bool | None = None, differentiable: bool = False,
        fused: bool | None = None,
    ) -> None:
        if isinstance(lr, TensorBase) and lr.array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        if lr < 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        if momentum < 0.0:
            raise ValueError(f"Invalid momentum value: {momentum}")
        if weight_decay < 0.0:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        if nesterov and (momentum <= 0 or dampening != 0):
            raise ValueError("Nesterov momentum requires a momentum and zero dampening")
        super().__init__(params, {
            "lr": lr, "momentum": momentum, "dampening": dampening, "weight_decay": weight_decay, "nesterov": nesterov,
            "maximize": maximize, "foreach": foreach, "differentiable": differentiable, "fused": fused})
        check_modes(differentiable, fused, foreach)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _check_complex(self, group: dict[str, Any], params: list[Any]) -> None:
        if group["fused"]:
            check_first_fused(self, params)
            for p in params:
                if p.is_complex():
                    raise not_implemented("fused_sgd_kernel", p.array.dtype)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, decay = group["lr"], group["weight_decay"]
        lr = lr if type(lr) in NUMBERS else value(lr)
        decay = decay if type(decay) in NUMBERS else value(decay)
        momentum, maximize = group["momentum"], not not group["maximize"]
        dampening, nesterov = group["dampening"], not not group["nesterov"]
        at = -1
        while True:
            at = descend(quick_step, params, at + 1, self.state, lr, momentum, dampening, decay, nesterov, maximize)
            if at == len(params):
                break
            p = params[at]
            g = descent(p, maximize, decay)
            t = np.empty_like(p.array, subok=False)
            if momentum == 0:
                np.multiply(g, lr, out=t)
            else:
                state = self.state[p]
                b = state.get("momentum_buffer")
                if b is None:
                    b = state["momentum_buffer"] = wrap(g.copy(order="K"))
                else:
                    array = b.array
                    array *= momentum
                    np.multiply(g, 1 - dampening, out=t)
                    array += t
                    bump(b)
                if nesterov:
                    np.multiply(b.array, momentum, out=t)
                    t += g
                    t *= lr
                else:
                    np.multiply(b.array, lr, out=t)
            subtract(p, t, 1)
