"""Where retrograd.profiler.itt is written.

Written by `make generate`.
"""
from retrograd._packages.profiler.itt import (
    is_available as is_available,
    mark as mark,
    range as range,
    range_pop as range_pop,
    range_push as range_push,
)
