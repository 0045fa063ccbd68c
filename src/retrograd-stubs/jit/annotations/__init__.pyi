"""Where retrograd.jit.annotations is written.

Written by `make generate`.
"""
from retrograd._packages.jit.annotations import (
    BroadcastingList1 as BroadcastingList1,
    BroadcastingList2 as BroadcastingList2,
    BroadcastingList3 as BroadcastingList3,
    _BroadcastingList as _BroadcastingList,
)
