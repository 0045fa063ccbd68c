"""Where retrograd._C._autograd is written.

Written by `make generate`.
"""
from retrograd._packages._C._autograd import (
    SavedTensor as SavedTensor,
    _saved_tensors_hooks_is_enabled as _saved_tensors_hooks_is_enabled,
)
