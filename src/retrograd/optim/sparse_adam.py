"""SparseAdam: Adam for gradients of which only some rows are stored.  Here all gradients are dense."""
from __future__ import annotations

from typing import Any

from .optimizer import Optimizer, check_betas, check_one

__all__ = ["SparseAdam"]


class SparseAdam(Optimizer):
    """Can be made as in PyTorch. Its step refuses dense gradients as PyTorch's does, and here all gradients are dense.

    Adam moves every row, those without a gradient by their running mean too.
    https://pytorch.org/docs/stable/generated/torch.optim.SparseAdam.html
    """

    def __init__(self, params: Any, lr: Any = 1e-3, betas: Any = (0.9, 0.999), eps: float = 1e-8, maximize: bool = False) -> None:
        check_one(lr)
        for name, x in (("learning rate", lr), ("epsilon value", eps)):
            if not 0.0 < x:
                raise ValueError(f"Invalid {name}: {x}")
        check_betas(betas)
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        odd = [[i, j] for i, group in enumerate(self.param_groups) for j, p in enumerate(group["params"]) if p.is_complex()]
        if odd:
            raise ValueError(f"Complex params at indices {odd}: SparseAdam does not support complex parameters")

    def step(self, closure: Any = None) -> Any:
        """One step; -> the closure's result.  RuntimeError if any parameter has a gradient."""
        return self._step(closure)

    def _update(self, group: dict[str, Any], params: list[Any]) -> None:
        raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
