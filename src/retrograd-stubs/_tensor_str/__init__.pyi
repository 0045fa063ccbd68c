"""Where retrograd._tensor_str is written.

Written by `make generate`.
"""
from retrograd._packages._tensor_str import (
    PRINT_OPTS as PRINT_OPTS,
    _str as _str,
    _str_intern as _str_intern,
    _tensor_str as _tensor_str,
    get_printoptions as get_printoptions,
    printoptions as printoptions,
    set_printoptions as set_printoptions,
)
