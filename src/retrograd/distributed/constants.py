"""torch.distributed.constants: how long collectives wait."""
from __future__ import annotations

from .._missing import late_names
from .process_group import default_pg_timeout

late_names(__name__)
__all__ = ["default_pg_nccl_timeout", "default_pg_timeout"]
default_pg_nccl_timeout = None          # as without NCCL
