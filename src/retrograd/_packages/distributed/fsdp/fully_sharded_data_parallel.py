"""torch.distributed.fsdp.fully_sharded_data_parallel: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "BackwardPrefetch CPUOffload FullOptimStateDictConfig FullStateDictConfig FullyShardedDataParallel "
    "MixedPrecision ShardedOptimStateDictConfig ShardedStateDictConfig ShardingStrategy StateDictType ",
    " ")
