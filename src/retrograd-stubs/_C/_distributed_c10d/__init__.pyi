"""Where retrograd._C._distributed_c10d is written.

Written by `make generate`.
"""
from retrograd._packages._C._distributed_c10d import (
    FileStore as FileStore,
    HashStore as HashStore,
    PrefixStore as PrefixStore,
    ProcessGroup as ProcessGroup,
    ReduceOp as ReduceOp,
    Store as Store,
    TCPStore as TCPStore,
    Work as Work,
)
