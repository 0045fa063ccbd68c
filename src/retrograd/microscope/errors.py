"""What the microscope raises."""
from __future__ import annotations

from typing import Any, NoReturn

OF_OLD = ("the model has FullyShardedDataParallel (FSDP1), whose parameters are views of a memory that it frees and fills again; "
          "use torch.distributed.fsdp.fully_shard (FSDP2), or DistributedDataParallel")


def tied(self: Any, protocol: Any) -> NoReturn:
    """__reduce_ex__ of what holds a running model's hooks."""
    raise TypeError(f"{type(self).__name__.lower()}: it belongs to its model and to this process and can be neither copied nor "
                    "pickled; keep what its methods return")


class CaptureError(RuntimeError):
    """A capture cannot answer the question: no backward yet, no batch dimension, unknown loss."""


class UncoveredError(CaptureError):
    """A quantity needs parameters that are not covered: the message names them, with reasons; coverage() lists all."""


class StoreError(RuntimeError):
    """A factor store cannot be opened, read or written."""


class ReplayError(RuntimeError):
    """A training cannot be repeated step by step, or one of its steps has no derivative."""
