"""What the microscope raises."""
from __future__ import annotations

OF_OLD = ("the model has FullyShardedDataParallel (FSDP1), whose parameters are views of a memory that it frees and fills again; "
          "use torch.distributed.fsdp.fully_shard (FSDP2), or DistributedDataParallel")


class CaptureError(RuntimeError):
    """A capture cannot answer the question: no backward yet, no batch dimension, unknown loss."""


class UncoveredError(CaptureError):
    """A quantity needs parameters that are not covered: the message names them, with reasons; coverage() lists all."""


class StoreError(RuntimeError):
    """A factor store cannot be opened, read or written."""


class ReplayError(RuntimeError):
    """A training cannot be repeated step by step, or one of its steps has no derivative."""
