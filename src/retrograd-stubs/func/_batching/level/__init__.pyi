"""Where retrograd.func._batching.level is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.level import (
    Batched as Batched,
    Escaped as Escaped,
    LOOP as LOOP,
    Level as Level,
    Loop as Loop,
    NO_ROOM as NO_ROOM,
    Rule as Rule,
    _escaped as _escaped,
    _looped as _looped,
    _names as _names,
    _shapes as _shapes,
    _stand_in as _stand_in,
    _without as _without,
    aside as aside,
    inside as inside,
    joined as joined,
    levels as levels,
    looped as looped,
    lowered as lowered,
    name_of as name_of,
    plain as plain,
    raised as raised,
    sample_of as sample_of,
)
