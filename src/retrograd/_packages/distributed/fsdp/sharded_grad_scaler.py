"""torch.distributed.fsdp.sharded_grad_scaler: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "ShardedGradScaler ",
    " ")
