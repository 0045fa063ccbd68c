"""Where retrograd.fx.immutable_collections is written.

Written by `make generate`.
"""
from retrograd._packages.fx.immutable_collections import (
    HELP as HELP,
    K as K,
    T as T,
    _refuse as _refuse,
    immutable_dict as immutable_dict,
    immutable_list as immutable_list,
)
