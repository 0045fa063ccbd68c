"""Where retrograd._subclasses.fake_tensor is written.

Written by `make generate`.
"""
from retrograd._small_modules._subclasses.fake_tensor import (
    FakeTensor as FakeTensor,
    FakeTensorMode as FakeTensorMode,
    _OfMeta as _OfMeta,
    is_fake as is_fake,
)
