"""Where retrograd._utils is written.

Written by `make generate`.
"""
from retrograd._packages._utils import (
    _element_size as _element_size,
    _flatten_dense_tensors as _flatten_dense_tensors,
    _get_available_device_type as _get_available_device_type,
    _get_device_module as _get_device_module,
    _reorder_tensors_as as _reorder_tensors_as,
    _take_tensors as _take_tensors,
    _unflatten_dense_tensors as _unflatten_dense_tensors,
)
