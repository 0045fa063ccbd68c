"""Where retrograd._C._dispatch is written.

Written by `make generate`.
"""
from retrograd._packages._C._dispatch import (
    BACKENDS as BACKENDS,
    DispatchKey as DispatchKey,
    DispatchKeySet as DispatchKeySet,
    KEYS as KEYS,
    _ExcludeDispatchKeyGuard as _ExcludeDispatchKeyGuard,
    make as make,
)
