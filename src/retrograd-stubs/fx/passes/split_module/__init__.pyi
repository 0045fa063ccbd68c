"""Where retrograd.fx.passes.split_module is written.

Written by `make generate`.
"""
from retrograd._packages.fx.passes.split_module import (
    Partition as Partition,
    _Cut as _Cut,
    split_module as split_module,
)
