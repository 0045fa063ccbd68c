"""Where retrograd._custom_ops is written.

Written by `make generate`.
"""
from retrograd._packages._custom_ops import (
    get_ctx as get_ctx,
    impl_abstract as impl_abstract,
)
