"""Where retrograd.export.dynamic_shapes is written.

Written by `make generate`.
"""
from retrograd._small_modules.export.dynamic_shapes import (
    Dim as Dim,
    Hint as Hint,
    LINEAR as LINEAR,
    _DerivedDim as _DerivedDim,
    collect as collect,
    dims as dims,
    open_dims as open_dims,
    within as within,
)
