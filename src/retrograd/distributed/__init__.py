"""torch.distributed: processes that mpiexec started exchange tensors, by MPI.

`retrograd launch -n 4 train.py` starts four; mpi4py is imported by init_process_group, and only for more than one process.
"""
from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from .._missing import late_names
from . import distributed_c10d as distributed_c10d
from .debug_level import set_debug_level as set_debug_level
from .debug_level import set_debug_level_from_env as set_debug_level_from_env
from .distributed_c10d import *  # noqa: F403
from .distributed_c10d import _all_gather_base as _all_gather_base
from .distributed_c10d import _get_default_group as _get_default_group
from .distributed_c10d import _get_default_store as _get_default_store
from .distributed_c10d import _reduce_scatter_base as _reduce_scatter_base
from .rendezvous import register_rendezvous_handler as register_rendezvous_handler
from .rendezvous import rendezvous as rendezvous
from .stores import FileStore as FileStore
from .stores import HashStore as HashStore
from .tcp_store import TCPStore as TCPStore

if TYPE_CHECKING:
    from . import nn as nn
    from . import optim as optim

__path__.append(f"{__path__[0].removesuffix('distributed')}_small_modules/distributed")  # noqa: F405  # names alone

for _class in (FileStore, HashStore, TCPStore):
    _class.__module__ = f"{__name__.partition('.')[0]}._C._distributed_c10d"        # as PyTorch's classes say
_DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024
late_names(__name__, lazy=("algorithms", "constants", "device_mesh", "nn", "optim", "rpc"), also={
    "GradBucket": lambda: import_module("retrograd.nn.parallel.buckets").GradBucket,
    "DeviceMesh": lambda: import_module("retrograd.distributed.device_mesh").DeviceMesh,
    "init_device_mesh": lambda: import_module("retrograd.distributed.device_mesh").init_device_mesh})
