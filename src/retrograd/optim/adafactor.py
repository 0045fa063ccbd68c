"""Adafactor (Shazeer and Stern 2018): squared gradients of matrices are kept as a column and a row."""
from __future__ import annotations

from typing import Any

import numpy as np

from .._engine.tensor import TensorBase, bump, wrap
from .._tensor.dtypes import finfo, of
from .optimizer import Optimizer, check_range, count, descent, lerp, number, scalar, value, wide, zeros

__all__ = ["Adafactor"]


class Adafactor(Optimizer):
    """p -= a * u / max(1, rms(u) / d),   u = grad / sqrt(v),   a = max(eps2, rms(p)) * min(lr, 1 / sqrt(t)).

    v is the running mean of grad**2, with weight t**beta2_decay for the new; for tensors of two dimensions and more the
    product of its means over rows and over columns, over the mean of all.
    eps is (eps1, eps2): sqrt(v) is at least eps1, None: the dtype's machine epsilon.  weight_decay shrinks p by
    lr * weight_decay before the step.
    https://pytorch.org/docs/stable/generated/torch.optim.Adafactor.html
    """

    _later = {"foreach": None}

    def __init__(
        self, params: Any, lr: Any = 1e-2, beta2_decay: float = -0.8, eps: tuple[float | None, float] = (None, 1e-3),
        d: float = 1.0, weight_decay: float = 0.0, *, foreach: bool | None = None, maximize: bool = False,
    ) -> None:
        if isinstance(lr, TensorBase) and lr.array.size != 1:
            raise ValueError("Tensor lr must be 1-element")
        check_range("Learning rate", ">=", 0, lr)
        check_range("beta2_decay", "<=", 0, beta2_decay)
        if eps[0] is not None:
            check_range("epsilon1", ">=", 0, eps[0])
        check_range("epsilon2", ">=", 0, eps[1])
        check_range("Clipping threshold d", ">=", 1, d)
        check_range("weight_decay", ">=", 0, weight_decay)
        super().__init__(params, {
            "lr": lr, "beta2_decay": beta2_decay, "eps": eps, "d": d, "weight_decay": weight_decay, "foreach": foreach,
            "maximize": maximize})

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result."""
        return self._step(closure)

    def _check_complex(self, group: dict[str, Any], params: list[Any]) -> None:
        if any(p.is_complex() for p in params):
            raise RuntimeError("Adafactor does not support complex parameters")

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        lr, (eps1, eps2), d, decay = number(group["lr"]), group["eps"], group["d"], value(group["weight_decay"])
        if eps1 is None:
            eps1 = finfo(of(params[0].array.dtype)).eps
        for p in params:
            g = descent(p, group["maximize"], 0)
            state = self.state[p]
            if not state:
                state["step"] = scalar(0.0)
                if g.ndim > 1:
                    state["row_var"] = wrap(np.zeros((*g.shape[:-1], 1), g.dtype))
                    state["col_var"] = wrap(np.zeros((*g.shape[:-2], 1, g.shape[-1]), g.dtype))
                else:
                    state["variance"] = zeros(p)
            n = count(state)
            weight = n ** group["beta2_decay"]
            alpha = max(eps2, _rms(p.array)) * min(lr, 1 / n**0.5)
            if decay != 0:
                p.array[...] = np.multiply(p.array, 1 - lr * decay, dtype=wide(p.array))
                bump(p)
            if g.ndim > 1:
                row, col = state["row_var"], state["col_var"]
                lerp(row, np.square(_norm(g, -1)) / g.shape[-1], weight)
                lerp(col, np.square(_norm(g, -2)) / g.shape[-2], weight)
                v = row.array * col.array
                mean = np.add.reduce(row.array, -2, wide(v), keepdims=True) / max(1, g.shape[-2])
                v /= np.maximum(mean.astype(v.dtype), eps1)
            else:
                lerp(state["variance"], np.asarray(g * g), weight)
                v = np.array(state["variance"].array)
            u = np.asarray(g / np.sqrt(np.maximum(v, eps1 * eps1)))
            p.array[...] = p.array - np.multiply(u, alpha / max(1.0, _rms(u) / d), dtype=wide(u))
            bump(p)


def _norm(a: Any, axis: int | None) -> Any:
    """The Euclidean norm along an axis, which stays; of a's dtype, but computed in float32 at least."""
    return np.sqrt(np.square(a, dtype=wide(a)).sum(axis, keepdims=axis is not None)).astype(a.dtype)


def _rms(a: Any) -> float:
    """The root of the mean square of all elements."""
    return float(_norm(a, None)) / float(a.size)**0.5 if a.size else 0.0
