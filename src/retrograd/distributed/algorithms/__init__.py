"""torch.distributed.algorithms: uneven inputs, communication hooks of DistributedDataParallel."""
from __future__ import annotations

from ..._missing import late_names
from .join import Join, Joinable, JoinHook

__all__ = ["Join", "JoinHook", "Joinable"]
late_names(__name__, lazy=("ddp_comm_hooks", "model_averaging"))
