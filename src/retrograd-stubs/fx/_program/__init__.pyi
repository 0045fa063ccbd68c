"""Where retrograd.fx._program is written.

Written by `make generate`.
"""
from retrograd._packages.fx._program import (
    Program as Program,
    _read as _read,
    _written as _written,
    bound as bound,
    leaf_names as leaf_names,
    program_in as program_in,
    recorded as recorded,
    set_tensor as set_tensor,
    tensors_of as tensors_of,
)
