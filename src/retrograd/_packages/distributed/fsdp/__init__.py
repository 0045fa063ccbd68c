"""torch.distributed.fsdp: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullStateDictConfig FullyShardedDataParallel "
    "LocalStateDictConfig MixedPrecision MixedPrecisionPolicy OffloadPolicy OptimStateDictConfig "
    "ShardedStateDictConfig ShardingStrategy StateDictType ",
    " fully_shard register_fsdp_forward_method ")
