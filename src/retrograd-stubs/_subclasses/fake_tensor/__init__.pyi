"""Where retrograd._subclasses.fake_tensor is written.

Written by `make generate`.
"""
from retrograd._small_modules._subclasses.fake_tensor import (
    is_fake as is_fake,
)
