"""Where retrograd._utils is written.

Written by `make generate`.
"""
from retrograd._small_modules._utils import (
    _element_size as _element_size,
    _flatten_dense_tensors as _flatten_dense_tensors,
    _reorder_tensors_as as _reorder_tensors_as,
    _take_tensors as _take_tensors,
    _unflatten_dense_tensors as _unflatten_dense_tensors,
)
