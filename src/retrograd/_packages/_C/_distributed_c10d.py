"""torch._C._distributed_c10d: where PyTorch's stores, groups and Work come from, as libraries import them."""
from __future__ import annotations

from retrograd._missing import late_names
from retrograd.distributed import FileStore as FileStore
from retrograd.distributed import HashStore as HashStore
from retrograd.distributed import PrefixStore as PrefixStore
from retrograd.distributed import ProcessGroup as ProcessGroup
from retrograd.distributed import ReduceOp as ReduceOp
from retrograd.distributed import Store as Store
from retrograd.distributed import TCPStore as TCPStore
from retrograd.distributed import Work as Work

late_names(__name__)
