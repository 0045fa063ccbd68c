"""Where retrograd.__future__ is written.

Written by `make generate`.
"""
from retrograd._packages.__future__ import (
    _overwrite_module_params_on_conversion as _overwrite_module_params_on_conversion,
    _swap_module_params_on_conversion as _swap_module_params_on_conversion,
    get_overwrite_module_params_on_conversion as get_overwrite_module_params_on_conversion,
    get_swap_module_params_on_conversion as get_swap_module_params_on_conversion,
    set_overwrite_module_params_on_conversion as set_overwrite_module_params_on_conversion,
    set_swap_module_params_on_conversion as set_swap_module_params_on_conversion,
)
