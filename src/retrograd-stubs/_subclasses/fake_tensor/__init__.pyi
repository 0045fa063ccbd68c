"""Where retrograd._subclasses.fake_tensor is written.

Written by `make generate`.
"""
from retrograd._packages._subclasses.fake_tensor import (
    COUNTED as COUNTED,
    DataDependentOutputException as DataDependentOutputException,
    DynamicOutputShapeException as DynamicOutputShapeException,
    FakeTensor as FakeTensor,
    FakeTensorMode as FakeTensorMode,
    ITEM as ITEM,
    _OfFake as _OfFake,
    is_fake as is_fake,
    kind as kind,
)
