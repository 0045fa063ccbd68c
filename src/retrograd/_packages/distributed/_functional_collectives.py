"""torch.distributed._functional_collectives: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "AsyncCollectiveTensor ",
    " all_gather_tensor all_reduce all_to_all_single all_to_all_single_autograd broadcast permute_tensor "
    "reduce_scatter_tensor wait_tensor ")
