"""Where retrograd.fx._patching is written.

Written by `make generate`.
"""
from retrograd._packages.fx._patching import (
    ABSENT as ABSENT,
    Patcher as Patcher,
    _wrapped_fns_to_patch as _wrapped_fns_to_patch,
    _wrapped_methods_to_patch as _wrapped_methods_to_patch,
    find_proxy as find_proxy,
    wrap as wrap,
    wrapper as wrapper,
)
