"""torch.profiler.profiler: names of torch.profiler.

Written by `make generate` from the table in tools/packages.py.
"""
from __future__ import annotations

from retrograd._missing.forwarded import forwarded

forwarded(
    __name__,
    "retrograd.profiler",
    "supported_activities ProfilerAction schedule tensorboard_trace_handler profile ")
