"""torch.distributed.rpc: names to import and to ask isinstance of; calls raise.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.unshared import unshared

unshared(
    __name__,
    "BackendType PyRRef RRef RemoteException RpcBackendOptions TensorPipeRpcBackendOptions WorkerInfo ",
    " get_worker_info init_rpc remote rpc_async rpc_sync shutdown ")
