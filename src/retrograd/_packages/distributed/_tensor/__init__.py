"""torch.distributed._tensor: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared
from retrograd.distributed.device_mesh import DeviceMesh as DeviceMesh
from retrograd.distributed.tensor.placement_types import Partial as Partial
from retrograd.distributed.tensor.placement_types import Placement as Placement
from retrograd.distributed.tensor.placement_types import Replicate as Replicate
from retrograd.distributed.tensor.placement_types import Shard as Shard

unshared(
    __name__,
    "DTensor ",
    " distribute_module distribute_tensor ")
