"""Where retrograd._dynamo.utils is written.

Written by `make generate`.
"""
from retrograd._packages._dynamo.utils import (
    is_compile_supported as is_compile_supported,
)
