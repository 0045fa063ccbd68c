"""Where retrograd.export.dynamic_shapes is written.

Written by `make generate`.
"""
from retrograd._packages.export.dynamic_shapes import (
    Dim as Dim,
    Hint as Hint,
    LINEAR as LINEAR,
    ShapesCollection as ShapesCollection,
    ValueRanges as ValueRanges,
    _DerivedDim as _DerivedDim,
    _Infinity as _Infinity,
    collect as collect,
    dims as dims,
    open_dims as open_dims,
    range_of as range_of,
    within as within,
)
