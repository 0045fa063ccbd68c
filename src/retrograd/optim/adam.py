"""Adam (Kingma and Ba 2015), with AMSGrad (Reddi et al. 2018)."""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from .._engine.descent import adapt
from .._engine.tensor import TensorBase, bump
from .._kernels import kernel
from .._tensor import Tensor
from .optimizer import (
    Optimizer,
    average,
    average_squares,
    check_betas,
    check_modes,
    count,
    descent,
    number,
    scalar,
    subtract_quotient,
    value,
    zeros,
)

__all__ = ["Adam"]

quick_step = kernel("adam")


class Adam(Optimizer):
    """p -= lr * m / (sqrt(v) + eps),   m and v the bias-corrected running means of grad and grad**2.

    weight_decay adds weight_decay * p to the gradient, or with decoupled_weight_decay shrinks p by lr * weight_decay.
    amsgrad divides by the largest v so far.  https://pytorch.org/docs/stable/generated/torch.optim.Adam.html
    """

    _later = {
        "amsgrad": False, "maximize": False, "foreach": None, "capturable": False, "differentiable": False,
        "decoupled_weight_decay": False, "fused": None}

    def __init__(
        self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, weight_decay: float = 0,
        amsgrad: bool = False, *, foreach: bool | None = None, maximize: bool = False, capturable: bool = False,
        differentiable: bool = False, fused: bool | None = None, decoupled_weight_decay: bool = False,
    ) -> None:
        if isinstance(lr, TensorBase):
            if foreach and not capturable:
                raise ValueError("lr as a Tensor is not supported for capturable=False and foreach=True")
            if lr.array.size != 1:
                raise ValueError("Tensor lr must be 1-element")
        if not 0.0 <= lr:
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 <= eps:
            raise ValueError(f"Invalid epsilon value: {eps}")
        check_betas(betas)
        if not 0.0 <= weight_decay:
            raise ValueError(f"Invalid weight_decay value: {weight_decay}")
        tensors = [isinstance(b, TensorBase) for b in betas[:2]]
        if not (all(tensors) or all(isinstance(b, float) for b in betas[:2])):
            raise ValueError("betas must be either both floats or both Tensors")
        for i in (0, 1):
            if tensors[i]:
                if foreach and not capturable:
                    raise ValueError(f"betas[{i}] as a Tensor is not supported for capturable=False and foreach=True")
                if betas[i].array.size != 1:
                    raise ValueError(f"Tensor betas[{i}] must be 1-element")
        betas = tuple(b.squeeze() if isinstance(b, Tensor) and b.array.ndim else b for b in betas)
        super().__init__(params, {
            "lr": lr, "betas": betas, "eps": eps, "weight_decay": weight_decay, "amsgrad": amsgrad,
            "maximize": maximize, "foreach": foreach, "capturable": capturable, "differentiable": differentiable,
            "fused": fused, "decoupled_weight_decay": decoupled_weight_decay})
        check_modes(differentiable, fused, foreach)

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, decay, eps = group["lr"], value(group["weight_decay"]), group["eps"]
        rounded = False                                 # the kernel computes with a double
        if isinstance(lr, TensorBase):
            if group["foreach"] and not group["capturable"]:
                raise RuntimeError("lr as a Tensor is not supported for capturable=False and foreach=True")
            lr = number(lr)
            rounded = type(lr) is np.float32
        beta1, beta2 = group["betas"]
        if type(beta1) is not float or type(beta2) is not float:
            beta1, beta2 = value(beta1), value(beta2)
        amsgrad, decoupled, maximize = group["amsgrad"], not not group["decoupled_weight_decay"], not not group["maximize"]
        at = -1
        while True:
            at = adapt(quick_step, params, at + 1, self.state, lr, beta1, beta2, eps, decay, decoupled, maximize, not not amsgrad,
                       rounded)
            if at == len(params):
                break
            p = params[at]
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0, group["fused"])
                state["exp_avg"] = zeros(p)
                state["exp_avg_sq"] = zeros(p)
                if amsgrad:
                    state["max_exp_avg_sq"] = zeros(p)
                at -= 1                                 # the kernel may take it now
                continue
            m, v = state["exp_avg"], state["exp_avg_sq"]
            top = state["max_exp_avg_sq"] if amsgrad else None
            n = count(state)
            g = descent(p, maximize, 0 if decoupled else decay)
            if decoupled and decay != 0:
                p.array *= 1 - lr * decay
                bump(p)
            t = np.empty_like(p.array, subok=False)
            average(m, g, 1 - beta1, t)
            average_squares(v, g, beta2, t)
            if top is not None:
                np.maximum(top.array, v.array, out=top.array)
                bump(top)
                v = top
            np.sqrt(v.array, out=t)
            t /= math.sqrt(1 - beta2**n)
            t += eps
            subtract_quotient(p, m.array, t, lr / (1 - beta1**n))
