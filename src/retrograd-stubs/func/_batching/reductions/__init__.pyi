"""Where retrograd.func._batching.reductions is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.reductions import (
    ALL as ALL,
    LAST as LAST,
    ONE as ONE,
    PAIRS as PAIRS,
    RULES as RULES,
    _NORMALIZE as _NORMALIZE,
    _ONE as _ONE,
    _kept as _kept,
    normalized as normalized,
    reduction as reduction,
    softmax as softmax,
)
