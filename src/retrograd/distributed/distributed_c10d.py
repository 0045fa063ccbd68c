"""torch.distributed.distributed_c10d: the collectives and groups, as libraries import them."""
from __future__ import annotations

from .._missing import late_names
from .backend import Backend, get_default_backend_for_device
from .collectives import (
    _all_gather_base as _all_gather_base,
)
from .collectives import (
    _reduce_scatter_base as _reduce_scatter_base,
)
from .collectives import (
    all_gather,
    all_gather_coalesced,
    all_gather_into_tensor,
    all_gather_single,
    all_reduce,
    all_reduce_coalesced,
    all_to_all,
    all_to_all_single,
    barrier,
    broadcast,
    gather,
    reduce,
    reduce_scatter,
    reduce_scatter_single,
    reduce_scatter_tensor,
    scatter,
)
from .debug_level import DebugLevel, get_debug_level
from .errors import DistBackendError, DistError, DistNetworkError, DistStoreError, QueueEmptyError
from .groups import (
    _get_default_group as _get_default_group,
)
from .groups import (
    _get_default_store as _get_default_store,
)
from .groups import (
    destroy_process_group,
    get_backend,
    get_backend_config,
    get_global_rank,
    get_group_rank,
    get_node_local_rank,
    get_pg_count,
    get_process_group_ranks,
    get_rank,
    get_world_size,
    init_process_group,
    is_available,
    is_backend_available,
    is_gloo_available,
    is_initialized,
    is_mpi_available,
    is_nccl_available,
    is_torchelastic_launched,
    is_ucc_available,
    is_xccl_available,
    new_group,
    new_subgroups,
    new_subgroups_by_enumeration,
    split_group,
)
from .methods import (
    AllreduceCoalescedOptions,
    AllreduceOptions,
    AllToAllOptions,
    BarrierOptions,
    BroadcastOptions,
    GatherOptions,
    ReduceOptions,
    ReduceScatterOptions,
    ScatterOptions,
)
from .objects import (
    all_gather_object,
    broadcast_object_list,
    gather_object,
    recv_object_list,
    scatter_object_list,
    send_object_list,
)
from .points import P2POp, batch_isend_irecv, irecv, isend, monitored_barrier, recv, send
from .process_group import GroupMember, ProcessGroup, default_pg_timeout, group
from .process_group import outside as _rank_not_in_group
from .reducing import ReduceOp, reduce_op, supports_complex
from .reducing import make_premul_sum as _make_nccl_premul_sum
from .stores import PrefixStore, Store
from .work import Work

for _class in (Backend, GroupMember, P2POp, PrefixStore, ProcessGroup, ReduceOp, Store, Work, group):
    _class.__module__ = __name__                            # as PyTorch's classes say
late_names(__name__)
__all__ = [
    "AllToAllOptions", "AllreduceCoalescedOptions", "AllreduceOptions", "Backend", "BarrierOptions", "BroadcastOptions",
    "DebugLevel", "GatherOptions", "ReduceOptions", "ReduceScatterOptions", "ScatterOptions", "get_debug_level",
    "supports_complex",
    "DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "GroupMember", "P2POp", "PrefixStore", "ProcessGroup",
    "QueueEmptyError", "ReduceOp", "Store", "Work", "all_gather", "all_gather_coalesced", "all_gather_into_tensor",
    "all_gather_object", "all_gather_single", "all_reduce", "all_reduce_coalesced", "all_to_all", "all_to_all_single", "barrier",
    "batch_isend_irecv", "broadcast", "broadcast_object_list", "default_pg_timeout", "destroy_process_group", "gather",
    "gather_object", "get_backend", "get_backend_config", "get_default_backend_for_device",
    "get_global_rank", "get_group_rank", "get_node_local_rank",
    "get_pg_count", "get_process_group_ranks", "get_rank", "get_world_size", "group", "init_process_group", "irecv",
    "is_available", "is_backend_available", "is_gloo_available", "is_initialized", "is_mpi_available", "is_nccl_available",
    "is_torchelastic_launched", "is_ucc_available", "is_xccl_available", "isend", "monitored_barrier", "new_group",
    "new_subgroups", "new_subgroups_by_enumeration", "recv", "recv_object_list", "reduce", "reduce_op", "reduce_scatter",
    "reduce_scatter_single", "reduce_scatter_tensor", "scatter", "scatter_object_list", "send", "send_object_list",
    "split_group", "_make_nccl_premul_sum", "_rank_not_in_group",
]
