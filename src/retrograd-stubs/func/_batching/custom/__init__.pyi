"""Where retrograd.func._batching.custom is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.custom import (
    MORE as MORE,
    RULES as RULES,
    VmapInfo as VmapInfo,
    _told as _told,
    apply as apply,
    gradient as gradient,
    operator as operator,
    samples as samples,
)
