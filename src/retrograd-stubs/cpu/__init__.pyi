"""Where retrograd.cpu is written.

Written by `make generate`.
"""
from retrograd._packages.cpu import (
    Event as Event,
    Stream as Stream,
    StreamContext as StreamContext,
    _current as _current,
    current_device as current_device,
    current_stream as current_stream,
    device_count as device_count,
    get_capabilities as get_capabilities,
    is_available as is_available,
    is_initialized as is_initialized,
    set_device as set_device,
    stream as stream,
    synchronize as synchronize,
)
