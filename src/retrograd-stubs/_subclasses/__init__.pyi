"""Where retrograd._subclasses is written.

Written by `make generate`.
"""
from retrograd._packages._subclasses import (
    FakeTensor as FakeTensor,
    FakeTensorMode as FakeTensorMode,
    fake_tensor as fake_tensor,
)
