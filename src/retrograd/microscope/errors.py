"""What the microscope raises."""
from __future__ import annotations

OF_OLD = ("the model has FullyShardedDataParallel (FSDP1), whose parameters are views of a memory that it frees and fills again; "
          "use torch.distributed.fsdp.fully_shard (FSDP2), or DistributedDataParallel")


class CaptureError(RuntimeError):
    """A capture cannot answer what was asked: no backward yet, no batch dimension, unknown loss."""


class UncoveredError(CaptureError):
    """A quantity was asked over parameters not all covered: the message names them, with the reasons; coverage() lists all."""


class StoreError(RuntimeError):
    """A factor store that cannot be opened, read or written."""


class ReplayError(RuntimeError):
    """A training that cannot be done again step by step, or a step that no derivative can be taken of."""
