"""Where retrograd.func._batching.draws is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.draws import (
    REFUSED as REFUSED,
    RULES as RULES,
    SAME as SAME,
    UNBATCHED as UNBATCHED,
    _allow as _allow,
    _draws as _draws,
    dropout as dropout,
    each as each,
    like as like,
    sized as sized,
)
