"""Where retrograd.func._batching.pointwise is written.

Written by `make generate`.
"""
from retrograd._packages.func._batching.pointwise import (
    IN_PLACE as IN_PLACE,
    LIKE as LIKE,
    POINTWISE as POINTWISE,
    RULES as RULES,
    _common as _common,
    _promoted as _promoted,
    copied as copied,
    like as like,
    lined_up as lined_up,
    new as new,
    pointwise as pointwise,
    ranks as ranks,
    where as where,
    widened as widened,
)
