"""torch.distributed: processes that mpiexec started exchange tensors, by MPI.

`retrograd launch -n 4 train.py` starts four; mpi4py is imported by init_process_group, and only for more than one process.

Parameters that mean the same in most functions:

tensor           what this rank sends, or what it gets, in place; contiguous, and of the same shape and dtype on every rank
group            the ranks that take part, which all call the function; None: all ranks.  Others are warned, and get None
async_op         True: return a Work at once, to be waited for; False: return None when it is over
op               a ReduceOp: SUM by default, AVG, PRODUCT, MIN, MAX, ...
src, dst         a rank of the world
group_src, group_dst   the same as a rank of the group; ValueError for both
tag              a number that a send and its recv share
input            what this rank sends
output           where it puts what it gets
input_tensor     what this rank sends
output_split_sizes, input_split_sizes   length along dim 0 of each rank's part; None: equal parts
obj, object_list  anything that pickle takes.  Unpickling runs code: receive from ranks that you trust
weights_only, device, use_batch   accepted without effect
timeout          a timedelta; None: that of the default group, which is 30 minutes unless init_process_group says otherwise
backend          "mpi" or "gloo", which both mean MPI; None: that of the default group
pg_options, device_id, device_ids   accepted without effect
group_name, group_desc   what messages call the group
parent_pg        the group to split; None: the default one
world_size       how many processes there are
rank             which of them this one is, from 0
key              a str
value, values    str or bytes
asyncOp          accepted without effect
group_rank       a rank of the group
global_rank      a rank of the world
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

__path__.append(f"{__path__[0].removesuffix('distributed')}_packages/distributed")  # noqa: F405  # names alone

for _class in (FileStore, HashStore, TCPStore):
    _class.__module__ = f"{__name__.partition('.')[0]}._C._distributed_c10d"        # as PyTorch's classes say
_DEFAULT_FIRST_BUCKET_BYTES = 1024 * 1024
late_names(__name__, lazy=("algorithms", "constants", "device_mesh", "nn", "optim", "rpc"), also={
    "GradBucket": lambda: import_module("retrograd.nn.parallel.buckets").GradBucket,
    "DeviceMesh": lambda: import_module("retrograd.distributed.device_mesh").DeviceMesh,
    "init_device_mesh": lambda: import_module("retrograd.distributed.device_mesh").init_device_mesh})
