"""torch.nn.parallel: DistributedDataParallel; and DataParallel, which without GPUs just calls its module."""
from __future__ import annotations

from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..._missing import late_names
from ..._tensor.dtypes import check_device
from ..module import Module

if TYPE_CHECKING:
    from .distributed import DistributedDataParallel as DistributedDataParallel
    from .scatter_gather import gather as gather
    from .scatter_gather import scatter as scatter

__all__ = ["DataParallel", "DistributedDataParallel", "data_parallel", "gather", "scatter"]


def _ddp() -> Any:
    from .distributed import DistributedDataParallel

    return DistributedDataParallel


def _of_containers(name: str) -> Any:
    return getattr(import_module("retrograd.nn.parallel.scatter_gather"), name)


late_names(__name__, lazy=("distributed", "scatter_gather"), also={
    "DistributedDataParallel": _ddp, "gather": partial(_of_containers, "gather"), "scatter": partial(_of_containers, "scatter")})


class DataParallel(Module):
    """Calls `module`, whose parameters are named module.weight, ..., as in PyTorch on a machine without a GPU.

    device_ids, output_device and dim (of the batch) are about GPUs, and change nothing.  Calls pass `inputs` on.
    """

    def __init__(self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        self.module = module
        self.device_ids: list[Any] = []

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        return self.module(*inputs, **kwargs)

    def replicate(self, module: Any, device_ids: Any) -> Any:
        """AssertionError: there is no GPU among device_ids to copy a module to."""
        check_device("cuda")

    def scatter(self, inputs: Any, kwargs: Any, device_ids: Any) -> Any:
        """AssertionError: device_ids names no GPUs to divide inputs and kwargs among."""
        check_device("cuda")

    def parallel_apply(self, replicas: Any, inputs: Any, kwargs: Any) -> Any:
        """AssertionError: there are no replicas to call with inputs and kwargs."""
        check_device("cuda")

    def gather(self, outputs: Any, output_device: Any) -> Any:
        """AssertionError: there are no outputs of several GPUs to bring to output_device."""
        check_device("cuda")


def data_parallel(
    module: Any, inputs: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, module_kwargs: Any = None,
) -> Any:
    """RuntimeError: there are no GPUs to divide a batch among.

    module, inputs and module_kwargs: what would be called, and with what; device_ids, output_device: where; dim: of the batch.
    """
    raise RuntimeError("device type could not be determined")
