"""Where retrograd.cuda._types is written.

Written by `make generate`.
"""
from retrograd._packages.cuda._types import (
    DTYPE as DTYPE,
    HOME as HOME,
    KINDS as KINDS,
    LATE as LATE,
    OutOfMemoryError as OutOfMemoryError,
    StreamContext as StreamContext,
    device as device,
    device_of as device_of,
    graph as graph,
    kept as kept,
    refusing as refusing,
    stored as stored,
    stream as stream,
    tensortype as tensortype,
    typed as typed,
)
