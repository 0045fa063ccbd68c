"""Where retrograd.fx.passes.shape_prop is written.

Written by `make generate`.
"""
from retrograd._packages.fx.passes.shape_prop import (
    ShapeProp as ShapeProp,
    TensorMetadata as TensorMetadata,
    _extract_tensor_metadata as _extract_tensor_metadata,
)
