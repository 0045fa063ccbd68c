"""torch.nn.parallel.DistributedDataParallel, for programs that ask whether a model is one: none can be made."""
from __future__ import annotations

from typing import Any

from ..module import Module


class DistributedDataParallel(Module):
    """ValueError, as in PyTorch before torch.distributed.init_process_group: a program is one process."""

    def __init__(
        self, module: Any, device_ids: Any = None, output_device: Any = None, dim: int = 0, broadcast_buffers: Any = None,
        init_sync: bool = True, process_group: Any = None, bucket_cap_mb: Any = None, find_unused_parameters: bool = False,
        check_reduction: bool = False, gradient_as_bucket_view: bool = False, static_graph: bool = False,
        delay_all_reduce_named_params: Any = None, param_to_hook_all_reduce: Any = None, mixed_precision: Any = None,
        device_mesh: Any = None, skip_all_reduce_unused_params: bool = False, bucket_cap_mb_list: Any = None,
        batched_grad_copy: bool = False, forward_sync_buffers: Any = None,
    ) -> None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call init_process_group.\nretrograd trains in "
            "one process: torch.distributed.is_available() is False")
