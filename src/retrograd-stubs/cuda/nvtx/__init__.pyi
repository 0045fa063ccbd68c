"""Where retrograd.cuda.nvtx is written.

Written by `make generate`.
"""
from retrograd._packages.cuda.nvtx import (
    mark as mark,
    range as range,
    range_end as range_end,
    range_pop as range_pop,
    range_push as range_push,
    range_start as range_start,
)
