"""torch.cuda.graphs: names of torch.cuda.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.cuda",
    "is_current_stream_capturing graph_pool_handle CUDAGraph graph ")
