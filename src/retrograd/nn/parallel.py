"""torch.nn.parallel: DataParallel, which without a GPU calls its module and does nothing else."""
from __future__ import annotations

from typing import Any

from .._missing import module_getattr
from .module import Module

__all__ = ["DataParallel"]
__getattr__ = module_getattr(__name__)


class DataParallel(Module):
    """Calls `module`, whose parameters are named module.weight, ..., as in PyTorch on a machine without a GPU.

    The other arguments are about GPUs, and change nothing.
    """

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)
